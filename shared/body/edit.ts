import { Refusal } from '../errors/errors.ts'
import { BlockLines, type BlockPath, blockIds, nodeAt } from './block-lines.ts'
import { currentBlockHash } from './blocks.ts'
import type { Warning } from './document.ts'
import { type Normalised, normaliseBlocks, normaliseSingleBlock } from './normalise.ts'
import { type NormaliseContext, type Pointer, refuse } from './normalise-state.ts'
import { type EditPointer, gapAt, gapOf, locate, type Position, pointerAt, putAt, takeOut } from './placement.ts'

/**
 * A change that one operation of a request makes to the blocks of a body. `if_match` is the hash that the block must
 * have before the first operation.
 */
export type Operation =
  | { op: 'insert'; position: Position; nodes: unknown[] }
  | { op: 'replace'; block_id: string; node: unknown; if_match?: string }
  | { op: 'patch'; block_id: string; attrs?: unknown; content?: unknown }
  | { op: 'delete'; block_id: string; if_match?: string }

/** A result of one operation that has the ids of the blocks which the operation inserted, changed or deleted. */
export type OperationResult = { index: number; op: Operation['op']; block_ids: string[] }

/**
 * A result of an edit that has the body afterwards, the result of each operation, and the attachments that the new
 * nodes name.
 */
export type EditResult = {
  body: BlockLines
  results: OperationResult[]
  warnings: Warning[]
  attachments: Map<string, Pointer>
}

/**
 * Applies operations in order to a stored body, all or nothing. Every `if_match` is compared with the body before the
 * batch. Each operation sees the result of the operations before it.
 *
 * Refusals carry a JSON pointer below `/operations/<index>` and `operation_index`: 409 `version_conflict`; 422
 * `block_not_found`, `heading_not_found`, `invalid_position`, `block_id_mismatch` and the codes with which
 * `normaliseDocument` refuses a node.
 */
export function applyBatch(
  before: { lines: readonly string[]; version: string },
  operations: readonly Operation[],
): EditResult {
  const { lines, version } = before
  const result = newResult(lines)
  for (const [index, operation] of operations.entries()) requireHash(result.body, { operation, index, version })
  const isKnown = knownIds(lines, operations)
  for (const [index, operation] of operations.entries()) {
    apply(result, operation, { path: `/operations/${index}`, operationIndex: index, isKnown })
  }
  return result
}

/**
 * Applies the operation of a block endpoint to a stored body. Refuses with 422 `block_not_found`, `heading_not_found`,
 * `invalid_position`, `block_id_mismatch` or the codes with which `normaliseDocument` refuses a node. The details have
 * no `operation_index`. The caller has compared the guard before.
 */
export function applyOperation(lines: readonly string[], operation: Operation): EditResult {
  const result = newResult(lines)
  apply(result, operation, { path: '', isKnown: knownIds(lines, [operation]) })
  return result
}

type Apply<O extends Operation> = (result: EditResult, operation: O, pointer: EditPointer) => string[]

function newResult(lines: readonly string[]): EditResult {
  return { body: new BlockLines(lines), results: [], warnings: [], attachments: new Map() }
}

// True for a block id that the caller can know: the id is in the stored body or in the request. Refusals do not name an
// id that an earlier operation of the request has made, because such an id means nothing to the caller.
function knownIds(lines: readonly string[], operations: readonly Operation[]): (id: string) => boolean {
  return (id) => lines.some((line) => line.includes(id)) || JSON.stringify(operations).includes(id)
}

function apply(result: EditResult, operation: Operation, pointer: EditPointer): void {
  const run = appliers[operation.op] as Apply<Operation>
  const block_ids = run(result, operation, pointer)
  result.results.push({ index: pointer.operationIndex ?? 0, op: operation.op, block_ids })
}

const appliers: { [O in Operation['op']]: Apply<Extract<Operation, { op: O }>> } = {
  insert: (result, { position, nodes }, pointer) => {
    const { body } = result
    const inNodes = pointerAt(pointer, '/nodes')
    const fresh = take(result, normaliseBlocks(nodes, contextAt(inNodes)))
    requireFree(body, fresh.givenIds, { pointer: inNodes, own: new Set() })
    const inPosition = pointerAt(pointer, '/position')
    const gap = gapAt(body, position, inPosition)
    putAt(body, gap, { count: 0, blocks: fresh.result, pointer: inPosition })
    return fresh.result.map((block) => block.attrs.id)
  },
  replace: (result, { block_id: id, node }, pointer) => {
    const blockPath = locate(result.body, id, pointerAt(pointer, '/block_id'))
    return replaceBlock(result, { id, blockPath, node, pointer: pointerAt(pointer, '/node') })
  },
  patch: (result, { block_id: id, attrs, content }, pointer) => {
    const blockPath = locate(result.body, id, pointerAt(pointer, '/block_id'))
    const current = nodeAt(result.body.block(blockPath.position), blockPath.path)
    const node = {
      type: current.type,
      attrs: { ...current.attrs, ...(attrs as object | undefined) },
      content: content === undefined ? current.content : content,
    }
    return replaceBlock(result, { id, blockPath, node, pointer })
  },
  delete: (result, { block_id: id }, pointer) => {
    takeOut(result.body, locate(result.body, id, pointerAt(pointer, '/block_id')), pointer)
    return [id]
  },
}

type Replacement = { id: string; blockPath: BlockPath; node: unknown; pointer: EditPointer }

// The block keeps its id and its position, whatever else the new node changes.
function replaceBlock(result: EditResult, { id, blockPath, node, pointer }: Replacement): string[] {
  const { body } = result
  const old = nodeAt(body.block(blockPath.position), blockPath.path)
  const fresh = take(result, normaliseSingleBlock(withId(node, id, pointer), contextAt(pointer)))
  requireFree(body, fresh.givenIds, { pointer, own: new Set(blockIds(old)) })
  putAt(body, gapOf(blockPath), { count: 1, blocks: [fresh.result], pointer })
  return [id]
}

function withId(node: unknown, id: string, pointer: EditPointer): unknown {
  const { attrs } = (node ?? {}) as { attrs?: unknown }
  if (typeof node !== 'object' || node === null || (attrs != null && typeof attrs !== 'object')) return node
  const given = (attrs as { id?: unknown } | null | undefined)?.id
  if (given !== undefined && given !== null && given !== id) {
    throw refuse('block_id_mismatch', { ...pointer, blockId: id }, 'attrs.id differs from the id of the block')
  }
  return { ...node, attrs: { ...(attrs as object | null | undefined), id } }
}

function contextAt({ path, operationIndex }: EditPointer): NormaliseContext {
  return { from: 'json', path, operationIndex }
}

function take<T>(result: EditResult, fresh: Normalised<T>): Normalised<T> {
  result.warnings.push(...fresh.warnings)
  for (const [id, pointer] of fresh.attachments) {
    if (!result.attachments.has(id)) result.attachments.set(id, pointer)
  }
  return fresh
}

type Owner = { pointer: EditPointer; own: ReadonlySet<string> }

/**
 * Refuses with 422 `duplicate_block_id` ids that the body has already. `own` are ids of the block that is replaced.
 */
export function requireFree(body: BlockLines, ids: string[], { pointer, own }: Owner): void {
  const used = ids.find((id) => !own.has(id) && body.find(id) !== null)
  if (used === undefined) return
  throw refuse('duplicate_block_id', { ...pointer, blockId: used }, 'the id is in use in the document')
}

/** An operation of a request that may guard a block by its hash, with its index and the version of the body. */
type Guarded = { operation: { op: string; block_id?: string; if_match?: string }; index: number; version: string }

/** Refuses with 409 `version_conflict` when the block of an operation has not the hash that the operation wants. */
export function requireHash(body: BlockLines, { operation, index, version }: Guarded): void {
  const { block_id, if_match } = operation
  const wanted = if_match?.replace(/^"(.*)"$/, '$1')
  if (wanted === undefined || block_id === undefined) return
  const hash = currentBlockHash(body, block_id)
  // A block that does not exist is not refused here, because the operation itself refuses to work on it.
  if (hash === null || wanted === hash || wanted === '*') return
  throw new Refusal('version_conflict', {
    details: { provided: wanted, current_version: version, current_hash: hash, operation_index: index, block_id },
    headers: { ETag: `"${version}"` },
  })
}
