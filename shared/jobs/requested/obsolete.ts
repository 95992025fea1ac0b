import type { FragmentSqlToken } from 'slonik'
import { prepared, sql, type Transaction } from '../../database/database.ts'
import { type RequestedJobTable, requestedJobTables } from './tables.ts'

/** What open jobs can work on: documents by id, folders and knowledge bases by number. */
type RequestedJobSources = { workspaceId: string } & (
  | { documents: readonly string[] }
  | { folders: readonly number[] }
  | { knowledgeBases: readonly number[] }
)

/**
 * The condition that an open job has the body of a document as its source. The arguments are SQL for the workspace and
 * for the id of the document.
 */
export function isSourceOfOpenJob(workspaceId: FragmentSqlToken, documentId: FragmentSqlToken): FragmentSqlToken {
  const conditions = requestedJobTables.flatMap(({ name, changed }) =>
    changed.map(
      (column) => sql.fragment`EXISTS (
        SELECT FROM ${sql.identifier([name])} j
        WHERE j.workspace_id = ${workspaceId} AND j.${sql.identifier([column])} = ${documentId}
          AND j.finished_at IS NULL)`,
    ),
  )
  return sql.fragment`(${sql.join(conditions, sql.fragment` OR `)})`
}

/**
 * A consequence of body writes: ends the open jobs whose source is the changed document, so that nobody waits for a
 * result that cannot come (api/guide/jobs.md#obsolescence).
 */
export async function endJobsOfChangedBody(
  { tx }: { tx: Transaction },
  write: { document: { workspace_id: string; id: string }; hasOpenJobs: boolean },
): Promise<void> {
  if (!write.hasOpenJobs) return
  const sources = { workspaceId: write.document.workspace_id, documents: [write.document.id] }
  await end(tx, sources, (table) => ({ columns: table.changed, reason: table.reasons.changed }))
}

/** What a deletion takes along; an empty list where nothing of a kind was deleted. */
type Deleted = {
  workspaceId: string
  documents: readonly { id: string }[]
  folders: readonly number[]
  knowledgeBases: readonly number[]
}

/** A consequence of deletions: ends the open jobs whose target or source was deleted. */
export async function endJobsOfDeleted({ tx }: { tx: Transaction }, deleted: Deleted): Promise<void> {
  const { workspaceId, folders, knowledgeBases } = deleted
  const documents = deleted.documents.map(({ id }) => id)
  if (documents.length > 0) await endOfDeleted(tx, { workspaceId, documents })
  if (folders.length > 0) await endOfDeleted(tx, { workspaceId, folders })
  if (knowledgeBases.length > 0) await endOfDeleted(tx, { workspaceId, knowledgeBases })
}

async function endOfDeleted(tx: Transaction, sources: RequestedJobSources): Promise<void> {
  await end(tx, sources, (table) => ({ columns: deletedColumns(table, sources), reason: table.reasons.deleted }))
}

function deletedColumns({ deleted }: RequestedJobTable, sources: RequestedJobSources): readonly string[] {
  if ('documents' in sources) return deleted.documents
  return 'folders' in sources ? deleted.folders : deleted.knowledgeBases
}

async function end(
  tx: Transaction,
  sources: RequestedJobSources,
  matched: (table: RequestedJobTable) => { columns: readonly string[]; reason: string },
): Promise<void> {
  const ids = idsOf(sources)
  const statements = requestedJobTables.flatMap((table) => {
    const { columns, reason } = matched(table)
    if (columns.length === 0) return []
    const conditions = columns.map((column) => sql.fragment`${sql.identifier([column])} = ANY(${ids})`)
    return [
      sql.fragment`UPDATE ${sql.identifier([table.name])}
        SET status = 'obsolete', obsolete_reason = ${reason}, finished_at = clock_timestamp()
        WHERE workspace_id = ${sources.workspaceId} AND finished_at IS NULL
          AND (${sql.join(conditions, sql.fragment` OR `)})`,
    ]
  })
  const [first, ...others] = statements
  if (first === undefined) return
  const named = others.map((statement, index) => sql.fragment`${sql.identifier([`also_${index}`])} AS (${statement})`)
  const also = named.length === 0 ? sql.fragment`` : sql.fragment`WITH ${sql.join(named, sql.fragment`, `)} `
  await tx.query(prepared(sql.unsafe`${also}${first}`))
}

function idsOf(sources: RequestedJobSources) {
  if ('documents' in sources) return sql.array([...sources.documents], 'text')
  return sql.array([...('folders' in sources ? sources.folders : sources.knowledgeBases)], 'int8')
}
