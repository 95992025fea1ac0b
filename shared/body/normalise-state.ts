import { Refusal } from '../errors/errors.ts'
import { blockIdPattern, newId } from '../schema/ids.ts'
import { codePoints } from '../schema/strings.ts'
import { type BodyLimits, maximumNodes } from './body-limits.ts'
import type { Warning } from './document.ts'

/** Where the input comes from (Markdown is forgiven more than JSON), and what the body may hold; absent caps are none. */
export type NormaliseContext = Partial<BodyLimits> & {
  from: 'json' | 'markdown'
  /** JSON pointer of the input within the request, put before the path in `details`; for Markdown that of its string. */
  path?: string
  /** The index of the operation in a batch that the input belongs to. */
  operationIndex?: number | undefined
}

/**
 * Where the normaliser stands: the JSON pointer, and the nearest block with an id that the caller knows; in a batch also
 * which operation it was. `newBlockId` is the nearest block if its id is made here: only a warning, which belongs to a
 * body that is stored, names it.
 */
export type Pointer = {
  path: string
  blockId: string | null
  newBlockId?: string | undefined
  operationIndex?: number | undefined
}

/** The attachments that nodes name, each with where it is named first. */
export type NamedAttachments = ReadonlyMap<string, Pointer>

/** What the normaliser collects on its way. */
export type NormaliseState = {
  context: NormaliseContext
  warnings: Warning[]
  ids: Set<string>
  attachments: Map<string, Pointer>
  nodes: number
  characters: number
  /** Bytes that the stored lines will have at least. */
  bytes: number
}

const blockId = new RegExp(blockIdPattern)

/** A fresh state for one pass. */
export function newState(context: NormaliseContext): NormaliseState {
  return { context, warnings: [], ids: new Set(), attachments: new Map(), nodes: 0, characters: 0, bytes: 0 }
}

/** The id of a block: the given one if it is valid and free, a new one if none is given. */
export function adoptBlockId(given: unknown, pointer: Pointer, state: NormaliseState): string {
  if (given === undefined || given === null) return newId('block')
  if (typeof given !== 'string' || !blockId.test(given)) {
    throw refuse('invalid_block_id', pointer, 'a block id is block_ and a ULID in upper case')
  }
  if (state.ids.has(given)) throw refuse('duplicate_block_id', { ...pointer, blockId: given }, 'the id occurs twice')
  state.ids.add(given)
  return given
}

/** Counts a node that is no text; refuses the one that is too many. */
export function countNode(state: NormaliseState, pointer: Pointer): void {
  state.nodes += 1
  if (state.nodes > maximumNodes) throw refuseNode(pointer, `a document holds at most ${maximumNodes} nodes`)
}

/** Counts the code points of a text against the cap of the context. */
export function countCharacters(state: NormaliseState, text: string): void {
  state.characters += codePoints(text)
}

/** Refuses what neither PostgreSQL nor Yjs can keep: U+0000 and lone surrogates. */
export function checkText(text: string, pointer: Pointer): void {
  if (!text.isWellFormed()) throw refuseNode(pointer, 'the text has a lone surrogate')
  if (text.includes('\u0000')) throw refuseNode(pointer, 'the text has a U+0000')
}

/** 422 `invalid_node` at a pointer. */
export function refuseNode(pointer: Pointer, reason: string): Refusal {
  return refuse('invalid_node', pointer, reason)
}

/** The block that a warning at a pointer is about. */
export function warnedBlock({ newBlockId, blockId }: Pointer): string | null {
  return newBlockId ?? blockId
}

/** A refusal of a body at a pointer, with the details of decisions 7. */
export function refuse(code: BodyCode, pointer: Pointer, reason: string): Refusal {
  const details = {
    path: pointer.path,
    reason,
    ...(pointer.blockId === null ? {} : { block_id: pointer.blockId }),
    ...(pointer.operationIndex === undefined ? {} : { operation_index: pointer.operationIndex }),
  }
  return new Refusal(code, { status: 422, details })
}

/** The codes whose details point at a node of a body; all of them answer with 422 here. */
type BodyCode =
  | 'attachment_not_found'
  | 'block_id_mismatch'
  | 'block_not_found'
  | 'duplicate_block_id'
  | 'invalid_block_id'
  | 'invalid_node'
  | 'invalid_position'
