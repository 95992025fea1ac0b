import { queues } from '../shared/jobs/queues.ts'
import {
  type InlineRelationChange,
  type LinkSource,
  linking,
  loadLinkSources,
  writeRelations,
} from '../shared/relations/extract.ts'
import { defineProjection, type Projection } from './runtime/projection.ts'

/**
 * The projection of inline relations, which are links in bodies. Inline relations depend on the body alone. @internal
 */
export const relationsProjection: Projection<LinkSource, InlineRelationChange> = {
  name: 'relations',
  queue: queues.relationsExtract,
  storedIn: { table: 'relation_extractions' },
  load: loadLinkSources,
  compute: linking,
  sameSource: (source, current) => source.version === current.version,
  write: writeRelations,
}

/** Finds the links between documents in bodies, in the worker type `relations`. */
export const relationExtractor = defineProjection(relationsProjection)
