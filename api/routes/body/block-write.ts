import { BlockLines } from '../../../shared/body/block-lines.ts'
import { type BlockDescription, currentBlockHash, describeBlock } from '../../../shared/body/blocks.ts'
import type { Edited } from '../../../shared/body/commit.ts'
import type { Warning } from '../../../shared/body/document.ts'
import {
  applyBatch,
  applyOperation,
  type EditResult,
  type Operation,
  type OperationResult,
} from '../../../shared/body/edit.ts'
import { HeadingPaths } from '../../../shared/body/outline.ts'
import type { StoredBody } from '../../../shared/body/stored-body.ts'
import { type ErrorDetails, Refusal } from '../../../shared/errors/errors.ts'

/** An edit of blocks as the commit door takes it, with what its answer shows. */
export type BlockWrite = Edited & {
  results: readonly OperationResult[]
  warnings: readonly Warning[]
  /** A block of the edited body; it must be there. */
  describe: (blockId: string) => BlockDescription
}

/** Applies one operation to a body. */
export function blockWrite(current: StoredBody, operation: Operation): BlockWrite {
  return asWrite(applyOperation(current.lines, operation))
}

/** Applies a batch to a body, all or nothing; the 409 of a block guard tells the version of the body as well. */
export function batchWrite(current: StoredBody, operations: readonly Operation[]): BlockWrite {
  try {
    return asWrite(applyBatch(current.lines, operations))
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'version_conflict') throw error
    const details = { current_version: current.version, ...error.details } as ErrorDetails<'version_conflict'>
    throw new Refusal('version_conflict', { details, headers: { ETag: `"${current.version}"` }, cause: error })
  }
}

/** The hash of a block that the path names; 404 when the body has none. */
export function findBlock(current: StoredBody, blockId: string): string {
  const hash = currentBlockHash(new BlockLines(current.lines), blockId)
  if (hash === null) throw new Refusal('block_not_found', { details: { id: blockId } })
  return hash
}

/** A block as the API returns it (decisions 2.5). */
export function presentBlock(block: BlockDescription, document: { id: string; version: string }) {
  return {
    ...block,
    document_id: document.id,
    uri: `svc://doc/${document.id}#block=${block.block_id}`,
    version: document.version,
  }
}

function asWrite({ body, results, warnings, attachments }: EditResult): BlockWrite {
  const paths = new HeadingPaths(body)
  return {
    lines: body.toLines(),
    attachments,
    results,
    warnings,
    describe(blockId) {
      const block = describeBlock(body, blockId, paths)
      if (block === null) throw new Error(`block ${blockId} is missing from the body it was just written to`)
      return block
    },
  }
}
