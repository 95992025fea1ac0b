import * as Y from 'yjs'
import { IdMap, type IdRange } from './id-ranges.ts'
import { itemOf, keptAside, structCounts, structsIn } from './yjs-internals.ts'

/** A struct of an update: an item, a stretch of deleted content (GC), or a gap (Skip). */
export type Struct = Y.Item | Y.GC | Y.Skip

/** An update that was read. `inserted` has its structs, and `deleted` the ids that it names as deleted. */
export type ClientUpdate = { inserted: readonly Struct[]; deleted: readonly IdRange[] }

/** An update that no editor writes. The message says what is wrong with it, and quotes nothing from it. */
export class RefusedUpdate extends Error {}

/** Reads an update (Yjs encoding v1) without any document. Throws the errors of Yjs when the bytes are no update. */
export function readUpdate(bytes: Uint8Array): ClientUpdate {
  const { structs, ds } = Y.decodeUpdate(bytes)
  const deleted = [...ds.clients].flatMap(([client, ranges]) =>
    ranges.map(({ clock, len }) => ({ client, clock, length: len })),
  )
  return { inserted: structs, deleted }
}

/**
 * Reads an update that a connection wants to apply to a document. Throws `RefusedUpdate` when Yjs could not read it, or
 * when it would harm the document: with content that no body has, with hundreds of levels, with names that are not
 * plain data, with very many clients, or with much that waits for something that is missing. The time and memory of the
 * check are in proportion to the update. How much work Yjs will have with the update, `mostComparisons` tells.
 *
 * Everything else is let in, and what the schema forbids is repaired when the body is stored. An editor whose update is
 * refused connects again, and then sends everything that is missing in one update.
 */
export function checkUpdate(doc: Y.Doc, bytes: Uint8Array): ClientUpdate {
  const update = readPlain(bytes)
  checkClients(doc, update)
  checkWaiting(doc, update)
  checkDepth(doc, update)
  return update
}

/**
 * The most comparisons of structs, or moves of them, that Yjs can need for an update beyond its size. Yjs takes about
 * 0.2 microseconds for one. For each new struct and each deletion, Yjs may look at all structs of the document, because
 * others may have written at the same place. `unseen` is the number of structs that may be looked at.
 */
export function mostComparisons(
  doc: Y.Doc,
  { inserted, deleted }: ClientUpdate,
  unseen = structCounts(doc).reduce((sum, count) => sum + count, inserted.length),
): number {
  const news = inserted.filter(({ id, length }) => id.clock + length > Y.getState(doc.store, id.client))
  const { structs, missing } = keptAside(doc)
  // An update may bring what others wait for. A struct that waits takes at least a byte.
  const waiting = news.some(({ id }) => missing.has(id.client)) ? structs.length : 0
  return (news.length + deleted.filter((range) => isNews(doc, range)).length + waiting) * unseen
}

/** The most structs, and the most deleted ranges, of an update. The largest body has less than half of it. @internal */
export const mostStructs = 250_000
/**
 * The most clients of one update that the document does not know. They stay in its state vector for ever. @internal
 */
export const mostNewClients = 1000

// The most kinds of marks of one update. Whoever reads a text holds all marks that begin in it.
const mostMarks = 64
// The most levels of elements. The schema allows 32, and repairs need some more. Yjs deletes recursively.
const mostLevels = 200
// The most levels of a value in an attribute or a mark.
const mostValueLevels = 16
// An id needs a clock below this number, far more than an editor can type.
const clockLimit = 2 ** 40
// The most bytes that may wait in a document for something that is missing. Yjs reads them again with each update.
const mostWaitingBytes = 65_536

// An editor that comes back names all deletions of its document, most of which the document has.
function isNews(doc: Y.Doc, range: IdRange): boolean {
  if (range.clock + range.length > Y.getState(doc.store, range.client)) return true
  return structsIn(doc, range).some(({ deleted }) => !deleted)
}

function readPlain(bytes: Uint8Array): ClientUpdate {
  const update = decoded(bytes)
  const { inserted, deleted } = update
  if (inserted.length > mostStructs) throw new RefusedUpdate('too many structs')
  if (deleted.length > mostStructs) throw new RefusedUpdate('too many deletions')
  checkOrder(inserted.map(rangeOf))
  // For each deletion Yjs looks at all structs of its range. An editor names an id once, in ascending order.
  checkOrder(deleted)
  const marks = new Set<string>()
  for (const struct of inserted) {
    if (!(struct instanceof Y.Item)) continue
    checkItem(struct)
    if (struct.content instanceof Y.ContentFormat) marks.add(struct.content.key)
  }
  if (marks.size > mostMarks) throw new RefusedUpdate('too many kinds of marks')
  return update
}

function decoded(bytes: Uint8Array): ClientUpdate {
  try {
    return readUpdate(bytes)
  } catch {
    throw new RefusedUpdate('not an update')
  }
}

function checkOrder(ranges: readonly IdRange[]): void {
  const ends = new Map<number, number>()
  for (const { client, clock, length } of ranges) {
    if (length < 1 || clock + length > clockLimit) throw new RefusedUpdate('an impossible range of ids')
    if (clock < (ends.get(client) ?? 0)) throw new RefusedUpdate('ids that come twice, or out of order')
    ends.set(client, clock + length)
  }
}

function checkItem({ id, origin, rightOrigin, parent, parentSub, content }: Y.Item): void {
  if (typeof parent === 'string' && (parent !== rootName || parentSub !== null))
    throw new RefusedUpdate('another root type')
  // Yjs takes for granted that a client names only its earlier ids.
  for (const needed of [origin, rightOrigin, parent]) {
    const isOwn = needed instanceof Y.ID && needed.client === id.client
    if (isOwn && needed.clock >= id.clock) throw new RefusedUpdate('structs that need each other')
  }
  if ([parentSub, ...namesIn(content)].includes('__proto__')) throw new RefusedUpdate('a reserved name')
}

const rootName = 'default'

/** Checks the content of an item. Returns the names in it. */
function namesIn(content: Y.Item['content']): string[] {
  if (content instanceof Y.ContentDeleted || content instanceof Y.ContentString) return []
  if (content instanceof Y.ContentAny) {
    for (const value of content.arr) checkValue(value, 1)
    return []
  }
  if (content instanceof Y.ContentFormat) {
    checkValue(content.value, 1)
    return [content.key]
  }
  if (!(content instanceof Y.ContentType)) throw new RefusedUpdate('content that no body has')
  if (content.type instanceof Y.XmlText) return []
  if (content.type instanceof Y.XmlElement) return [content.type.nodeName]
  throw new RefusedUpdate('a type other than XML')
}

function checkValue(value: unknown, level: number): void {
  if (typeof value === 'bigint' || value instanceof Uint8Array) throw new RefusedUpdate('a value that is not JSON')
  if (typeof value !== 'object' || value === null) return
  if (level > mostValueLevels) throw new RefusedUpdate('a value with too many levels')
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = Array.isArray(value) || prototype === Object.prototype
  if (!isPlain || Object.hasOwn(value, '__proto__')) throw new RefusedUpdate('a reserved name')
  for (const member of Object.values(value)) checkValue(member, level + 1)
}

function checkClients({ store }: Y.Doc, { inserted }: ClientUpdate): void {
  const clients = new Set(inserted.map(({ id }) => id.client))
  let news = 0
  for (const client of clients) if (Y.getState(store, client) === 0) news += 1
  if (news > mostNewClients) throw new RefusedUpdate('too many clients')
}

/**
 * Refuses what would have to wait in the document for something that is missing. A little text may wait, since an
 * editor can type before the first exchange is over.
 */
function checkWaiting(doc: Y.Doc, { inserted, deleted }: ClientUpdate): void {
  const ends = new Map(inserted.map(({ id, length }) => [id.client, id.clock + length]))
  const stateOf = (client: number) => Y.getState(doc.store, client)
  const isMissing = (id: unknown) =>
    id instanceof Y.ID && id.clock >= Math.max(stateOf(id.client), ends.get(id.client) ?? 0)
  const reached = new Map<number, number>()
  const { structs, deletions } = keptAside(doc)
  let bytes = structs.length + deletions.length
  for (const struct of inserted) {
    if (struct instanceof Y.Skip) continue
    const { client, clock } = struct.id
    const state = reached.get(client) ?? stateOf(client)
    const isNext = clock <= state
    if (isNext) reached.set(client, Math.max(state, clock + struct.length))
    const { origin, rightOrigin, parent, content } = struct instanceof Y.Item ? struct : nothing
    if (isNext && !isMissing(origin) && !isMissing(rightOrigin) && !isMissing(parent)) continue
    if (content instanceof Y.ContentType) throw new RefusedUpdate('blocks that wait for something')
    bytes += bytesOfStruct + (content instanceof Y.ContentString ? content.str.length : 0)
  }
  for (const { client, clock, length } of deleted) {
    if (isMissing(Y.createID(client, clock + length - 1))) bytes += bytesOfStruct
  }
  if (bytes > mostWaitingBytes) throw new RefusedUpdate('too much that waits for something')
}

const bytesOfStruct = 16
const nothing = { origin: null, rightOrigin: null, parent: null, content: null }

/** An item with its level: a child of the root is at level 1. The level is open while it is looked for. */
type Levelled = { item: Y.Item; level: number | 'open' | null }

/** Refuses elements on too many levels, those of the document included. */
function checkDepth(doc: Y.Doc, { inserted }: ClientUpdate): void {
  const items = inserted.filter((struct) => struct instanceof Y.Item)
  const types = items.filter(({ content }) => content instanceof Y.ContentType)
  if (types.length === 0) return
  const known = new Map<unknown, number>()
  const byId = new IdMap<Levelled>()
  for (const item of items) byId.add({ ...rangeOf(item), value: { item, level: null } })
  for (const { id } of types) {
    const level = levelOf(id, { byId, levelInDocument: (id) => levelInDocument(doc, id, known) })
    if (level > mostLevels) throw new RefusedUpdate('too many levels')
  }
}

type Levels = { byId: IdMap<Levelled>; levelInDocument: (id: Y.ID) => number }

/** Follows parents and neighbours to an item whose level is known, without recursion, and notes the levels between. */
function levelOf(start: Y.ID, { byId, levelInDocument }: Levels): number {
  const path: Levelled[] = []
  let level = 0
  for (let id: Y.ID | null = start; id !== null; ) {
    const found: Levelled | undefined = byId.at(id)?.value
    if (found === undefined || typeof found.level === 'number') {
      level = found === undefined ? levelInDocument(id) : Number(found.level)
      break
    }
    if (found.level === 'open') throw new RefusedUpdate('structs that need each other')
    found.level = 'open'
    path.push(found)
    const { origin, rightOrigin, parent }: Y.Item = found.item
    id = origin ?? rightOrigin ?? (parent instanceof Y.ID ? parent : null)
  }
  for (const found of path.reverse()) {
    if (found.item.parent !== null) level += 1
    found.level = level
  }
  return level
}

function levelInDocument(doc: Y.Doc, id: Y.ID, known: Map<unknown, number>): number {
  if (Y.getState(doc.store, id.client) <= id.clock) return 0
  const item = Y.getItem(doc.store, id)
  const path: unknown[] = []
  let type = item instanceof Y.Item ? item.parent : null
  while (type instanceof Y.AbstractType && !known.has(type)) {
    path.push(type)
    type = itemOf(type)?.parent ?? null
  }
  let level = known.get(type) ?? 0
  for (const around of path.reverse()) {
    level += 1
    known.set(around, level)
  }
  return level
}

function rangeOf({ id, length }: Struct): IdRange {
  return { client: id.client, clock: id.clock, length }
}
