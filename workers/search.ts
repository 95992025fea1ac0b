import { queues } from '../shared/jobs/queues.ts'
import { announceIndexed } from '../shared/search/announcements.ts'
import {
  type IndexChange,
  type IndexSource,
  indexing,
  loadIndexSources,
  writeIndexes,
} from '../shared/search/index/index-document.ts'
import { defineProjection, type Projection } from './runtime/projection.ts'

/**
 * The projection of the search index. The index of a document depends on body, title, knowledge base and locale.
 * @internal
 */
export const searchProjection: Projection<IndexSource, IndexChange> = {
  name: 'search',
  queue: queues.searchIndex,
  storedIn: { table: 'search_documents' },
  load: loadIndexSources,
  compute: indexing,
  sameSource: (source, current) =>
    source.version === current.version &&
    source.title === current.title &&
    source.knowledge_base_id === current.knowledge_base_id &&
    source.locale === current.locale,
  write: writeIndexes,
  announce: announceIndexed,
}

/** Indexes documents for search, in the worker type `search`. */
export const searchIndexer = defineProjection(searchProjection)
