import * as Y from 'yjs'
import { IdMap, type IdRange } from './id-ranges.ts'
import { placingSteps } from './placing-steps.ts'
import { structMoves } from './struct-moves.ts'
import { type Id, readUpdate, type Struct, type StructKind } from './update-reader.ts'

/** An update of a client that was read. `inserted` has its structs, and `deleted` the ids that it names as deleted. */
export type ClientUpdate = { inserted: readonly Struct[]; deleted: readonly IdRange[] }

/**
 * An update that is let in. `steps` is an upper bound of the work of Yjs that is more than in proportion to the update:
 * steps over structs which others put at the same places, and moves of structs. A step takes about a microsecond.
 */
export type CheckedUpdate = ClientUpdate & { steps: number }

/** An update that no editor writes. The message says what is wrong with it, and quotes nothing from it. */
export class RefusedUpdate extends Error {}

/**
 * Reads an update (Yjs encoding v1) that a connection wants to apply to a document. Throws `RefusedUpdate` when Yjs
 * could not read it, or when it would harm the document: with content that no body has, with thousands of levels, with
 * names that are not plain data, with very many clients, or with much that waits for something that is missing. It also
 * throws when Yjs would need more than a second for the update. The check takes time in proportion to the update.
 *
 * Everything else is let in, and what the schema forbids is repaired when the body is stored. An editor whose update is
 * refused connects again, and then sends everything that is missing in one update.
 */
export function checkUpdate(doc: Y.Doc, bytes: Uint8Array): CheckedUpdate {
  const update = readKnown(bytes)
  checkClients(doc, update)
  checkWaiting(doc, update)
  checkDepth(doc, update)
  const moving = Math.floor(structMoves(doc, update) / movesOfStep)
  const steps = moving + placingSteps(doc, update.inserted, mostSteps)
  if (steps > mostSteps) throw new RefusedUpdate('too much work')
  return { ...update, steps }
}

/** The most structs, and the most deleted ranges, of an update. The largest body has less than half of it. @internal */
export const mostStructs = 250_000

/** The most steps of one update. Yjs takes about a second for them. */
export const mostSteps = 1_000_000

// The number of structs that Yjs moves in an array in the time of one step.
const movesOfStep = 1000

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

const allowedKinds: ReadonlySet<StructKind> = new Set(['gc', 'skip', 'deleted', 'string', 'format', 'type', 'any'])
const xmlElement = 3
const xmlText = 6
const rootName = 'default'

function readKnown(bytes: Uint8Array): ClientUpdate {
  const inserted: Struct[] = []
  const deleted: IdRange[] = []
  const ends = { inserted: new Map<number, number>(), deleted: new Map<number, number>() }
  const marks = new Set<string>()
  const struct = (struct: Struct) => {
    const { client, clock, length } = struct
    if (inserted.push(struct) > mostStructs) throw new RefusedUpdate('too many structs')
    if (clock < (ends.inserted.get(client) ?? 0)) throw new RefusedUpdate('ids that come twice')
    ends.inserted.set(client, clock + length)
    checkStruct(struct)
    if (struct.kind === 'format') for (const name of struct.names) marks.add(name)
    if (marks.size > mostMarks) throw new RefusedUpdate('too many kinds of marks')
  }
  const deletion = (range: IdRange) => {
    if (deleted.push(range) > mostStructs) throw new RefusedUpdate('too many deletions')
    checkRange(range)
    // For each deletion Yjs looks at all structs of its range. An editor names an id once, in ascending order.
    if (range.clock < (ends.deleted.get(range.client) ?? 0)) throw new RefusedUpdate('deletions out of order')
    ends.deleted.set(range.client, range.clock + range.length)
  }
  try {
    readUpdate(bytes, { struct, deletion })
  } catch (error) {
    throw error instanceof RefusedUpdate ? error : new RefusedUpdate('not an update')
  }
  return { inserted, deleted }
}

function checkStruct(struct: Struct): void {
  const { kind, key, parent, names, typeNumber, values } = struct
  checkRange(struct)
  if (!allowedKinds.has(kind)) throw new RefusedUpdate(`content of the kind ${kind}`)
  if (typeNumber !== null && typeNumber !== xmlElement && typeNumber !== xmlText)
    throw new RefusedUpdate('a type other than XML')
  if (typeof parent === 'string' && (parent !== rootName || key !== null)) throw new RefusedUpdate('another root type')
  if ([key, ...names].includes('__proto__')) throw new RefusedUpdate('a reserved name')
  // Yjs takes for granted that a client names only its earlier ids.
  for (const id of [struct.origin, struct.rightOrigin, parent]) {
    const isOwn = typeof id === 'object' && id?.client === struct.client
    if (isOwn && id.clock >= struct.clock) throw new RefusedUpdate('structs that need each other')
  }
  for (const value of values) checkValue(value, 1)
}

function checkRange({ clock, length }: IdRange): void {
  if (length < 1 || clock + length > clockLimit) throw new RefusedUpdate('an impossible range of ids')
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
  const clients = new Set(inserted.map(({ client }) => client))
  let news = 0
  for (const client of clients) if (!store.clients.has(client)) news += 1
  if (news > mostNewClients) throw new RefusedUpdate('too many clients')
}

/**
 * Refuses what would have to wait in the document for something that is missing. A little text may wait, since an
 * editor can type before the first exchange is over.
 */
function checkWaiting({ store }: Y.Doc, { inserted, deleted }: ClientUpdate): void {
  const ends = new Map(inserted.map(({ client, clock, length }) => [client, clock + length]))
  const isMissing = (id: Id | string | null) =>
    typeof id === 'object' &&
    id !== null &&
    id.clock >= Math.max(Y.getState(store, id.client), ends.get(id.client) ?? 0)
  const reached = new Map<number, number>()
  let bytes = (store.pendingStructs?.update.length ?? 0) + (store.pendingDs?.length ?? 0)
  for (const { client, clock, length, kind, origin, rightOrigin, parent, text } of inserted) {
    if (kind === 'skip') continue
    const state = reached.get(client) ?? Y.getState(store, client)
    const isNext = clock <= state
    if (isNext) reached.set(client, Math.max(state, clock + length))
    if (isNext && !isMissing(origin) && !isMissing(rightOrigin) && !isMissing(parent)) continue
    if (kind === 'type') throw new RefusedUpdate('blocks that wait for something')
    bytes += bytesOfStruct + (text?.length ?? 0)
  }
  for (const { client, clock, length } of deleted) {
    if (isMissing({ client, clock: clock + length - 1 })) bytes += bytesOfStruct
  }
  if (bytes > mostWaitingBytes) throw new RefusedUpdate('too much that waits for something')
}

const bytesOfStruct = 16

/** A struct with its level: a child of the root is at level 1. The level is open while it is looked for. */
type Levelled = { struct: Struct; level: number | 'open' | null }

/** Refuses elements on too many levels, those of the document included. */
function checkDepth(doc: Y.Doc, { inserted }: ClientUpdate): void {
  const types = inserted.filter(({ kind }) => kind === 'type')
  if (types.length === 0) return
  const known = new Map<unknown, number>()
  const structs = new IdMap<Levelled>()
  for (const struct of inserted) structs.add({ ...rangeOf(struct), value: { struct, level: null } })
  for (const type of types) {
    const level = levelOf(type, { structs, levelInDocument: (id) => levelInDocument(doc, id, known) })
    if (level > mostLevels) throw new RefusedUpdate('too many levels')
  }
}

type Levels = { structs: IdMap<Levelled>; levelInDocument: (id: Id) => number }

/** Follows parents and neighbours to a struct whose level is known, without recursion, and notes the levels between. */
function levelOf(start: Struct, { structs, levelInDocument }: Levels): number {
  const path: Levelled[] = []
  let level = 0
  for (let id: Id | null = start; id !== null; ) {
    const found: Levelled | undefined = structs.at(id)?.value
    if (found === undefined || typeof found.level === 'number') {
      level = found === undefined ? levelInDocument(id) : Number(found.level)
      break
    }
    if (found.level === 'open') throw new RefusedUpdate('structs that need each other')
    found.level = 'open'
    path.push(found)
    const { origin, rightOrigin, parent }: Struct = found.struct
    id = origin ?? rightOrigin ?? (typeof parent === 'string' ? null : parent)
  }
  for (const found of path.reverse()) {
    if (found.struct.parent !== null) level += 1
    found.level = level
  }
  return level
}

function levelInDocument(doc: Y.Doc, { client, clock }: Id, known: Map<unknown, number>): number {
  if (Y.getState(doc.store, client) <= clock) return 0
  const item = Y.getItem(doc.store, Y.createID(client, clock))
  const path: unknown[] = []
  let type = item instanceof Y.Item ? item.parent : null
  while (type instanceof Y.AbstractType && !known.has(type)) {
    path.push(type)
    type = type._item?.parent ?? null
  }
  let level = known.get(type) ?? 0
  for (const around of path.reverse()) {
    level += 1
    known.set(around, level)
  }
  return level
}

function rangeOf({ client, clock, length }: IdRange): IdRange {
  return { client, clock, length }
}
