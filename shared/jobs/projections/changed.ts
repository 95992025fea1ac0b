import Type from 'typebox'
import { prepared, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { sourcesChanged } from '../requested/obsolete.ts'
import { enqueueDocuments, type Jobs } from '../send.ts'
import { type DocumentChange, type DocumentProjection, projections } from './projections.ts'

/** Documents of one workspace that a write changed, with the event it recorded for each. */
export type ChangedDocuments = {
  workspaceId: string
  documents: readonly { id: string; eventRowNo: number; quiet: boolean }[]
  changes: readonly DocumentChange[]
}

/**
 * Marks every projection that depends on one of the changes as stale and enqueues its jobs, in the write's own
 * transaction: no write without its jobs, no job without its write. A projection that documents enrol in is left alone
 * for all others. Jobs that somebody asked for and that work on a changed body end as obsolete. Must come last before the
 * commit; documents are taken in the order of their ids, so that two writers of the same documents cannot deadlock.
 */
export async function documentsChanged(
  context: { tx: Transaction; jobs: Jobs },
  changed: ChangedDocuments,
): Promise<void> {
  const documents = [...changed.documents].sort((a, b) => (a.id < b.id ? -1 : 1))
  const affected = projections.filter(({ dependsOn }) => dependsOn.some((change) => changed.changes.includes(change)))
  if (affected.length === 0) return
  const { workspaceId } = changed
  const { marked, crowded } = await markStale(context.tx, { workspaceId, projections: affected, documents })
  if (changed.changes.includes('body')) {
    await sourcesChanged(context.tx, { workspaceId, documents: documents.map(({ id }) => id) })
  }
  for (const { name, queue } of affected) {
    const stale = documents.filter(({ id }) => marked.get(name)?.has(id))
    const jobs = stale.map(({ id, quiet }) => ({ workspace_id: workspaceId, document_id: id, quiet }))
    await enqueueDocuments(context, { queue, jobs, behindOthers: crowded.has(name) })
  }
}

/** How long nothing must have happened to a document for the next write to count as the first of a burst. */
export const quietMs = 500

/** With so many stale documents of a workspace, its further jobs let those of other workspaces go first. */
const crowd = 32

const MarkedRow = row(Type.Object({ projection: Type.String(), document_id: Type.String(), waiting: Type.Number() }))

// Returns which documents were marked, by projection: all that take part in it; and the projections in which the workspace
// has a crowd of stale documents by now, of which no more than a crowd is counted.
async function markStale(
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
