import { queues } from '../shared/jobs/queues.ts'
import { type LinkSource, loadLinkSources, writeRelations } from '../shared/relations/extract.ts'
import { type InlineRelationChange, lockExtractions } from '../shared/relations/extraction-queries.ts'
import { linking } from './runtime/computations.ts'
import { defineProjection } from './runtime/define-projection.ts'
import type { Projection } from './runtime/projection.ts'

/** The inline relations of documents; they depend on the body alone (decisions B). */
export const relationsProjection: Projection<LinkSource, InlineRelationChange> = {
  name: 'relations',
  queue: queues.relationsExtract,
  load: loadLinkSources,
  compute: linking,
  sameSource: (source, current) => source.version === current.version,
  projectedSeqs: lockExtractions,
  write: writeRelations,
}

/** The worker type `relations`. */
export const relationExtractor = defineProjection(relationsProjection)
