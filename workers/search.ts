import { queues } from '../shared/jobs/queues.ts'
import {
  type IndexChange,
  type IndexSource,
  indexing,
  loadIndexSources,
  writeIndexes,
} from '../shared/search/index/index-document.ts'
import { defineProjection } from './runtime/projection.ts'
import type { Projection } from './runtime/round.ts'

/**
 * The projection of the search index. The index of a document depends on body, title, knowledge base and locale.
 * @internal
 */
export const searchProjection: Projection<IndexSource, IndexChange> = {
  name: 'search',
  queue: queues.searchIndex,
  storedIn: { table: 'search_documents' },
  isAnnounced: true,
  load: loadIndexSources,
  compute: indexing,
  sameSource: (source, current) =>
    source.version === current.version &&
    source.title === current.title &&
    source.knowledge_base_id === current.knowledge_base_id &&
    source.locale === current.locale,
  write: writeIndexes,
}

/** Indexes documents for search, in the worker type `search`. */
export const searchIndexer = defineProjection(searchProjection)
