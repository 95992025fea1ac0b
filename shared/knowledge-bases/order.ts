import { generateNKeysBetween } from 'fractional-indexing'
import Type, { type Static } from 'typebox'
import { sql } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { Text } from '../schema/strings.ts'

const reference = Type.Union([Text({ max: 200 }), Type.Integer()], {
  description: 'id of a document, or of a folder as an integer or decimal string',
})
const references = { before: Type.Optional(reference), after: Type.Optional(reference) }

/** The place of a folder or document among the folders or documents of its parent. */
export const Position = Type.Union(
  [
    Type.Enum(['first', 'last']),
    Type.Refine(
      Type.Object(references),
      (value) => Object.keys(references).filter((key) => Object.hasOwn(value, key)).length === 1,
      () => 'must have exactly one of the members before, after',
    ),
  ],
  {
    description:
      '`first`, `last`, or an object with exactly one of `before` and `after`, which name a folder or document of the same kind and parent',
  },
)
export type Position = Static<typeof Position>

/** The orders in which the children of a folder and a tree can be listed. */
export const SortOrder = Type.Enum(['name', 'updated_at', 'manual'], {
  default: 'name',
  description:
    'folders first; `name` by name or title, `updated_at` the last changed first, `manual` as `position` has placed them and then by name',
})
export type SortOrder = Static<typeof SortOrder>

/** A folder or document with its key in the manual order; null if it was never placed. */
export type Sibling = { id: string; order_key: string | null }

/** A key that a folder or document gets. */
export type OrderKey = { id: string; key: string }

/** The manual order of folders, for a statement that names the table `f`. */
export const manualOrderOfFolders = sql.fragment`
  f.order_key, (CASE WHEN f.order_key IS NULL THEN f.name END) COLLATE "C", f.id`

/** The manual order of documents, for a statement that names the table `d`. */
export const manualOrderOfDocuments = sql.fragment`
  d.order_key, (CASE WHEN d.order_key IS NULL THEN d.title END) COLLATE "C", d.id`

/** The id that a position refers to, with the member that names it; null for `first` and `last`. */
export function referenceOf(position: Position): { id: string; field: string } | null {
  if (typeof position === 'string') return null
  const [member, id] = Object.entries(position).find(([name]) => Object.hasOwn(references, name)) ?? []
  return id === undefined ? null : { id: String(id), field: `position.${member}` }
}

/**
 * The longest key in characters. A key grows by a character for about six insertions at one place. A longer key would
 * make the list renumber its keys, so that no caller can make keys grow without end. A new list of 10,000 needs keys of
 * four characters.
 */
const longestKey = 64

/**
 * Returns the keys that put `moved` at a position among its siblings. `siblings` is the list of one parent in its
 * manual order, with or without `moved`. Siblings before the position that have no key get one too, since everything
 * without a key comes last. All siblings with a key get a new one when two neighbours have the same key, and when a
 * key would become too long. Nothing is returned when `moved` is there already. Refuses with 422 `invalid_position` a
 * reference that is not among the siblings.
 */
export function keysFor(input: { siblings: readonly Sibling[]; moved: string; position: Position }): OrderKey[] {
  const { siblings, moved, position } = input
  if (referenceOf(position)?.id === moved) return []
  const others = siblings.filter(({ id }) => id !== moved)
  const at = indexOf(position, others)
  const current = siblings.findIndex(({ id }) => id === moved)
  if (current === at && siblings[current]?.order_key != null) return []
  const unplaced = others.findIndex(({ order_key }) => order_key === null)
  const placed = unplaced === -1 ? others.length : unplaced
  const from = Math.min(placed, at)
  const ids = [...others.slice(from, at).map(({ id }) => id), moved]
  const keys = keysBetween(others[from - 1]?.order_key ?? null, others[at]?.order_key ?? null, ids.length)
  if (keys !== null) return ids.map((id, index) => ({ id, key: keys[index] as string }))
  const all = others.slice(0, Math.max(placed, at)).map(({ id }) => id)
  all.splice(at, 0, moved)
  return withKeys(all)
}

function indexOf(position: Position, others: readonly Sibling[]): number {
  if (position === 'first') return 0
  const reference = referenceOf(position)
  if (position === 'last' || reference === null) return others.length
  const index = others.findIndex(({ id }) => id === reference.id)
  if (index === -1) throw notBeside(reference)
  return position.before === undefined ? index + 1 : index
}

// Keys between two keys, in order; null when there is no room or when a key would be too long.
function keysBetween(before: string | null, after: string | null, count: number): string[] | null {
  if (before !== null && after !== null && before >= after) return null
  const keys = generateNKeysBetween(before, after, count)
  return keys.some((key) => key.length > longestKey) ? null : keys
}

function withKeys(ids: readonly string[]): OrderKey[] {
  const keys = generateNKeysBetween(null, null, ids.length)
  return ids.map((id, index) => ({ id, key: keys[index] as string }))
}

/** The refusal of a position that refers to a folder or document of the other kind or of another parent. */
function notBeside({ id, field }: { id: string; field: string }): Refusal {
  const path = `/${field.replace('.', '/')}`
  return new Refusal('invalid_position', { details: { path, reason: `${id} is not of the same kind and parent` } })
}
