import { queues } from '../shared/jobs/queues.ts'
import {
  type InlineRelationChange,
  type LinkSource,
  linking,
  loadLinkSources,
  lockExtractions,
  writeRelations,
} from '../shared/relations/extract.ts'
import type { Projection } from './runtime/projection.ts'
import { defineProjection } from './runtime/projection-worker.ts'

/**
 * The projection of inline relations, which are links in bodies. Inline relations depend on the body alone. @internal
 */
export const relationsProjection: Projection<LinkSource, InlineRelationChange> = {
  name: 'relations',
  queue: queues.relationsExtract,
  load: loadLinkSources,
  compute: linking,
  sameSource: (source, current) => source.version === current.version,
  projectedSeqs: lockExtractions,
  write: writeRelations,
}

/** Finds the links between documents in bodies, in the worker type `relations`. */
export const relationExtractor = defineProjection(relationsProjection)
