import { type ErrorDetails, Refusal } from '../errors/errors.ts'
import { BlockLines, blockIds, type Location, nodeAt } from './block-lines.ts'
import { currentBlockHash } from './blocks.ts'
import type { BlockNode, Warning } from './document.ts'
import { type Normalised, normaliseBlocks } from './normalise.ts'
import type { Place } from './normalise-state.ts'
import { gapAt, gapOf, locate, type Position, putAt, takeOut } from './placement.ts'

/** One change of a body's blocks; `if_match` is the hash that the block must have before the first operation. */
export type Operation =
  | { op: 'insert'; position: Position; nodes: unknown[] }
  | { op: 'replace'; block_id: string; node: unknown; if_match?: string }
  | { op: 'patch'; block_id: string; attrs?: unknown; content?: unknown }
  | { op: 'delete'; block_id: string; if_match?: string }

/** What one operation did: the ids of the blocks it put in, changed or took out. */
export type OperationResult = { index: number; op: Operation['op']; block_ids: string[] }

/** The body after an edit, what the edit did, and the attachments that the new nodes name. */
export type EditResult = {
  body: BlockLines
  results: OperationResult[]
  warnings: Warning[]
  attachments: Map<string, Place>
}

/**
 * Applies operations in order to the stored lines of a body, all or nothing (decisions 2.5): every `if_match` is held
 * against the body as it was, then each operation sees what the ones before it made. Refusals carry a JSON pointer
 * under the operation's input and, in a batch, `operation_index`: 409 `version_conflict`; 422 `block_not_found`,
 * `heading_not_found`, `invalid_position`, `block_id_mismatch` and those of the normaliser.
 */
export function applyBatch(lines: readonly string[], operations: readonly Operation[]): EditResult {
  const body = new BlockLines(lines)
  for (const [index, operation] of operations.entries()) requireHash(body, operation, index)
  const result: EditResult = { body, results: [], warnings: [], attachments: new Map() }
  for (const [index, operation] of operations.entries()) {
    try {
      apply(result, operation, { index, path: `/operations/${index}` })
      for (const place of result.attachments.values()) place.operationIndex ??= index
    } catch (error) {
      throw error instanceof Refusal ? withIndex(withKnownBlock(error, { lines, operations }), index) : error
    }
  }
  return result
}

/** Applies the one operation of a block endpoint; as `applyBatch`, without `operation_index`. */
export function applyOperation(lines: readonly string[], operation: Operation): EditResult {
  const result: EditResult = { body: new BlockLines(lines), results: [], warnings: [], attachments: new Map() }
  try {
    apply(result, operation, { index: 0, path: '' })
  } catch (error) {
    throw error instanceof Refusal ? withKnownBlock(error, { lines, operations: [operation] }) : error
  }
  return result
}

type At = { index: number; path: string }
type Apply<O extends Operation['op']> = (
  result: EditResult,
  operation: Extract<Operation, { op: O }>,
  path: string,
) => string[]

function apply(result: EditResult, operation: Operation, { index, path }: At): void {
  const run = appliers[operation.op] as (result: EditResult, operation: Operation, path: string) => string[]
  result.results.push({ index, op: operation.op, block_ids: run(result, operation, path) })
}

const appliers: { [O in Operation['op']]: Apply<O> } = {
  insert: (result, { position, nodes }, path) => {
    const fresh = take(result, normaliseBlocks(nodes, { from: 'json', path: `${path}/nodes` }))
    requireFree(result.body, fresh.givenIds, { path: `${path}/nodes`, own: new Set() })
    const put = () => putAt(result.body, gapAt(result.body, position), { count: 0, blocks: fresh.result })
    pointingAt(`${path}/position`, put)
    return fresh.result.map((block) => block.attrs.id)
  },
  replace: (result, { block_id, node }, path) => {
    const location = locateNamed(result.body, block_id, path)
    return replaceBlock(result, { id: block_id, location, node, path: `${path}/node` })
  },
  patch: (result, { block_id, attrs, content }, path) => {
    const location = locateNamed(result.body, block_id, path)
    const current = nodeAt(result.body.block(location.position), location.path)
    const node = {
      type: current.type,
      attrs: { ...current.attrs, ...(attrs as object | undefined) },
      content: content === undefined ? current.content : content,
    }
    return replaceBlock(result, { id: block_id, location, node, path })
  },
  delete: (result, { block_id }, path) => {
    const location = locateNamed(result.body, block_id, path)
    pointingAt(path, () => takeOut(result.body, location))
    return [block_id]
  },
}

// The block keeps its id and place, whatever else the new node changes.
function replaceBlock(
  result: EditResult,
  { id, location, node, path }: { id: string; location: Location; node: unknown; path: string },
): string[] {
  const { body } = result
  const old = nodeAt(body.block(location.position), location.path)
  const fresh = take(result, normaliseOne(withId(node, { id, path }), path))
  requireFree(body, fresh.givenIds, { path, own: new Set(blockIds(old)) })
  pointingAt(path, () => putAt(body, gapOf(location), { count: 1, blocks: fresh.result }))
  return [id]
}

function withId(node: unknown, { id, path }: { id: string; path: string }): unknown {
  const { attrs } = (node ?? {}) as { attrs?: unknown }
  if (typeof node !== 'object' || node === null || (attrs != null && typeof attrs !== 'object')) return node
  const given = (attrs as { id?: unknown } | null | undefined)?.id
  if (given !== undefined && given !== null && given !== id) {
    const reason = 'attrs.id differs from the id of the block'
    throw new Refusal('block_id_mismatch', { details: { path, reason, block_id: id } })
  }
  return { ...node, attrs: { ...(attrs as object | null | undefined), id } }
}

function locateNamed(body: BlockLines, id: string, path: string): Location {
  return pointingAt(`${path}/block_id`, () => locate(body, id))
}

// What only knows the body refuses without saying which member of the request it was.
function pointingAt<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Refusal) || error.details?.path !== '') throw error
    throw rethrown(error, { ...error.details, path })
  }
}

// The node is normalised as a list of one; its pointer names the node itself.
function normaliseOne(node: unknown, path: string): Normalised<BlockNode[]> {
  const pointer = (inner: string) => path + inner.replace(/^\/0/, '')
  try {
    const fresh = normaliseBlocks([node], { from: 'json' })
    const places = [...fresh.attachments].map(([id, place]) => [id, { ...place, path: pointer(place.path) }] as const)
    return { ...fresh, attachments: new Map(places) }
  } catch (error) {
    if (!(error instanceof Refusal) || typeof error.details?.path !== 'string') throw error
    throw rethrown(error, { ...error.details, path: pointer(error.details.path) })
  }
}

function take(result: EditResult, fresh: Normalised<BlockNode[]>): Normalised<BlockNode[]> {
  result.warnings.push(...fresh.warnings)
  for (const [id, place] of fresh.attachments) {
    if (!result.attachments.has(id)) result.attachments.set(id, { ...place })
  }
  return fresh
}

function requireFree(body: BlockLines, ids: string[], { path, own }: { path: string; own: ReadonlySet<string> }): void {
  const used = ids.find((id) => !own.has(id) && body.find(id) !== null)
  if (used === undefined) return
  const details = { path, reason: 'the id is in use in the document', block_id: used }
  throw new Refusal('duplicate_block_id', { details })
}

function requireHash(body: BlockLines, operation: Operation, index: number): void {
  const wanted = 'if_match' in operation ? operation.if_match?.replace(/^"(.*)"$/, '$1') : undefined
  if (wanted === undefined || !('block_id' in operation)) return
  const hash = currentBlockHash(body, operation.block_id)
  // A block that is not there is reported by the operation itself.
  if (hash === null || wanted === hash || wanted === '*') return
  const { block_id } = operation
  // The caller of `applyBatch` adds `current_version`, which the lines of a body do not tell.
  const details = { provided: wanted, current_hash: hash, operation_index: index, block_id }
  throw new Refusal('version_conflict', { details: details as ErrorDetails<'version_conflict'> })
}

type Known = { lines: readonly string[]; operations: readonly Operation[] }

// An id that was made for an earlier operation of this very request means nothing to the caller.
function withKnownBlock(error: Refusal, { lines, operations }: Known): Refusal {
  const { block_id: id, ...details } = error.details ?? {}
  if (typeof id !== 'string' || lines.some((line) => line.includes(id))) return error
  return JSON.stringify(operations).includes(id) ? error : rethrown(error, details)
}

function withIndex(error: Refusal, index: number): Refusal {
  return rethrown(error, { ...error.details, operation_index: index })
}

function rethrown(error: Refusal, details: Record<string, unknown>): Refusal {
  return new Refusal(error.code, { status: error.status, message: error.message, details, cause: error })
}
