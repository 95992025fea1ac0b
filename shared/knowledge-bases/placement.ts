import Type from 'typebox'
import { sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { Location } from './locations.ts'
import { keysAround, keysFor, notBeside, type OrderKey, type Position, referenceOf, type Sibling } from './order.ts'

/** A folder or document that goes to a position among the children of `parent` that are of its kind. */
export type Placement = { kind: keyof typeof tables; parent: Location; moved: string; position: Position }

/** The tables that keep the manual order, with the names of their columns. */
const tables = {
  folders: { name: 'folders', id: 'id', idType: 'int8', label: 'name', parent: 'parent_id' },
  documents: { name: 'document_order', id: 'document_id', idType: 'text', label: 'title', parent: 'folder_id' },
} as const

/**
 * Puts a folder or document at a position of its parent, in which it is already. The transaction holds the lock
 * `rearrange` of the knowledge base. Only the siblings around the position are read, and the siblings before it that
 * were never placed. Refuses with 422 `invalid_position` a reference that is not among the siblings.
 */
export async function place(tx: Transaction, placement: Placement): Promise<void> {
  await takePlace(tx, placement, await makePlace(tx, placement))
}

/**
 * Writes the keys of siblings that a placement changes, and returns the key for what is placed. The key is null when
 * nothing has to be placed. `moved` need not be in `parent` yet. Call this function before the transaction writes the
 * row of `moved`, and `takePlace` after that. So all rows of siblings are locked first, in the order of their ids. Who
 * moves or deletes siblings takes these locks in the same order.
 */
export async function makePlace(tx: Transaction, placement: Placement): Promise<string | null> {
  const { moved, position } = placement
  if (referenceOf(position)?.id === moved) return null
  const siblings = await siblingsAround(tx, placement)
  const keys = keysAround({ siblings, moved, position }) ?? (await keysOfAll(tx, placement))
  const others = keys.filter(({ id }) => id !== moved)
  if (others.length > 0) await writeKeys(tx, { ...placement, keys: others })
  return keys.find(({ id }) => id === moved)?.key ?? null
}

/** Writes the key that `makePlace` has returned. What is placed is in its parent now. */
export async function takePlace(tx: Transaction, placement: Placement, key: string | null): Promise<void> {
  if (key !== null) await writeKeys(tx, { ...placement, keys: [{ id: placement.moved, key }] })
}

type Fragment = ReturnType<typeof sql.fragment>

const SiblingRow = row(Type.Object({ id: Type.String(), order_key: Nullable(Type.String()) }))

async function keysOfAll(tx: Transaction, placement: Placement): Promise<OrderKey[]> {
  const siblings = await inOrder(tx, [sql.fragment`(${siblingsOf(placement)})`])
  return keysFor({ ...placement, siblings })
}

// Two siblings on each side of the place are enough, since one of them may be the moved child itself.
async function siblingsAround(tx: Transaction, placement: Placement): Promise<readonly Sibling[]> {
  const { id, label } = columnsOf(placement)
  const placed = (where: Fragment, order: Fragment, limit: number) => sql.fragment`
    (${siblingsOf(placement)} AND order_key IS NOT NULL AND ${where} ORDER BY ${order} LIMIT ${limit})`
  const unplaced = (where: Fragment) => sql.fragment`(${siblingsOf(placement)} AND order_key IS NULL AND ${where})`
  const all = sql.fragment`true`
  const upwards = sql.fragment`order_key, ${id}`
  const downwards = sql.fragment`order_key DESC, ${id} DESC`
  if (placement.position === 'first') return inOrder(tx, [placed(all, upwards, 2)])
  if (placement.position === 'last') return inOrder(tx, [placed(all, downwards, 2), unplaced(all)])
  const reference = await findReference(tx, placement)
  const at = sql.fragment`(${reference.order_key ?? reference.label}, ${idOf(placement, reference.id)})`
  return inOrder(
    tx,
    reference.order_key === null
      ? [placed(all, downwards, 2), unplaced(sql.fragment`(${label} COLLATE "C", ${id}) <= ${at}`)]
      : [
          placed(sql.fragment`(order_key, ${id}) < ${at}`, downwards, 2),
          placed(sql.fragment`(order_key, ${id}) >= ${at}`, upwards, 3),
        ],
  )
}

const ReferenceRow = row(Type.Object({ id: Type.String(), order_key: Nullable(Type.String()), label: Type.String() }))

async function findReference(tx: Transaction, placement: Placement) {
  const reference = referenceOf(placement.position)
  if (reference === null) throw new Error('the position has no reference')
  const id = idOf(placement, reference.id)
  const columns = columnsOf(placement)
  const found =
    id === null
      ? null
      : await tx.maybeOne(sql.type(ReferenceRow)`
          SELECT id, order_key, label FROM (${siblingsOf(placement)} AND ${columns.id} = ${id}) AS reference`)
  if (found === null) throw notBeside(reference)
  return found
}

// An id of the type that the table has; null for the id of a child of the other kind.
function idOf({ kind }: Placement, id: string): string | number | null {
  if (tables[kind].idType === 'text') return id
  return /^[1-9][0-9]{0,15}$/.test(id) ? Number(id) : null
}

// The columns have the name of their table before them. Otherwise `ORDER BY id` would mean the result column `id` of
// `siblingsOf`, which is text, and 10 would come before 9.
function columnsOf({ kind }: Placement) {
  const { name, id, label, parent } = tables[kind]
  const column = (of: string) => sql.identifier([name, of])
  return { id: column(id), label: column(label), parent: column(parent) }
}

function siblingsOf(placement: Placement): Fragment {
  const { id, label } = columnsOf(placement)
  return sql.fragment`
    SELECT ${id} AS own_id, ${id}::text AS id, order_key, ${label} COLLATE "C" AS label
    FROM ${sql.identifier([tables[placement.kind].name])} WHERE ${isIn(placement)}`
}

function isIn(placement: Placement): Fragment {
  const { workspace_id, knowledge_base_id, folder_id } = placement.parent
  const { parent } = columnsOf(placement)
  return folder_id === null
    ? sql.fragment`workspace_id = ${workspace_id} AND knowledge_base_id = ${knowledge_base_id} AND ${parent} IS NULL`
    : sql.fragment`workspace_id = ${workspace_id} AND ${parent} = ${folder_id}`
}

function inOrder(tx: Transaction, parts: readonly Fragment[]): Promise<readonly Sibling[]> {
  return tx.any(sql.type(SiblingRow)`
    SELECT id, order_key FROM (${sql.join(parts, sql.fragment` UNION ALL `)}) AS siblings
    ORDER BY order_key, CASE WHEN order_key IS NULL THEN label END, own_id`)
}

// Rows are locked in the order of their ids. A document that leaves the parent meanwhile gets no key.
async function writeKeys(tx: Transaction, placement: Placement & { keys: readonly OrderKey[] }): Promise<void> {
  const { kind, keys } = placement
  const { id } = columnsOf(placement)
  const table = sql.identifier([tables[kind].name])
  const ids = sql.array(
    keys.map((key) => idOf(placement, key.id)),
    tables[kind].idType,
  )
  const values = sql.array(
    keys.map(({ key }) => key),
    'text',
  )
  if (keys.length > 1) {
    await tx.query(sql.unsafe`
      SELECT FROM ${table} WHERE ${isIn(placement)} AND ${id} = ANY(${ids}) ORDER BY ${id} FOR NO KEY UPDATE`)
  }
  await tx.query(sql.unsafe`
    UPDATE ${table} SET order_key = k.new_key FROM unnest(${ids}, ${values}) AS k (moved_id, new_key)
    WHERE ${isIn(placement)} AND ${id} = k.moved_id`)
}
