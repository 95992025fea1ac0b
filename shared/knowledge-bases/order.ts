import { generateNKeysBetween } from 'fractional-indexing'
import Type, { type Static } from 'typebox'
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

type Move = { siblings: readonly Sibling[]; moved: string; position: Position }

/**
 * Returns the keys that put `moved` at a position among its siblings. `siblings` is the list of one parent in its
 * manual order, with or without `moved`. Siblings before the position that have no key get one too, since everything
 * without a key comes last. All siblings with a key get a new one when two neighbours have the same key, and when a
 * key would become too long. Nothing is returned when `moved` is there already. Refuses with 422 `invalid_position` a
 * reference that is not among the siblings.
 */
export function keysFor(move: Move): OrderKey[] {
  return keysAround(move) ?? newKeysFor(move)
}

/**
 * Returns the keys that `keysFor` returns; null when all siblings with a key need a new one. `siblings` need only have
 * the part of the list around the position: two siblings with a key on each side, and all siblings before the position
 * that have no key.
 */
export function keysAround({ siblings, moved, position }: Move): OrderKey[] | null {
  if (referenceOf(position)?.id === moved) return []
  const { others, at, placed } = placesOf({ siblings, moved, position })
  const current = siblings.findIndex(({ id }) => id === moved)
  if (current === at && siblings[current]?.order_key != null) return []
  const from = Math.min(placed, at)
  const ids = [...others.slice(from, at).map(({ id }) => id), moved]
  // A reader may have come as far as the key that `moved` has now. What was never placed gets no key up to that one.
  const passed = from < at ? (siblings[current]?.order_key ?? '') : ''
  const before = [others[from - 1]?.order_key ?? '', passed].sort().at(-1) || null
  const keys = keysBetween(before, others[at]?.order_key ?? null, ids.length)
  return keys === null ? null : ids.map((id, index) => ({ id, key: keys[index] as string }))
}

function newKeysFor(move: Move): OrderKey[] {
  const { others, at, placed } = placesOf(move)
  const ids = others.slice(0, Math.max(placed, at)).map(({ id }) => id)
  ids.splice(at, 0, move.moved)
  const keys = generateNKeysBetween(null, null, ids.length)
  return ids.map((id, index) => ({ id, key: keys[index] as string }))
}

// The other siblings, the place among them, and the number of those that have a key.
function placesOf({ siblings, moved, position }: Move) {
  const others = siblings.filter(({ id }) => id !== moved)
  const unplaced = others.findIndex(({ order_key }) => order_key === null)
  return { others, at: indexOf(position, others), placed: unplaced === -1 ? others.length : unplaced }
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

/** The refusal of a position that refers to a folder or document of the other kind or of another parent. */
export function notBeside({ id, field }: { id: string; field: string }): Refusal {
  const path = `/${field.replace('.', '/')}`
  return new Refusal('invalid_position', { details: { path, reason: `${id} is not of the same kind and parent` } })
}
