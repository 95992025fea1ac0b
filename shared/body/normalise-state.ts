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
}

/**
 * Where the normaliser stands: the JSON pointer, and the nearest block with an id that the caller knows; in a batch also
 * which operation it was. `newBlockId` is the nearest block if its id is made here: only a warning, which belongs to a
 * body that is stored, names it.
 */
export type Place = { path: string; blockId: string | null; newBlockId?: string | undefined; operationIndex?: number }

/** The attachments that nodes name, each with where it is named first. */
export type NamedAttachments = ReadonlyMap<string, Place>

/** What the normaliser collects on its way. */
export type NormaliseState = {
  context: NormaliseContext
  warnings: Warning[]
  ids: Set<string>
  attachments: Map<string, Place>
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
export function adoptBlockId(given: unknown, place: Place, state: NormaliseState): string {
  if (given === undefined || given === null) return newId('block')
  if (typeof given !== 'string' || !blockId.test(given)) {
    throw refuse('invalid_block_id', place, 'a block id is block_ and a ULID in upper case')
  }
  if (state.ids.has(given)) throw refuse('duplicate_block_id', { ...place, blockId: given }, 'the id occurs twice')
  state.ids.add(given)
  return given
}

/** Counts a node that is no text; refuses the one that is too many. */
export function countNode(state: NormaliseState, place: Place): void {
  state.nodes += 1
  if (state.nodes > maximumNodes) throw refuseNode(place, `a document holds at most ${maximumNodes} nodes`)
}

/** Counts the code points of a text against the cap of the context. */
export function countCharacters(state: NormaliseState, text: string): void {
  state.characters += codePoints(text)
}

/** Refuses what neither PostgreSQL nor Yjs can keep: U+0000 and lone surrogates. */
export function checkText(text: string, place: Place): void {
  if (!text.isWellFormed()) throw refuseNode(place, 'the text has a lone surrogate')
  if (text.includes('\u0000')) throw refuseNode(place, 'the text has a U+0000')
}

/** 422 `invalid_node` at a place. */
export function refuseNode(place: Place, reason: string): Refusal {
  return refuse('invalid_node', place, reason)
}

/** The block that a warning at a place is about. */
export function warnedBlock({ newBlockId, blockId }: Place): string | null {
  return newBlockId ?? blockId
}

/** A refusal of a body at a place, with the details of decisions 7. */
export function refuse(
  code: 'attachment_not_found' | 'duplicate_block_id' | 'invalid_block_id' | 'invalid_node',
  place: Place,
  reason: string,
): Refusal {
  const details = {
    path: place.path,
    reason,
    ...(place.blockId === null ? {} : { block_id: place.blockId }),
    ...(place.operationIndex === undefined ? {} : { operation_index: place.operationIndex }),
  }
  return new Refusal(code, { status: 422, details })
}
