import type { Queryable, Transaction } from '../../database/database.ts'
import { loadSource, lockSource } from '../../jobs/projections/queries.ts'
import type { RequestedJobKey } from '../../jobs/queues.ts'
import { type Container, shareDocumentsBelow } from '../container-queries.ts'
import { jobByKey, noteResult } from '../job-queries.ts'
import { lockSummary, saveSummary, storedSummary } from '../queries.ts'
import { currentVersion, sourceOf } from '../source.ts'
import { type Target, targetOf } from '../target.ts'
import { type Ask, summariseByModel } from './ask.ts'
import { containerMaterial } from './material.ts'
import { type SummaryMaterial, textMaterial } from './text-material.ts'

/** What a job works on, as it was when the job was asked for. */
export type JobSource = SummaryMaterial & {
  target: Target
  sourceVersion: string
  baseVersion: number
  model: string
  requestedBy: string | null
}

type Reason = 'source_changed' | 'pinned' | 'summary_changed' | 'target_deleted'

/**
 * Reads what a job is about, or says why it is too late, before anything is paid. Throws ComputationLimitError when a
 * document takes more than `computeMs` of a processor.
 */
export async function loadJobSource(
  db: Queryable,
  key: RequestedJobKey,
  computeMs: number,
): Promise<JobSource | { obsolete: Reason }> {
  const job = await jobByKey(db, key)
  if (job === null) return { obsolete: 'target_deleted' }
  const target = targetOf(job)
  const read = await (target.type === 'document' || target.type === 'section'
    ? textSource(db, target, computeMs)
    : containerSource(db, target))
  if (typeof read === 'string') return { obsolete: read }
  const { version, ...material } = read
  if (version !== job.source_version) return { obsolete: 'source_changed' }
  const reason = whyObsolete(await storedSummary(db, target), job.base_version)
  if (reason !== null) return { obsolete: reason }
  return {
    ...material,
    target,
    sourceVersion: job.source_version,
    baseVersion: job.base_version,
    model: job.model,
    requestedBy: job.requested_by,
  }
}

async function textSource(
  db: Queryable,
  { workspaceId, id, blockId }: Extract<Target, { type: 'document' | 'section' }>,
  computeMs: number,
): Promise<(SummaryMaterial & { version: string }) | Reason> {
  const document = await loadSource(db, { workspace_id: workspaceId, document_id: id })
  if (document === null) return blockId === null ? 'target_deleted' : 'source_changed'
  const { version, title, body: text } = document
  return (await textMaterial({ documentId: id, blockId, version, title, text }, computeMs)) ?? 'source_changed'
}

async function containerSource(
  db: Queryable,
  container: Container,
): Promise<(SummaryMaterial & { version: string }) | Reason> {
  const source = await sourceOf(db, container)
  if (typeof source === 'string') return 'target_deleted'
  const { version, title } = source
  return { version, ...(await containerMaterial(db, { container, title })) }
}

/** The text a model makes of it. */
export function askForSummary(source: JobSource, ask: Ask): Promise<string> {
  return summariseByModel(ask, source)
}

/**
 * Locks source and summary and says why the result must not be written; null when nothing has moved. Documents come
 * first, in the order of their ids. Of more than a thousand below a folder none is locked: their versions are then
 * compared in the one statement that adds them up.
 */
export async function lockAndCompare(tx: Transaction, source: JobSource): Promise<Reason | null> {
  const { target } = source
  if (target.type === 'document' || target.type === 'section') {
    await lockSource(tx, { workspace_id: target.workspaceId, document_id: target.id })
  } else {
    await shareDocumentsBelow(tx, { container: target, limit: 1000 })
  }
  const version = await currentVersion(tx, target)
  if (version === 'gone' && target.type !== 'section') return 'target_deleted'
  const stored = await lockSummary(tx, target)
  return whyObsolete(stored, source.baseVersion) ?? (version === source.sourceVersion ? null : 'source_changed')
}

/** Stores the model's text over the locked summary and notes its version on the job. */
export async function writeResult(
  tx: Transaction,
  input: { key: RequestedJobKey; source: JobSource; text: string },
): Promise<void> {
  const { key, source, text } = input
  const { target, sourceVersion, model, requestedBy } = source
  const over = await storedSummary(tx, target)
  const saved = await saveSummary(tx, {
    target,
    over,
    summary: {
      text,
      generator: 'model',
      pinned: false,
      source_version: sourceVersion,
      source_block_ids: source.source_block_ids,
      source_document_ids: source.source_document_ids,
      coverage: source.coverage,
      model,
      updatedBy: requestedBy,
    },
  })
  await noteResult(tx, { key, version: saved.version })
}

function whyObsolete(stored: { pinned: boolean; version: number } | null, baseVersion: number): Reason | null {
  if (stored?.pinned) return 'pinned'
  return (stored?.version ?? 0) === baseVersion ? null : 'summary_changed'
}
