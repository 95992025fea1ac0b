import { type Caller, requireWriter } from '../auth/caller.ts'
import type { Ahead } from '../computations/ahead.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { lockSource } from '../jobs/projections/queries.ts'
import { requirePreconditions, type VersionGuard } from '../requests/version-guard.ts'
import { lockContainer } from './container-queries.ts'
import { ratioOf } from './deterministic.ts'
import { endOpenSummaryJobs } from './job-queries.ts'
import { presentStored, summaryTag } from './present.ts'
import { lockSummary, type SavedSummary, type StoredSummary, saveSummary } from './queries.ts'
import type { TaggedSummary } from './read.ts'
import type { Coverage, SummaryInput } from './schema.ts'
import { documentIdsOf, findSource, requireHeading, requireThere, type SummarySource } from './source.ts'
import { findSummaryTarget, type SummaryTarget, type TargetRequest } from './target.ts'

/** The transaction of a write, and the `Ahead` that gives the transaction the outputs of computations. */
export type Writing = { tx: Transaction; ahead: Ahead }

/**
 * The target of a write and the source of its summary. `lockTarget` has locked the document, folder or knowledge base.
 */
export type LockedTarget = { target: SummaryTarget; source: SummarySource | 'not_a_heading' }

/**
 * Finds and locks the target of a write. Refuses with 404 when the target is missing, and with 403 for viewers. A
 * document is locked FOR SHARE, so that its version stays until the commit. A folder or knowledge base is only kept
 * from being deleted. A lock on its version would have to lock thousands of documents.
 */
export async function lockTarget(
  { tx, ahead }: Writing,
  input: { caller: Caller; request: TargetRequest },
): Promise<LockedTarget> {
  const target = await findSummaryTarget(tx, input)
  if (target.type === 'document' || target.type === 'section') {
    await lockSource(tx, { workspace_id: target.workspaceId, document_id: target.id })
  } else {
    await lockContainer(tx, target)
  }
  const source = requireThere(await findSource(tx, { target, computeText: ahead.result }), target)
  requireWriter(input.caller, target.workspaceId)
  return { target, source }
}

/** Refuses with 409 `source_version_changed` unless the source has the version that the caller saw. */
export function requireSourceVersion(source: SummarySource | 'not_a_heading', provided: string | undefined): void {
  if (source === 'not_a_heading' || provided === undefined || provided === source.version) return
  throw new Refusal('source_version_changed', { details: { provided, current_version: source.version } })
}

/**
 * Stores a summary in place of `over`, the summary that the caller has locked by `lockSummary`. Ends the open jobs of
 * the target, because their results would replace the new summary.
 */
export async function replaceSummary(
  tx: Transaction,
  input: { target: SummaryTarget; summary: SavedSummary; over: StoredSummary | null; currentVersion: string },
): Promise<TaggedSummary> {
  const { target, summary, currentVersion } = input
  const stored = await saveSummary(tx, input)
  await endOpenSummaryJobs(tx, { target, reason: summary.pinned ? 'pinned' : 'summary_changed' })
  return { summary: presentStored(stored, { target, currentVersion, pendingJobId: null }), tag: summaryTag(stored) }
}

/**
 * Saves a summary that a person wrote. Refuses with 428 without If-Match or `base_source_version`. Refuses with 409
 * `source_version_changed` or `version_conflict`, in this order, and with 422 `not_a_heading_block`.
 */
export async function saveManual(
  context: Writing,
  input: { caller: Caller; request: TargetRequest; written: SummaryInput; guard: VersionGuard },
): Promise<TaggedSummary> {
  const { tx } = context
  const { caller, written, guard } = input
  const locked = await lockTarget(context, input)
  const { target } = locked
  requirePreconditions([
    ...guard.missing,
    ...(written.base_source_version === undefined ? ['base_source_version'] : []),
  ])
  const over = await lockSummary(tx, target)
  requireSourceVersion(locked.source, written.base_source_version)
  guard.check(summaryTag(over))
  const source = requireHeading(locked.source)
  const summary: SavedSummary = {
    text: written.text,
    generator: 'manual',
    pinned: written.pinned ?? over?.pinned ?? false,
    source_version: source.version,
    source_block_ids: written.source_block_ids ?? [],
    source_document_ids: [...(await documentIdsOf(tx, target))],
    coverage: coverageOf(source, written.source_block_ids),
    model: null,
    updatedBy: caller.userId,
  }
  return replaceSummary(tx, { target, summary, over, currentVersion: source.version })
}

// The coverage of a summary that a person wrote: the named blocks or, without names, all blocks of the source.
function coverageOf(source: SummarySource, blockIds?: readonly string[]): Coverage {
  const blocks = 'text' in source ? source.text.split('\n').length : 0
  const documents = 'text' in source ? 1 : source.documentCount
  const covered = Math.min(blocks, blockIds?.length ?? blocks)
  return {
    ratio: ratioOf(covered, blocks),
    covered_blocks: covered,
    total_blocks: blocks,
    covered_documents: documents,
    total_documents: documents,
    truncated: false,
  }
}
