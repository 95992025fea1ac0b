import * as decoding from 'lib0/decoding'
import type { IdRange } from './id-ranges.ts'

/** One Yjs id. */
export type Id = { client: number; clock: number }

/** The kinds of content in the order of their numbers in the encoding. */
const kinds = ['gc', 'deleted', 'json', 'binary', 'string', 'embed', 'format', 'type', 'any', 'document'] as const
export type StructKind = (typeof kinds)[number] | 'skip'

/**
 * A struct of an update, which inserts `length` ids of a client. `origin` and `rightOrigin` are its neighbours at the
 * time; only a struct without neighbours names its `parent`: a type by its id, or a root type by its name. `key` is the
 * name of an attribute. `names` are the other names in it, and `values` its values. `typeNumber` is the kind of a type.
 */
export type Struct = IdRange & {
  kind: StructKind
  origin: Id | null
  rightOrigin: Id | null
  parent: Id | string | null
  key: string | null
  text: string | null
  names: readonly string[]
  values: readonly unknown[]
  typeNumber: number | null
}

/** A part of an update that a reader is told as soon as it is read. */
export type UpdateVisitor = { struct: (struct: Struct) => void; deletion: (range: IdRange) => void }

/**
 * Reads a Yjs update (encoding v1) without making Yjs structs of it, and without any document. Throws an error of lib0,
 * a SyntaxError or a RangeError when the bytes are no update.
 */
export function readUpdate(bytes: Uint8Array, visitor: UpdateVisitor): void {
  const decoder = decoding.createDecoder(bytes)
  for (let clients = decoding.readVarUint(decoder); clients > 0; clients--) {
    let structs = decoding.readVarUint(decoder)
    const client = decoding.readVarUint(decoder)
    for (let clock = decoding.readVarUint(decoder); structs > 0; structs--) {
      const struct = readStruct(decoder, { client, clock })
      visitor.struct(struct)
      clock += struct.length
    }
  }
  for (let clients = decoding.readVarUint(decoder); clients > 0; clients--) {
    const client = decoding.readVarUint(decoder)
    for (let ranges = decoding.readVarUint(decoder); ranges > 0; ranges--) {
      visitor.deletion({ client, clock: decoding.readVarUint(decoder), length: decoding.readVarUint(decoder) })
    }
  }
  if (decoding.hasContent(decoder)) throw new RangeError('The update has bytes behind its end')
}

const bit = { origin: 0x80, rightOrigin: 0x40, key: 0x20, kind: 0x1f }
const skipNumber = 10
const typesWithName = new Set([3, 5])

function readStruct(decoder: decoding.Decoder, id: Id): Struct {
  const info = decoding.readUint8(decoder)
  const number = info & bit.kind
  if (number === 0 || number === skipNumber) {
    return { ...id, ...nothing, length: decoding.readVarUint(decoder), kind: number === 0 ? 'gc' : 'skip' }
  }
  const kind = kinds[number]
  if (kind === undefined) throw new RangeError(`No content has the number ${number}`)
  const origin = info & bit.origin ? readId(decoder) : null
  const rightOrigin = info & bit.rightOrigin ? readId(decoder) : null
  const namesParent = origin === null && rightOrigin === null
  const parent = namesParent ? readParent(decoder) : null
  const key = namesParent && info & bit.key ? decoding.readVarString(decoder) : null
  return { ...id, ...nothing, kind, origin, rightOrigin, parent, key, ...readContent(decoder, kind) }
}

const nothing = {
  origin: null,
  rightOrigin: null,
  parent: null,
  key: null,
  text: null,
  names: [],
  values: [],
  typeNumber: null,
} as const

type Content = Pick<Struct, 'length'> & Partial<Pick<Struct, 'text' | 'names' | 'values' | 'typeNumber'>>

function readContent(decoder: decoding.Decoder, kind: StructKind): Content {
  if (kind === 'string') {
    const text = decoding.readVarString(decoder)
    return { length: text.length, text }
  }
  if (kind === 'type') {
    const typeNumber = decoding.readVarUint(decoder)
    return { length: 1, typeNumber, names: typesWithName.has(typeNumber) ? [decoding.readVarString(decoder)] : [] }
  }
  if (kind === 'format') {
    const name = decoding.readVarString(decoder)
    return { length: 1, names: [name], values: [JSON.parse(decoding.readVarString(decoder))] }
  }
  if (kind === 'any') return readValues(decoder, () => decoding.readAny(decoder))
  if (kind === 'json') return readValues(decoder, () => decoding.readVarString(decoder))
  if (kind === 'document')
    return { length: 1, names: [decoding.readVarString(decoder)], values: [decoding.readAny(decoder)] }
  if (kind === 'binary') return { length: 1, values: [decoding.readVarUint8Array(decoder)] }
  if (kind === 'embed') return { length: 1, values: [JSON.parse(decoding.readVarString(decoder))] }
  return { length: decoding.readVarUint(decoder) }
}

function readValues(decoder: decoding.Decoder, read: () => unknown): Content {
  const length = decoding.readVarUint(decoder)
  const values: unknown[] = []
  while (values.length < length) values.push(read())
  return { length, values }
}

function readId(decoder: decoding.Decoder): Id {
  return { client: decoding.readVarUint(decoder), clock: decoding.readVarUint(decoder) }
}

function readParent(decoder: decoding.Decoder): Id | string {
  return decoding.readVarUint(decoder) === 1 ? decoding.readVarString(decoder) : readId(decoder)
}
