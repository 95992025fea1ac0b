import Type from 'typebox'
import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Refusal } from '../errors/errors.ts'
import { visibleFolder } from '../knowledge-bases/folders.ts'
import { type Position, referenceOf } from '../knowledge-bases/order.ts'
import { place } from '../knowledge-bases/placement.ts'
import type { NamedId } from '../schema/identifiers.ts'
import type { DocumentRow } from './queries.ts'
import { requireDocument } from './require.ts'

/**
 * Refuses with 404 `document_not_found` or `folder_not_found` a position that refers to something that the caller
 * cannot see. `details.field` names the member of the position.
 */
export async function requireReference(db: Queryable, input: { caller: Caller; position: Position }): Promise<void> {
  const { caller } = input
  const reference = referenceOf(input.position)
  if (reference === null) return
  const { id, field } = reference
  if (!/^[1-9][0-9]{0,15}$/.test(id)) {
    await requireDocument(db, { caller, documentId: id, field })
    return
  }
  const named: NamedId = Number.isSafeInteger(Number(id)) ? Number(id) : id
  if ((await visibleFolder(db, { id: named, workspaceIds: visibleWorkspaces(caller) })) === null) {
    throw new Refusal('folder_not_found', { details: { id: named, field } })
  }
}

/**
 * Puts a new duplicate after its original, which the transaction has locked with the structure of its knowledge base.
 * If nobody has placed the original, and the title of the duplicate comes after it anyway, neither gets a key. So a
 * list that nobody has ordered stays a list in the order of titles.
 */
export async function placeDuplicate(
  tx: Transaction,
  { original, duplicate }: { original: DocumentRow; duplicate: DocumentRow },
): Promise<void> {
  if (await followsByTitle(tx, { original, duplicate })) return
  await place(tx, { kind: 'documents', parent: original, moved: duplicate.id, position: { after: original.id } })
}

const FollowsRow = row(Type.Object({ follows: Type.Boolean() }))

// Whether two unplaced documents of one parent follow one another. Other documents with the title of the second may
// stand between them.
function followsByTitle(
  tx: Transaction,
  { original, duplicate }: { original: DocumentRow; duplicate: DocumentRow },
): Promise<boolean> {
  const { workspace_id, knowledge_base_id, folder_id } = original
  const parent =
    folder_id === null
      ? sql.fragment`o.knowledge_base_id = ${knowledge_base_id} AND o.folder_id IS NULL`
      : sql.fragment`o.folder_id = ${folder_id}`
  const isAfterOriginal = sql.fragment`
    (o.title COLLATE "C", o.document_id) > (${original.title} COLLATE "C", ${original.id})`
  return tx.oneFirst(sql.type(FollowsRow)`
    SELECT
      EXISTS (
        SELECT FROM document_order o
        WHERE o.workspace_id = ${workspace_id} AND o.document_id = ${duplicate.id} AND ${isAfterOriginal}
      ) AND EXISTS (
        SELECT FROM document_order o
        WHERE o.workspace_id = ${workspace_id} AND o.document_id = ${original.id} AND o.order_key IS NULL
      ) AND NOT EXISTS (
        SELECT FROM document_order o
        WHERE o.workspace_id = ${workspace_id} AND ${parent} AND o.order_key IS NULL AND ${isAfterOriginal}
          AND o.title COLLATE "C" < ${duplicate.title} COLLATE "C"
      ) AS follows`)
}
