import { Refusal } from '../errors/errors.ts'
import { codePoints } from '../schema/code-points.ts'
import { blockIdPattern, newId } from '../schema/ids.ts'
import { type BodyLimits, maximumNodes } from './body-limits.ts'
import type { Warning } from './document.ts'

/**
 * A context of the normaliser that has the format of the input and the limits of the body. An image whose address may
 * not be shown is left out of Markdown with a warning, and is refused in JSON. A limit that is absent does not apply.
 */
export type NormaliseContext = Partial<BodyLimits> & {
  from: 'json' | 'markdown'
  /**
   * The JSON pointer of the input within the request, which begins each `path` in details. For Markdown it is the
   * pointer of the text.
   */
  path?: string
  /** The index of the operation that the input belongs to, in a batch. */
  operationIndex?: number | undefined
}

/**
 * A pointer into the input of the normaliser, for refusals and warnings. It has the JSON pointer, and the id of the
 * nearest block whose id the caller knows. In a batch, `operationIndex` is the index of the operation. `newBlockId` is
 * the id of the nearest block if the normaliser has made this id. Only a warning names a new id, because a warning
 * belongs to a body that is stored. After a refusal no block has the new id.
 */
export type Pointer = {
  path: string
  blockId: string | null
  newBlockId?: string | undefined
  operationIndex?: number | undefined
}

/** A map of the attachments that nodes name, each with the pointer of its first mention. */
export type NamedAttachments = ReadonlyMap<string, Pointer>

/** A state of one pass of the normaliser, which collects what the pass finds. */
export type NormaliseState = {
  context: NormaliseContext
  warnings: Warning[]
  ids: Set<string>
  attachments: Map<string, Pointer>
  nodes: number
  characters: number
  /** A lower bound of the bytes of the stored lines. */
  bytes: number
}

const blockId = new RegExp(blockIdPattern)

/** A fresh state for one pass. */
export function newState(context: NormaliseContext): NormaliseState {
  return { context, warnings: [], ids: new Set(), attachments: new Map(), nodes: 0, characters: 0, bytes: 0 }
}

/**
 * The id of a block: the given id if it is valid and free, a new id if none is given. Refuses with 422
 * `invalid_block_id` or `duplicate_block_id`.
 */
export function adoptBlockId(given: unknown, pointer: Pointer, state: NormaliseState): string {
  if (given === undefined || given === null) return newId('block')
  if (typeof given !== 'string' || !blockId.test(given)) {
    throw refuse('invalid_block_id', pointer, 'a block id is block_ and a ULID in upper case')
  }
  if (state.ids.has(given)) throw refuse('duplicate_block_id', { ...pointer, blockId: given }, 'the id occurs twice')
  state.ids.add(given)
  return given
}

/** Counts a node other than a text. Refuses with 422 `invalid_node` once the body exceeds `maximumNodes`. */
export function countNode(state: NormaliseState, pointer: Pointer): void {
  state.nodes += 1
  if (state.nodes > maximumNodes) throw refuseNode(pointer, `a document holds at most ${maximumNodes} nodes`)
}

/** Counts the code points of a text. */
export function countCharacters(state: NormaliseState, text: string): void {
  state.characters += codePoints(text)
}

/**
 * Refuses with 422 `invalid_node` a text with U+0000 or a lone surrogate, which neither PostgreSQL nor Yjs can keep.
 */
export function checkText(text: string, pointer: Pointer): void {
  if (!text.isWellFormed()) throw refuseNode(pointer, 'the text has a lone surrogate')
  if (text.includes('\u0000')) throw refuseNode(pointer, 'the text has a U+0000')
}

/** The refusal 422 `invalid_node` of a node at a pointer. */
export function refuseNode(pointer: Pointer, reason: string): Refusal {
  return refuse('invalid_node', pointer, reason)
}

/** The block that a warning at a pointer is about. */
export function warnedBlock({ newBlockId, blockId }: Pointer): string | null {
  return newBlockId ?? blockId
}

/** The refusal of a node at a pointer, with status 422. */
export function refuse(code: BodyCode, pointer: Pointer, reason: string): Refusal {
  const details = {
    path: pointer.path,
    reason,
    ...(pointer.blockId === null ? {} : { block_id: pointer.blockId }),
    ...(pointer.operationIndex === undefined ? {} : { operation_index: pointer.operationIndex }),
  }
  return new Refusal(code, { status: 422, details })
}

/**
 * A code of a refusal whose details point at a node of a body. In this folder each of these codes has the status 422.
 */
type BodyCode =
  | 'attachment_not_found'
  | 'block_id_mismatch'
  | 'block_not_found'
  | 'duplicate_block_id'
  | 'invalid_block_id'
  | 'invalid_node'
  | 'invalid_position'
