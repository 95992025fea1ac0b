import Type from 'typebox'
import { sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { Location } from './locations.ts'
import { manualOrderOfFolders, type OrderKey, type Sibling } from './order.ts'

const SiblingRow = row(Type.Object({ id: Type.String(), order_key: Nullable(Type.String()) }))

/** Returns the folders directly below a location in their manual order. */
export function foldersInOrder(tx: Transaction, parent: Location): Promise<readonly Sibling[]> {
  return tx.any(sql.type(SiblingRow)`
    SELECT f.id::text AS id, f.order_key FROM folders f WHERE ${isIn(parent)} ORDER BY ${manualOrderOfFolders}`)
}

/** Sets keys of folders directly below a location. The caller has locked the structure of the knowledge base. */
export async function writeFolderOrder(
  tx: Transaction,
  { parent, keys }: { parent: Location; keys: readonly OrderKey[] },
): Promise<void> {
  const ids = keys.map(({ id }) => Number(id))
  await tx.query(sql.unsafe`
    UPDATE folders AS f SET order_key = k.key
    FROM unnest(${sql.array(ids, 'int8')}, ${sql.array(
      keys.map(({ key }) => key),
      'text',
    )}) AS k (id, key)
    WHERE ${isIn(parent)} AND f.id = k.id`)
}

function isIn({ workspace_id, knowledge_base_id, folder_id }: Location) {
  const parent = folder_id === null ? sql.fragment`f.parent_id IS NULL` : sql.fragment`f.parent_id = ${folder_id}`
  return sql.fragment`f.workspace_id = ${workspace_id} AND f.knowledge_base_id = ${knowledge_base_id} AND ${parent}`
}
