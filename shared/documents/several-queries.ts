import { prepared, sql, type Transaction } from '../database/database.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { DocumentRow, documentColumns } from './queries.ts'

/** Locks visible documents in the order of their ids and returns them. Ignores ids that are not visible. */
export function lockVisibleDocuments(
  tx: Transaction,
  locator: { documentIds: readonly string[]; workspaceIds: readonly string[] },
): Promise<readonly DocumentRow[]> {
  return tx.any(
    prepared(sql.type(DocumentRow)`
    SELECT ${documentColumns}
    FROM document_directory i
    JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
    WHERE i.id = ANY(${sql.array([...locator.documentIds], 'text')})
      AND ${inWorkspaces(sql.fragment`i.workspace_id`, locator.workspaceIds)}
    ORDER BY d.id FOR UPDATE OF d`),
  )
}

/**
 * Locks the rows of locked documents in the manual order, before the documents are moved or deleted together. A
 * placement locks rows in the order of their ids, too, whereas triggers would write the rows in any order.
 */
export async function lockPlaces(
  tx: Transaction,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    SELECT FROM document_order
    WHERE workspace_id = ${input.workspaceId} AND document_id = ANY(${sql.array([...input.documentIds], 'text')})
    ORDER BY document_id FOR UPDATE`),
  )
}

/** Puts locked documents of one workspace at a location and returns them by id. `updated_at` never goes back. */
export function relocateDocuments(
  tx: Transaction,
  input: {
    location: { workspace_id: string; knowledge_base_id: number; folder_id: number | null }
    documentIds: readonly string[]
    updatedBy: string
  },
): Promise<readonly DocumentRow[]> {
  const { location, documentIds, updatedBy } = input
  return tx.any(
    prepared(sql.type(DocumentRow)`
    WITH moved AS (
      UPDATE documents AS d SET knowledge_base_id = ${location.knowledge_base_id}, folder_id = ${location.folder_id},
        updated_by = ${updatedBy}, updated_at = greatest(clock_timestamp(), d.updated_at)
      WHERE d.workspace_id = ${location.workspace_id} AND d.id = ANY(${sql.array([...documentIds], 'text')})
      RETURNING ${documentColumns}
    )
    SELECT ${documentColumns} FROM moved d ORDER BY d.id`),
  )
}
