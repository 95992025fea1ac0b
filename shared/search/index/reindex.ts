import Type, { type Static } from 'typebox'
import { foreignStatements, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { scheduleAgain } from '../../jobs/projections/stale.ts'
import { queues, type ReindexJob } from '../../jobs/queues.ts'
import { waitingJobs } from '../../jobs/reads.ts'
import { groupOf, type Jobs } from '../../jobs/send.ts'
import { tokeniserEpoch } from '../text/tokenise.ts'

// The number of documents of a step. While at least so many jobs wait in the queue of the index, a step enqueues no
// documents.
const stepSize = 500
const pauseSeconds = 1

/** The documents to index again: all documents, or the documents of one knowledge base. */
export type ReindexRequest = Pick<ReindexJob, 'documents' | 'knowledge_base_id'>

/** The first step of a reindex. */
export function firstStep(request: ReindexRequest): ReindexJob {
  return { ...request, after: null, enqueued: 0 }
}

/**
 * The job key of a reindex. A second reindex of the same documents is not started while a job with this key waits or
 * runs.
 */
export function reindexKey({ documents, knowledge_base_id }: ReindexRequest): string {
  return knowledge_base_id === null ? documents : `${documents} ${knowledge_base_id}`
}

/** A step of a reindex: the documents that it enqueues, and the next step; `next` is null after the last document. */
export type ReindexStep = { documents: readonly DocumentKey[]; next: ReindexJob | null }

/**
 * Plans a step: the next documents in the order of their keys. A step is empty while enough jobs wait in the queue, so
 * that the index is never far behind what people write now.
 */
export async function reindexStep(db: Queryable, job: ReindexJob): Promise<ReindexStep> {
  if ((await waitingJobs(db, { queue: queues.searchIndex.name, most: stepSize })) >= stepSize)
    return { documents: [], next: job }
  const documents = await documentsToReindex(db, job)
  const after = documents.at(-1) ?? null
  return { documents, next: after && { ...job, after, enqueued: job.enqueued + documents.length } }
}

/**
 * Enqueues the documents of a step, in the transaction that completes the job of the step. So each step is taken once,
 * and an interrupted reindex goes on after its last step. The jobs of the documents have a lower priority than the jobs
 * of writes.
 */
export async function enqueueStep(
  context: { tx: Transaction; jobs: Jobs },
  { job, step }: { job: ReindexJob; step: ReindexStep },
): Promise<void> {
  const rebuild = job.documents === 'all'
  const again = step.documents.map((key) => ({ ...key, rebuild }))
  const projection = { ...queues.searchIndex.projection, queue: queues.searchIndex }
  await scheduleAgain(context, { projection, jobs: again, priority: -2 })
  if (step.next === null) return
  const options = { singletonKey: reindexKey(job), startAfter: pauseSeconds, group: groupOf(step.next) }
  await context.jobs.boss.send(queues.searchReindex.name, step.next, { db: foreignStatements(context.tx), ...options })
}

/**
 * The number of documents that another version of the tokeniser indexed. These documents count as stale until they are
 * indexed again.
 */
export function outdatedDocuments(db: Queryable): Promise<number> {
  return db.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`
    SELECT count(*) FROM search_documents WHERE epoch < ${tokeniserEpoch} OR epoch > ${tokeniserEpoch}`)
}

const KeyShape = Type.Object({ workspace_id: Type.String(), document_id: Type.String() })
type DocumentKey = Static<typeof KeyShape>

// Documents that a later version of the tokeniser indexed are left to the processes of that version.
function documentsToReindex(db: Queryable, { documents, knowledge_base_id, after }: ReindexJob) {
  return db.any(sql.type(row(KeyShape))`
    SELECT d.workspace_id, d.id AS document_id FROM documents d
    LEFT JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id
    WHERE (d.workspace_id, d.id) > (${after?.workspace_id ?? ''}, ${after?.document_id ?? ''})
      AND (${knowledge_base_id}::bigint IS NULL OR d.knowledge_base_id = ${knowledge_base_id})
      AND (${documents} = 'all' OR s.epoch < ${tokeniserEpoch})
    ORDER BY d.workspace_id, d.id LIMIT ${stepSize}`)
}
