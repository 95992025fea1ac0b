import { type DocumentJob, type Queue, queues } from '../queues.ts'

/** A part of a document that a write can change. */
export type DocumentChange = 'body' | 'title' | 'location' | 'locale'

/** A projection of documents, as far as the core has to know it. */
export type DocumentProjection = {
  /** Its name in `stale_projections` and in the metrics of lag. */
  name: string
  /** The queue of the jobs that derive it. */
  queue: Queue<DocumentJob>
  /** The changes that make the projection of a document stale. */
  dependsOn: readonly DocumentChange[]
  /** A table whose `workspace_id` and `document_id` name the documents that take part; without it all documents do. */
  enrolledIn?: string
}

/**
 * Everything that derives from documents, what makes it stale and which queue catches up. The core writes through this
 * table and imports no derived noun. `api/guide/jobs.md#obsolescence` says the same to callers.
 */
export const projections: readonly DocumentProjection[] = [
  { name: 'search', queue: queues.searchIndex, dependsOn: ['body', 'title', 'location', 'locale'] },
  { name: 'changes', queue: queues.changesDiff, dependsOn: ['body'] },
  { name: 'relations', queue: queues.relationsExtract, dependsOn: ['body'] },
  {
    name: 'candidates',
    queue: queues.candidatesRefresh,
    dependsOn: ['body', 'title'],
    enrolledIn: 'concept_extractions',
  },
  { name: 'summaries', queue: queues.summariesRefresh, dependsOn: ['body', 'title'], enrolledIn: 'summaries' },
]
