import Type from 'typebox'
import { prepared, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { type DocumentChange, type DocumentProjection, projections } from '../queues.ts'
import { enqueueDocuments, type Jobs } from '../send.ts'

// The milliseconds without a write after which the next write of a document counts as the first write of a burst.
const quietMs = 500

// The number of stale documents of a workspace from which on its further jobs let the jobs of other workspaces go
// first.
const crowd = 32

/** Documents of one workspace that a write changed, with the event it recorded for each. */
export type ChangedDocuments = {
  workspaceId: string
  documents: readonly { id: string; eventRowNo: number; quiet: boolean }[]
  changes: readonly DocumentChange[]
}

/**
 * Marks every projection that depends on one of the changes as stale and enqueues its jobs, in the transaction of the
 * write: no write without its jobs, no job without its write. A projection in which documents enrol is left alone for
 * all other documents. Call it last in the transaction. Documents are taken in the order of their ids, so that two
 * writers of the same documents cannot deadlock.
 */
export async function markStale(context: { tx: Transaction; jobs: Jobs }, changed: ChangedDocuments): Promise<void> {
  const documents = [...changed.documents].sort((a, b) => (a.id < b.id ? -1 : 1))
  const affected = projections.filter(({ dependsOn }) => dependsOn.some((change) => changed.changes.includes(change)))
  if (affected.length === 0) return
  const { workspaceId } = changed
  const { marked, crowded } = await insertMarks(context.tx, { workspaceId, projections: affected, documents })
  for (const { name, queue } of affected) {
    const stale = documents.filter(({ id }) => marked.get(name)?.has(id))
    const jobs = stale.map(({ id, quiet }) => ({ workspace_id: workspaceId, document_id: id, quiet }))
    await enqueueDocuments(context, { queue, jobs, behindOthers: crowded.has(name) })
  }
}

/** The documents of one write, before and after it. */
type WrittenDocument = {
  before: { updated_at: number }
  document: { workspace_id: string; id: string; updated_at: number }
  eventRowNo: number
}

/** A consequence of body writes: `markStale` for a changed body. */
export function staleAfterWrite(context: { tx: Transaction; jobs: Jobs }, write: WrittenDocument): Promise<void> {
  const { before, document, eventRowNo } = write
  return markStale(context, {
    workspaceId: document.workspace_id,
    changes: ['body'],
    documents: [{ id: document.id, eventRowNo, quiet: isQuiet(before, document) }],
  })
}

/** Whether nothing happened to a document for so long that this write counts as the first of a burst. */
export function isQuiet(before: { updated_at: number }, document: { updated_at: number }): boolean {
  return document.updated_at - before.updated_at > quietMs
}

const MarkedRow = row(Type.Object({ projection: Type.String(), document_id: Type.String(), waiting: Type.Number() }))

// Marks the documents that take part in each projection and returns them by projection. Also returns the projections in
// which the workspace has a crowd of stale documents by now; counting stops at a crowd.
async function insertMarks(
  tx: Transaction,
  input: {
    workspaceId: string
    projections: readonly DocumentProjection[]
    documents: readonly { id: string; eventRowNo: number }[]
  },
): Promise<{ marked: Map<string, Set<string>>; crowded: Set<string> }> {
  const ids = input.documents.map(({ id }) => id)
  const rowNos = input.documents.map(({ eventRowNo }) => eventRowNo)
  const names = input.projections.map(({ name }) => name)
  const marked = await tx.any(
    prepared(sql.type(MarkedRow)`
    WITH earlier AS (
      SELECT p.name, (SELECT count(*) FROM (
        SELECT FROM stale_projections s
        WHERE s.workspace_id = ${input.workspaceId} AND s.projection = p.name LIMIT ${crowd}) AS few) AS waiting
      FROM unnest(${sql.array(names, 'text')}) AS p (name)
    ), marked AS (
    INSERT INTO stale_projections (workspace_id, projection, document_id, event_row_no)
    SELECT ${input.workspaceId}, p.name, d.id, d.row_no
    FROM unnest(${sql.array(ids, 'text')}, ${sql.array(rowNos, 'int8')}) AS d (id, row_no),
      unnest(${sql.array(names, 'text')}) AS p (name)
    WHERE ${sql.join([sql.fragment`true`, ...input.projections.flatMap((projection) => takesPart(projection, input.workspaceId))], sql.fragment` AND `)}
    ON CONFLICT (workspace_id, projection, document_id) DO UPDATE SET event_row_no = excluded.event_row_no
    RETURNING projection, document_id)
    SELECT m.projection, m.document_id, e.waiting FROM marked m JOIN earlier e ON e.name = m.projection`),
  )
  const byProjection = Map.groupBy(marked, ({ projection }) => projection)
  const isCrowd = (rows: typeof marked) => rows.length + (rows[0]?.waiting ?? 0) > crowd
  return {
    marked: new Map([...byProjection].map(([name, rows]) => [name, new Set(rows.map((one) => one.document_id))])),
    crowded: new Set([...byProjection].filter(([, rows]) => isCrowd(rows)).map(([name]) => name)),
  }
}

function takesPart({ name, enrolledIn }: DocumentProjection, workspaceId: string) {
  if (enrolledIn === undefined) return []
  return [
    sql.fragment`(p.name <> ${name} OR EXISTS (
      SELECT FROM ${sql.identifier([enrolledIn])} e WHERE e.workspace_id = ${workspaceId} AND e.document_id = d.id))`,
  ]
}
