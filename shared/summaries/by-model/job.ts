import type { Queryable, Transaction } from '../../database/database.ts'
import { loadSource, lockSource } from '../../jobs/projections/queries.ts'
import type { RequestedJobKey } from '../../jobs/queues.ts'
import { type Container, documentIdsBelow, lockDocumentsBelow } from '../container-queries.ts'
import { ratioOf, summariseDigest } from '../deterministic.ts'
import { digestedDocuments } from '../digests.ts'
import { jobByKey, noteResult } from '../job-queries.ts'
import { oneLine, truncate } from '../plain.ts'
import { lockSummary, saveSummary, storedSummaries, storedSummary } from '../queries.ts'
import { sourceLimit } from '../schema.ts'
import { currentVersion, findSource } from '../source.ts'
import { type SummaryTarget, targetOf } from '../target.ts'
import { type AskModel, requestCharacters, summariseByModel } from './ask.ts'
import { type SummaryMaterial, textMaterial } from './text-material.ts'

// A summary costs at most this many requests. Documents share their room, so the share of each shrinks with their
// number.
const requestLimit = 40
const documentLimit = 10_000
const longestEntry = 600

/** The source of a job as it was when the job was requested. */
export type SummaryJobSource = SummaryMaterial & {
  target: SummaryTarget
  sourceVersion: string
  baseVersion: number
  model: string
  requestedBy: string | null
}

type ObsoleteReason = 'source_changed' | 'pinned' | 'summary_changed' | 'target_deleted'

/**
 * Reads the source of a job, or says why the job is obsolete, before the model is paid. Throws ComputationLimitError
 * when a document takes more than `computeMs` milliseconds of processor time.
 */
export async function loadJobSource(
  db: Queryable,
  key: RequestedJobKey,
  computeMs: number,
): Promise<SummaryJobSource | { obsolete: ObsoleteReason }> {
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
  { workspaceId, id, blockId }: Extract<SummaryTarget, { type: 'document' | 'section' }>,
  computeMs: number,
): Promise<(SummaryMaterial & { version: string }) | ObsoleteReason> {
  const document = await loadSource(db, { workspace_id: workspaceId, document_id: id })
  if (document === null) return blockId === null ? 'target_deleted' : 'source_changed'
  const { version, title, body: text } = document
  return (await textMaterial({ documentId: id, blockId, version, title, text }, computeMs)) ?? 'source_changed'
}

async function containerSource(
  db: Queryable,
  container: Container,
): Promise<(SummaryMaterial & { version: string }) | ObsoleteReason> {
  const source = await findSource(db, container)
  if (typeof source === 'string') return 'target_deleted'
  const { version, title } = source
  return { version, ...(await containerMaterial(db, { container, title })) }
}

// Returns the material of a folder or knowledge base: a summary of each document below it, which is the stored summary
// if there is one.
async function containerMaterial(
  db: Queryable,
  { container, title }: { container: Container; title: string },
): Promise<SummaryMaterial> {
  const { workspaceId } = container
  const below = await documentIdsBelow(db, { container, limit: documentLimit + 1 })
  const ids = below.slice(0, documentLimit)
  const documents = await digestedDocuments(db, { workspaceIds: [workspaceId], ids })
  const stored = await storedSummaries(db, { workspaceIds: [workspaceId], type: 'document', ids })
  const texts = new Map(stored.map(({ target_id, text }) => [target_id, text]))
  const room = Math.min(
    longestEntry,
    Math.floor((requestLimit * requestCharacters) / Math.max(1, documents.length)) - 1,
  )
  const entries = [...documents]
    .sort((a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : a.id < b.id ? -1 : 1))
    .map((document) => {
      const text = texts.get(document.id) ?? summariseDigest({ ...document, documentId: document.id }).text
      const named = text.startsWith(document.title) ? text : `${document.title}: ${text}`
      return { id: document.id, text: truncate(oneLine(named), room) }
    })
  return {
    material: { kind: container.type, title, texts: entries.map(({ text }) => text) },
    source_block_ids: [],
    source_document_ids: entries.slice(0, sourceLimit).map(({ id }) => id),
    coverage: {
      ratio: ratioOf(entries.length, below.length),
      covered_blocks: 0,
      total_blocks: 0,
      covered_documents: entries.length,
      total_documents: Math.max(entries.length, below.length),
      truncated: below.length > documentLimit,
    },
  }
}

/** Returns the text that a model makes of the source. */
export function askForSummary(source: SummaryJobSource, ask: AskModel): Promise<string> {
  return summariseByModel(ask, source)
}

/**
 * Locks source and summary, and returns why the result must not be written; null when nothing has changed. Documents
 * are locked first, in the order of their ids. With more than a thousand documents below a folder, no document is
 * locked. Then a single statement sums their versions, and the sum is compared.
 */
export async function lockAndCompare(tx: Transaction, source: SummaryJobSource): Promise<ObsoleteReason | null> {
  const { target } = source
  if (target.type === 'document' || target.type === 'section') {
    await lockSource(tx, { workspace_id: target.workspaceId, document_id: target.id })
  } else {
    await lockDocumentsBelow(tx, { container: target, limit: 1000 })
  }
  const version = await currentVersion(tx, target)
  if (version === 'gone' && target.type !== 'section') return 'target_deleted'
  const stored = await lockSummary(tx, target)
  return whyObsolete(stored, source.baseVersion) ?? (version === source.sourceVersion ? null : 'source_changed')
}

/** Stores the model's text over the locked summary and notes its version on the job. */
export async function writeModelSummary(
  tx: Transaction,
  input: { key: RequestedJobKey; source: SummaryJobSource; text: string },
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

function whyObsolete(stored: { pinned: boolean; version: number } | null, baseVersion: number): ObsoleteReason | null {
  if (stored?.pinned) return 'pinned'
  return (stored?.version ?? 0) === baseVersion ? null : 'summary_changed'
}
