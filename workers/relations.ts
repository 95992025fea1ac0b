import { queues } from '../shared/jobs/queues.ts'
import { type ExtractionSource, loadExtractionSources, writeRelations } from '../shared/relations/extract.ts'
import { type InlineChange, lockExtractions } from '../shared/relations/extraction-queries.ts'
import { linking } from './runtime/computations.ts'
import type { Projection } from './runtime/projection.ts'
import { defineProjection } from './runtime/projection-worker.ts'

/** The inline relations of documents. They depend on the body alone. @internal */
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
