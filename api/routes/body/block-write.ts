import { BlockLines } from '../../../shared/body/block-lines.ts'
import { type BlockDescription, currentBlockHash, describeBlock } from '../../../shared/body/blocks.ts'
import { textVersion } from '../../../shared/body/canonical.ts'
import { withChange } from '../../../shared/body/change.ts'
import type { Edited } from '../../../shared/body/commit.ts'
import { answerWarnings } from '../../../shared/body/document.ts'
import {
  applyBatch,
  applyOperation,
  type EditResult,
  type Operation,
  type OperationResult,
} from '../../../shared/body/edit.ts'
import { HeadingPaths } from '../../../shared/body/outline.ts'
import { type StoredBody, textComputation } from '../../../shared/body/stored-body.ts'
import type { Ahead } from '../../../shared/computations/ahead.ts'
import { type Computation, computation } from '../../../shared/computations/computation.ts'
import { Refusal } from '../../../shared/errors/errors.ts'

/**
 * An edit that a request asks for. `input` is JSON text: the body of the request or, for a batch, only its operations.
 */
type BlockEdit =
  | { op: 'insert' | 'batch'; input: string }
  | { op: 'change'; blockId: string; input: string }
  | { op: 'delete'; blockId: string }

/** The new body that an edit has made, for `commitBody`, with the members of the answer to the request. */
export type BlockWrite = Edited & {
  results: readonly OperationResult[]
  warnings: ReturnType<typeof answerWarnings>
  /** The inserted or changed blocks, each as JSON text with the members that answers of the API show. */
  blocks: readonly string[]
}

/**
 * Edits the blocks of a body. The operations of a batch have their effect together or not at all. Refuses faulty nodes,
 * wrong ids and positions, and operations on blocks that are missing or have changed. `applyBatch` in
 * `shared/body/edit.ts` lists the codes.
 */
export function editBlocks(
  ahead: Ahead,
  edit: BlockEdit & { current: StoredBody; documentId: string },
): Promise<BlockWrite> {
  const { current, ...named } = edit
  return ahead.result(editing, { blockId: '', input: '{}', ...named, text: current.text, version: current.version })
}

/** Returns the hash of a block. Refuses with 404 `block_not_found` when the body has no such block. */
export async function findBlock(
  ahead: Ahead,
  { current, blockId }: { current: StoredBody; blockId: string },
): Promise<string> {
  const hash = await ahead.result(hashing, { text: current.text, blockId })
  if (hash === null) throw new Refusal('block_not_found', { details: { id: blockId } })
  return hash
}

/** A block with the members that answers of the API show. */
export function presentBlock(block: BlockDescription, document: { id: string; version: string }) {
  return {
    ...block,
    document_id: document.id,
    uri: `svc://doc/${document.id}#block=${block.block_id}`,
    version: document.version,
  }
}

type Editing = {
  text: string
  version: string
  documentId: string
  op: BlockEdit['op']
  blockId: string
  input: string
}

/** Edits the blocks of a body that is given as text. A thread imports this function by its name. @public */
export function editText(edit: Editing): BlockWrite {
  const { body, results, warnings, attachments } = edited(edit)
  const text = body.toLines().join('\n')
  const shown = { insert: results[0]?.block_ids ?? [], change: [edit.blockId], delete: [], batch: [] }[edit.op]
  const blocks = presented(body, { ids: shown, document: { id: edit.documentId, text } })
  return withChange(edit.text, { text, attachments, results, warnings: answerWarnings(warnings), blocks })
}

/**
 * Returns the hash of a block of a stored body; null when the body has no such block. A thread imports this function by
 * its name. @public
 */
export function hashBlock({ text, blockId }: { text: string; blockId: string }): string | null {
  return currentBlockHash(new BlockLines(text.split('\n')), blockId)
}

// The largest number of characters of JSON that is edited without a thread. The edit takes less than 15 ms, even in one
// block.
const smallLength = 256 * 1024

const module = import.meta.url
const hashing = textComputation({ module, run: hashBlock, smallLength })
const editing: Computation<Editing, BlockWrite> = computation({
  module,
  run: editText,
  isSmall: ({ text, input }) => text.length + input.length <= smallLength,
  cpuMs: ({ text, input }) => 2000 + (text.length + input.length) * 0.01,
})

function edited({ text, version, op, blockId, input }: Editing): EditResult {
  const lines = text.split('\n')
  if (op === 'batch') return applyBatch({ lines, version }, JSON.parse(input))
  return applyOperation(lines, operationOf({ op, blockId, members: JSON.parse(input) }))
}

// Reads the members of a request as an operation. The body of a change holds either `node`, which replaces the block,
// or the members to change.
function operationOf(edit: { op: 'insert' | 'change' | 'delete'; blockId: string; members: object }): Operation {
  const { op, blockId: block_id, members } = edit
  if (op === 'insert') return { op, ...(members as Pick<Operation & { op: 'insert' }, 'position' | 'nodes'>) }
  if (op === 'delete') return { op, block_id }
  const { node, ...others } = members as { node?: unknown; attrs?: unknown; content?: unknown }
  return node === undefined ? { op: 'patch', block_id, ...others } : { op: 'replace', block_id, node }
}

function presented(
  body: BlockLines,
  { ids, document }: { ids: readonly string[]; document: { id: string; text: string } },
): string[] {
  if (ids.length === 0) return []
  const written = { id: document.id, version: textVersion(document.text) }
  const paths = new HeadingPaths(body)
  return ids.map((id) => {
    const block = describeBlock(body, id, paths)
    if (block === null) throw new Error(`block ${id} is missing from the body it was just written to`)
    return JSON.stringify(presentBlock(block, written))
  })
}
