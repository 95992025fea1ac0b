import type { Api } from './api.ts'
import { KnowledgeBaseError } from './errors.ts'
import type { components } from './openapi.d.ts'
import { pagesOf } from './pages.ts'
import { pause } from './pauses.ts'

/** A block as it is read, with its `node`, its `text` and its `heading_path`. */
export type Block = components['schemas']['Block']

/** A node as it is written. */
export type NodeInput = components['schemas']['TiptapNodeInput']

/**
 * Decides about one block: a node replaces it, null deletes it, undefined leaves it. The node gets the id of the block.
 * The function is called again with the new block when somebody else has changed the same block meanwhile.
 */
export type BlockChange = (block: Block) => Change | Promise<Change>

type Change = NodeInput | null | undefined

/** Options of an edit. */
export type EditOptions = {
  /** Only this block, at any depth; by default every top-level block. */
  blockId?: string | undefined
  /** How often the edit is tried again after others have changed the same block; 10 by default. */
  maxConflicts?: number | undefined
  signal?: AbortSignal | undefined
}

/** What an edit has done: the version of the body, and the blocks that it has replaced or deleted. */
export type Edited = { version: string; changedBlockIds: string[] }

type Operation = components['schemas']['ReplaceOperation'] | components['schemas']['DeleteOperation']

// As many operations as one batch takes.
const batchSize = 100

/**
 * Edits a document by a function of its blocks. Each block is guarded by its own hash, so edits elsewhere in the
 * document do not disturb. All changes are one write; beyond 100 they are several. Throws `version_conflict` when the
 * same block keeps changing, and `block_not_found` when the block of `blockId` is gone.
 */
export async function editBlocks(
  api: Api,
  documentId: string,
  { change, ...options }: EditOptions & { change: BlockChange },
): Promise<Edited> {
  const { maxConflicts = 10, signal } = options
  const decisions: Decisions = { change, made: new Map(), written: new Set() }
  for (let conflicts = 0; ; ) {
    const blocks = await readBlocks(api, documentId, options)
    const operations = (await operationsFor(blocks, decisions)).slice(0, batchSize)
    const version = blocks[0]?.version ?? ''
    if (operations.length === 0) return { version, changedBlockIds: [...decisions.written] }
    try {
      const path = { id: documentId }
      const { data } = await api.POST('/documents/{id}/batch', { params: { path }, body: { operations }, signal })
      for (const { block_id } of operations) decisions.written.add(block_id)
      if (operations.length < batchSize) return { version: data.version, changedBlockIds: [...decisions.written] }
    } catch (error) {
      if (!isConflict(error) || conflicts >= maxConflicts) throw error
      conflicts += 1
      await pause(Math.random() * 50 * conflicts, signal)
    }
  }
}

/** What the caller's function has decided, by the hash of each block, and the ids of the blocks that are written. */
type Decisions = { change: BlockChange; made: Map<string, Change>; written: Set<string> }

async function readBlocks(api: Api, documentId: string, { blockId, signal }: EditOptions): Promise<Block[]> {
  if (blockId !== undefined) {
    const path = { id: documentId, blockId }
    return [(await api.GET('/documents/{id}/blocks/{blockId}', { params: { path }, signal })).data]
  }
  const blocks = new Map<string, Block>()
  for await (const { data } of pagesOf(api, '/documents/{id}/blocks', {
    params: { path: { id: documentId } },
    signal,
  })) {
    for (const block of data) blocks.set(block.block_id, block)
  }
  return [...blocks.values()]
}

async function operationsFor(blocks: Block[], { change, made, written }: Decisions): Promise<Operation[]> {
  const operations: Operation[] = []
  for (const block of blocks) {
    const { block_id, hash, node } = block
    if (written.has(block_id)) continue
    if (!made.has(hash)) made.set(hash, await change(block))
    const next = made.get(hash)
    if (next === undefined || JSON.stringify(next) === JSON.stringify(node)) continue
    if (next === null) operations.push({ op: 'delete', block_id, if_match: hash })
    else operations.push({ op: 'replace', block_id, if_match: hash, node: next })
  }
  return operations
}

// A batch names a block that somebody has deleted meanwhile with 422.
function isConflict(error: unknown): boolean {
  if (!(error instanceof KnowledgeBaseError)) return false
  return error.code === 'version_conflict' || (error.code === 'block_not_found' && error.status === 422)
}
