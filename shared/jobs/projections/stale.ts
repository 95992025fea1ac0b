import { prepared, sql, type Transaction } from '../../database/database.ts'
import { type DocumentChange, type DocumentProjection, projections } from '../queues.ts'
import type { Jobs } from '../send.ts'

// The milliseconds without a write after which the next write of a document counts as the first write of a burst.
const quietMs = 500

// While a workspace has at least so many stale documents of a projection, its further jobs let the jobs of other
// workspaces go first.
const crowd = 32

/**
 * Documents of one workspace that a write changed, each with the row number of its event. `quiet` is true for the first
 * write of a burst.
 */
export type ChangedDocuments = {
  workspaceId: string
  documents: readonly { id: string; eventRowNo: number; quiet: boolean }[]
  changes: readonly DocumentChange[]
}

/**
 * Marks every projection that depends on one of the changes as stale and enqueues its jobs, in the transaction of the
 * write. So no write is without its jobs, and no job without its write. A projection with `enrolledIn` is marked only
 * for the documents that this table names. Call `markStale` last in the transaction. Documents are taken in the order
 * of their ids, so that two writers of the same documents cannot deadlock.
 */
export async function markStale(context: { tx: Transaction; jobs: Jobs }, changed: ChangedDocuments): Promise<void> {
  const documents = [...changed.documents].sort((a, b) => (a.id < b.id ? -1 : 1))
  const affected = projections.filter(({ dependsOn }) => dependsOn.some((change) => changed.changes.includes(change)))
  if (affected.length === 0) return
  await markAndEnqueue(context.tx, { workspaceId: changed.workspaceId, projections: affected, documents })
}

/** The document of a body write, before and after the write. */
type WrittenDocument = {
  before: { updated_at: number }
  document: { workspace_id: string; id: string; updated_at: number }
  eventRowNo: number
}

/** A consequence of body writes: marks the projections that depend on the body as stale, and enqueues their jobs. */
export async function staleAfterWrite(context: { tx: Transaction; jobs: Jobs }, write: WrittenDocument): Promise<void> {
  const { before, document, eventRowNo } = write
  await markStale(context, {
    workspaceId: document.workspace_id,
    changes: ['body'],
    documents: [{ id: document.id, eventRowNo, quiet: isQuiet(before, document) }],
  })
}

/** Whether nothing happened to a document for so long that this write counts as the first of a burst. */
export function isQuiet(before: { updated_at: number }, document: { updated_at: number }): boolean {
  return document.updated_at - before.updated_at > quietMs
}

// Marks the documents that take part in each projection and enqueues their jobs, by one statement. A single document is
// given by plain values instead of arrays, which lets PostgreSQL keep the plan of the statement.
async function markAndEnqueue(
  tx: Transaction,
  input: {
    workspaceId: string
    projections: readonly DocumentProjection[]
    documents: ChangedDocuments['documents']
  },
): Promise<void> {
  const { workspaceId, projections, documents } = input
  const [only, ...others] = documents
  if (only === undefined) return
  const alone = others.length === 0
  const ids = documents.map(({ id }) => id)
  const rowNos = documents.map(({ eventRowNo }) => eventRowNo)
  const changed = alone
    ? sql.fragment`(VALUES (${only.id}::text, ${only.eventRowNo}::int8))`
    : sql.fragment`unnest(${sql.array(ids, 'text')}, ${sql.array(rowNos, 'int8')})`
  const affected = projections.map(({ name, queue }) => sql.fragment`(${name}::text, ${queue.name}::text)`)
  const conditions = projections.flatMap((projection) => takesPart(projection, workspaceId))
  await tx.query(
    prepared(sql.unsafe`
    SELECT pgboss.mark_stale(${workspaceId}, array_agg(p.name), array_agg(p.queue), array_agg(d.id),
      array_agg(d.row_no), ${crowd}, ${alone}, ${alone && only.quiet})
    FROM ${changed} AS d (id, row_no)
    CROSS JOIN (VALUES ${sql.join(affected, sql.fragment`, `)}) AS p (name, queue)
    WHERE ${sql.join([sql.fragment`true`, ...conditions], sql.fragment` AND `)}
    HAVING count(*) > 0`),
  )
}

function takesPart({ name, enrolledIn }: DocumentProjection, workspaceId: string) {
  if (enrolledIn === undefined) return []
  return [
    sql.fragment`(p.name <> ${name} OR EXISTS (
      SELECT FROM ${sql.identifier([enrolledIn])} e WHERE e.workspace_id = ${workspaceId} AND e.document_id = d.id))`,
  ]
}
