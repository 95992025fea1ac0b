import type { ArraySqlToken, FragmentSqlToken } from 'slonik'
import { prepared, sql, type Transaction } from '../../database/database.ts'
import { type RequestedJobTable, requestedJobTables } from './tables.ts'

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
  const { workspace_id, id } = write.document
  await end(tx, workspace_id, ({ changed, reasons }) => [reasons.changed, named(changed, sql.array([id], 'text'))])
}

/** A consequence of deletions: ends the open jobs whose target or source was deleted. */
export async function endJobsOfDeleted(
  { tx }: { tx: Transaction },
  deleted: {
    workspaceId: string
    documents: readonly { id: string }[]
    folders: readonly number[]
    knowledgeBases: readonly number[]
  },
): Promise<void> {
  const ids = deleted.documents.map(({ id }) => id)
  await end(tx, deleted.workspaceId, ({ deleted: { documents, folders, knowledgeBases }, reasons }) => [
    reasons.deleted,
    [
      ...named(documents, sql.array(ids, 'text')),
      ...named(folders, sql.array([...deleted.folders], 'int8')),
      ...named(knowledgeBases, sql.array([...deleted.knowledgeBases], 'int8')),
    ],
  ])
}

// The conditions that one of the columns names one of the ids.
function named(columns: readonly string[], ids: ArraySqlToken): FragmentSqlToken[] {
  return columns.map((column) => sql.fragment`${sql.identifier([column])} = ANY(${ids})`)
}

// Ends the open jobs of each table that meet one of its conditions, for its reason, by one statement.
async function end(
  tx: Transaction,
  workspaceId: string,
  matched: (table: RequestedJobTable) => [reason: string, conditions: FragmentSqlToken[]],
): Promise<void> {
  const statements = requestedJobTables.map((table) => {
    const [reason, conditions] = matched(table)
    return sql.fragment`${sql.identifier([`${table.name}_ended`])} AS (
      UPDATE ${sql.identifier([table.name])}
      SET status = 'obsolete', obsolete_reason = ${reason}, finished_at = clock_timestamp()
      WHERE workspace_id = ${workspaceId} AND finished_at IS NULL
        AND (${sql.join(conditions, sql.fragment` OR `)}))`
  })
  await tx.query(prepared(sql.unsafe`WITH ${sql.join(statements, sql.fragment`, `)} SELECT`))
}
