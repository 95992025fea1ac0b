import Type, { type Static } from 'typebox'
import { foreignStatements, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { type Jobs, queues, type ReindexJob } from '../../jobs/queues.ts'
import { tokeniserEpoch } from '../text/tokenise.ts'

/** What to index again; all documents, or those of one knowledge base. */
export type ReindexRequest = Pick<ReindexJob, 'documents' | 'knowledge_base_id'>

/** The first step of a reindex. */
export function firstStep(request: ReindexRequest): ReindexJob {
  return { ...request, after: null, enqueued: 0 }
}

/** A reindex of the same documents that waits or runs already is not started a second time: its job has this key. */
export function reindexKey({ documents, knowledge_base_id }: ReindexRequest): string {
  return knowledge_base_id === null ? documents : `${documents} ${knowledge_base_id}`
}

/** The next step, and the documents that this one enqueues; `next` is null when there are no more. */
export type ReindexStep = { documents: readonly DocumentKey[]; next: ReindexJob | null }

/**
 * Works out a step: the next documents in the order of their keys, or none while enough jobs wait in the queue, so that
 * the index of what people write now is never far behind it.
 */
export async function reindexStep(db: Queryable, job: ReindexJob): Promise<ReindexStep> {
  if ((await waitingIndexJobs(db)) >= stepSize) return { documents: [], next: job }
  const documents = await documentsToReindex(db, job)
  const after = documents.at(-1) ?? null
  return { documents, next: after && { ...job, after, enqueued: job.enqueued + documents.length } }
}

/**
 * Enqueues what a step worked out, in the transaction that completes its job: a step is taken once, and a reindex that
 * is cut off goes on from its last one. Jobs have keys of their own and yield to those of writes.
 */
export async function enqueueStep(
  context: { tx: Transaction; jobs: Jobs },
  { job, step }: { job: ReindexJob; step: ReindexStep },
): Promise<void> {
  const { boss } = context.jobs
  const db = foreignStatements(context.tx)
  const rebuild = job.documents === 'all'
  const requests = step.documents.map((document) => ({
    data: { ...document, rebuild },
    singletonKey: `reindex ${document.document_id}`,
    priority: -2,
  }))
  if (requests.length > 0) await boss.insert(queues.searchIndex.name, requests, { db })
  if (step.next === null) return
  await boss.send(queues.searchReindex.name, step.next, { db, singletonKey: reindexKey(job), startAfter: pauseSeconds })
}

/** How many documents another tokeniser indexed; they count as stale until they are indexed again. */
export function outdatedDocuments(db: Queryable): Promise<number> {
  return db.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`
    SELECT count(*) FROM search_documents WHERE epoch < ${tokeniserEpoch} OR epoch > ${tokeniserEpoch}`)
}

const stepSize = 500
const pauseSeconds = 1

const KeyShape = Type.Object({ workspace_id: Type.String(), document_id: Type.String() })
type DocumentKey = Static<typeof KeyShape>

// An index of a later tokeniser is left to the processes that have it.
function documentsToReindex(db: Queryable, { documents, knowledge_base_id, after }: ReindexJob) {
  return db.any(sql.type(row(KeyShape))`
    SELECT d.workspace_id, d.id AS document_id
    FROM documents d
    LEFT JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id
    WHERE (d.workspace_id, d.id) > (${after?.workspace_id ?? ''}, ${after?.document_id ?? ''})
      AND (${knowledge_base_id}::bigint IS NULL OR d.knowledge_base_id = ${knowledge_base_id})
      AND (${documents} = 'all' OR s.epoch < ${tokeniserEpoch})
    ORDER BY d.workspace_id, d.id LIMIT ${stepSize}`)
}

function waitingIndexJobs(db: Queryable): Promise<number> {
  return db.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`
    SELECT count(*) FROM (
      SELECT FROM pgboss.job WHERE name = ${queues.searchIndex.name} AND state < 'active' AND NOT blocked
      LIMIT ${stepSize}) AS waiting`)
}
