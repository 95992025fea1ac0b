import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { foreignStatements, prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import {
  type DocumentChange,
  type DocumentJob,
  type DocumentProjection,
  largeOf,
  projections,
  type Queue,
} from '../queues.ts'
import { groupOf, type Jobs } from '../send.ts'
import { isLarge } from './queries.ts'

/** The seconds for which a job waits for further writes of a burst. */
export const burstSeconds = 0.5

// While a workspace has at least so many stale documents of a projection, its further jobs let the jobs of other
// workspaces go first.
const crowd = 32

/** Documents of one workspace that a write changed. `quiet` is true for the first write of a burst. */
type ChangedDocuments = {
  workspaceId: string
  documents: readonly { id: string; eventRowNo: number; quiet: boolean }[]
  changes: readonly DocumentChange[]
}

/**
 * Marks every projection that depends on one of the changes as stale and enqueues its jobs, in the transaction of the
 * write. So no write is without its jobs, and no job without its write. `shared/jobs/README.md` explains why a document
 * that is stale already needs no further job.
 */
export async function markStale(context: { tx: Transaction; jobs: Jobs }, changed: ChangedDocuments): Promise<void> {
  const { workspaceId, documents, changes } = changed
  const affected = projections.filter(({ dependsOn }) => dependsOn.some((change) => changes.includes(change)))
  const [only, ...others] = documents
  if (affected.length === 0 || only === undefined) return
  const unscheduled = await mark(context.tx, { workspaceId, documents, projections: affected })
  const startAfter = others.length > 0 || only.quiet ? 0 : burstSeconds
  for (const { name, queue } of affected) {
    const sent = unscheduled
      .filter(({ projection }) => projection === name)
      .map(({ document_id, ...job }) => ({ ...job, data: { workspace_id: workspaceId, document_id } }))
    await sendProjectionJobs(context, { queue, sent, startAfter })
  }
}

type BodyWrite = {
  before: { updated_at: number }
  document: { workspace_id: string; id: string; updated_at: number }
  eventRowNo: number
}

/** A consequence of body writes: marks the projections that depend on the body as stale, and enqueues their jobs. */
export function staleAfterWrite(context: { tx: Transaction; jobs: Jobs }, write: BodyWrite): Promise<void> {
  const { before, document, eventRowNo } = write
  return markStale(context, {
    workspaceId: document.workspace_id,
    changes: ['body'],
    documents: [{ id: document.id, eventRowNo, quiet: isQuiet(before, document) }],
  })
}

/** Whether nothing happened to a document for so long that this write counts as the first of a burst. */
export function isQuiet(before: { updated_at: number }, document: { updated_at: number }): boolean {
  return document.updated_at - before.updated_at > 1000 * burstSeconds
}

const SentRow = row(Type.Object({ id: Type.String(), large: Type.Boolean() }))

/**
 * Sends further jobs for documents that stay stale, in the transaction that ends their earlier jobs, and names them in
 * the marks. A document without a mark, such as in a reindex, gets its job all the same. `large` sends it to the queue
 * of large documents whatever its body.
 */
export async function scheduleAgain(
  context: { tx: Transaction; jobs: Jobs },
  again: {
    projection: Pick<DocumentProjection, 'name' | 'queue'>
    jobs: readonly DocumentJob[]
    large?: true
    startAfter?: number
    priority?: number
  },
): Promise<void> {
  if (again.jobs.length === 0) return
  const { projection, startAfter = 0, priority = 0 } = again
  const jobs = new Map(again.jobs.map((data): [string, DocumentJob] => [randomUUID(), data]))
  const rows = Array.from(jobs, ([id, { workspace_id, document_id }]) => [id, workspace_id, document_id])
  const sent = await context.tx.any(
    prepared(sql.type(SentRow)`
    WITH sent AS MATERIALIZED (
      SELECT * FROM ${sql.unnest(rows, ['uuid', 'text', 'text'])} AS t (job_id, workspace_id, document_id)
    ), marked AS (
      UPDATE stale_projections s SET job_id = sent.job_id FROM sent
      WHERE s.workspace_id = sent.workspace_id AND s.projection = ${projection.name} AND s.document_id = sent.document_id
    )
    SELECT job_id AS id, ${isLarge} AS large
    FROM sent JOIN documents d ON d.workspace_id = sent.workspace_id AND d.id = sent.document_id`),
  )
  const further = sent.flatMap(({ id, large }) => {
    const data = jobs.get(id)
    return data === undefined ? [] : [{ id, data, large: again.large ?? large, priority }]
  })
  await sendProjectionJobs(context, { queue: projection.queue, sent: further, startAfter })
}

type ProjectionJob = { id: string; data: DocumentJob; large: boolean; priority: number }

async function sendProjectionJobs(
  context: { tx: Transaction; jobs: Jobs },
  { queue, sent, startAfter = 0 }: { queue: Queue<DocumentJob>; sent: readonly ProjectionJob[]; startAfter?: number },
): Promise<void> {
  const db = foreignStatements(context.tx)
  for (const [large, some] of Map.groupBy(sent, ({ large }) => large)) {
    const rows = some.map(({ id, data, priority }) => ({ id, data, priority, startAfter, group: groupOf(data) }))
    await context.jobs.boss.insert(large ? largeOf(queue).name : queue.name, rows, { db })
  }
}

/** Says that no job of a document is on its way any more, so that the next write sends a job. */
export async function unschedule(
  db: Queryable,
  { projection, job }: { projection: string; job: { id: string; data: DocumentJob } },
): Promise<void> {
  await db.query(sql.unsafe`
    UPDATE stale_projections SET job_id = NULL
    WHERE workspace_id = ${job.data.workspace_id} AND projection = ${projection}
      AND document_id = ${job.data.document_id} AND job_id = ${job.id}`)
}

const UnscheduledRow = row(
  Type.Object({
    projection: Type.String(),
    document_id: Type.String(),
    id: Type.String(),
    large: Type.Boolean(),
    priority: Type.Integer(),
  }),
)

// Marks the documents that take part in each projection, and returns the marks that had no job. Marks are made in the
// order of their keys, so that two writers of the same documents cannot deadlock.
function mark(
  tx: Transaction,
  input: { workspaceId: string; projections: readonly DocumentProjection[]; documents: ChangedDocuments['documents'] },
) {
  const { workspaceId, projections, documents } = input
  const changed = documents.map(({ id, eventRowNo }) => [id, eventRowNo])
  const names = projections.map(({ name }) => name)
  const conditions = projections.flatMap((projection) => takesPart(projection, workspaceId))
  return tx.any(
    prepared(sql.type(UnscheduledRow)`
    WITH proposed AS MATERIALIZED (
      SELECT p.name AS projection, d.id AS document_id, c.row_no, gen_random_uuid() AS job_id, ${isLarge} AS large
      FROM ${sql.unnest(changed, ['text', 'int8'])} AS c (id, row_no)
      JOIN documents d ON d.workspace_id = ${workspaceId} AND d.id = c.id
      CROSS JOIN unnest(${sql.array(names, 'text')}) AS p (name)
      WHERE ${sql.join([sql.fragment`true`, ...conditions], sql.fragment` AND `)}
    ), marked AS (
      INSERT INTO stale_projections AS s (workspace_id, projection, document_id, event_row_no, job_id)
      SELECT ${workspaceId}, projection, document_id, row_no, job_id FROM proposed ORDER BY projection, document_id
      ON CONFLICT (workspace_id, projection, document_id)
        DO UPDATE SET event_row_no = excluded.event_row_no, job_id = coalesce(s.job_id, excluded.job_id)
      RETURNING job_id
    ), crowds AS (
      SELECT p.projection, CASE WHEN count(*) + (
        SELECT count(*) FROM (
          SELECT FROM stale_projections s
          WHERE s.workspace_id = ${workspaceId} AND s.projection = p.projection LIMIT ${crowd}) AS few
        ) > ${crowd} THEN -1 ELSE 0 END AS priority
      FROM proposed p GROUP BY p.projection
    )
    SELECT projection, document_id, job_id AS id, large, priority
    FROM proposed JOIN marked USING (job_id) JOIN crowds USING (projection)
    ORDER BY document_id`),
  )
}

function takesPart({ name, enrolledIn }: DocumentProjection, workspaceId: string) {
  if (enrolledIn === undefined) return []
  return [
    sql.fragment`(p.name <> ${name} OR EXISTS (
      SELECT FROM ${sql.identifier([enrolledIn])} e WHERE e.workspace_id = ${workspaceId} AND e.document_id = d.id))`,
  ]
}
