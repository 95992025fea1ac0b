import { queues } from '../shared/queues.ts'
import { type ExtractionSource, loadExtractionSources, writeRelations } from '../shared/relations/extract.ts'
import { type InlineChange, lockExtractions } from '../shared/relations/extraction-queries.ts'
import { linking } from './computations.ts'
import { defineProjection } from './define-projection.ts'
import type { Projection } from './projection.ts'

/** The inline relations of documents; they depend on the body alone (decisions B). */
export const relationsProjection: Projection<ExtractionSource, InlineChange> = {
  name: 'relations',
  queue: queues.relationsExtract,
  load: loadExtractionSources,
  compute: linking,
  sameSource: (source, current) => source.version === current.version,
  projectedSeqs: lockExtractions,
  write: writeRelations,
}

/** The worker type `relations`. */
export const relationExtractor = defineProjection(relationsProjection)
