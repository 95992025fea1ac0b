import Type from 'typebox'
import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Refusal } from '../errors/errors.ts'
import { visibleFolder } from '../knowledge-bases/folders.ts'
import type { Location } from '../knowledge-bases/locations.ts'
import {
  keysFor,
  manualOrderOfDocuments,
  type OrderKey,
  type Position,
  referenceOf,
  type Sibling,
} from '../knowledge-bases/order.ts'
import { lockStructure } from '../knowledge-bases/queries.ts'
import { type NamedId, Nullable } from '../schema/identifiers.ts'
import { lockDocuments } from './queries.ts'
import { requireDocument } from './require.ts'

/** A place in the manual order of the documents of one parent, whose lock the transaction holds. */
export type Placement = {
  parent: Location
  /** Returns the keys to write. Throws the refusal of a reference that is not among the documents of the parent. */
  keys: () => OrderKey[]
}

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
 * Finds the keys that put a document at a position of a parent. Until the transaction ends, nobody else changes the
 * order of the parent. The documents that get a key are locked in the order of their ids, with those that the call
 * names. `moved` is the id of the document that is placed. Call the function before any document is locked.
 */
export async function lockPlacement(
  tx: Transaction,
  { parent, moved, position }: { parent: Location; moved: string; position: Position },
): Promise<Placement> {
  const workspaceId = parent.workspace_id
  lockStructure(tx, { workspaceId, knowledgeBaseIds: [parent.knowledge_base_id], mode: 'rearrange' })
  const siblings = await documentsInOrder(tx, parent)
  let keys: OrderKey[]
  try {
    keys = keysFor({ siblings, moved, position })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return {
      parent,
      keys: () => {
        throw error
      },
    }
  }
  const named = [moved, referenceOf(position)?.id ?? moved]
  await lockDocuments(tx, { workspaceId, documentIds: [...keys.map(({ id }) => id), ...named] })
  return { parent, keys: () => keys }
}

/** Sets keys of locked documents. A document that has meanwhile left the parent keeps its key. */
export async function writeDocumentOrder(
  tx: Transaction,
  { parent, keys }: { parent: Location; keys: readonly OrderKey[] },
): Promise<void> {
  if (keys.length === 0) return
  const ids = sql.array(
    keys.map(({ id }) => id),
    'text',
  )
  const values = sql.array(
    keys.map(({ key }) => key),
    'text',
  )
  await tx.query(sql.unsafe`
    UPDATE documents AS d SET order_key = k.key FROM unnest(${ids}, ${values}) AS k (id, key)
    WHERE ${isIn(parent)} AND d.id = k.id`)
}

const SiblingRow = row(Type.Object({ id: Type.String(), order_key: Nullable(Type.String()) }))

function documentsInOrder(tx: Transaction, parent: Location): Promise<readonly Sibling[]> {
  return tx.any(sql.type(SiblingRow)`
    SELECT d.id, d.order_key FROM documents d WHERE ${isIn(parent)} ORDER BY ${manualOrderOfDocuments}`)
}

function isIn({ workspace_id, knowledge_base_id, folder_id }: Location) {
  const parent = folder_id === null ? sql.fragment`d.folder_id IS NULL` : sql.fragment`d.folder_id = ${folder_id}`
  return sql.fragment`d.workspace_id = ${workspace_id} AND d.knowledge_base_id = ${knowledge_base_id} AND ${parent}`
}
