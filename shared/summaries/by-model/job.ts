import type { Ahead } from '../../computations/ahead.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { loadSource, lockSource } from '../../jobs/projections/queries.ts'
import type { RequestedJobKey } from '../../jobs/queues.ts'
import { type Container, documentIdsByTitle, lockDocumentsBelow } from '../container-queries.ts'
import { ratioOf, summariseDigest } from '../deterministic.ts'
import { digestedDocuments, digestInThread } from '../digests.ts'
import { jobByKey, noteResult } from '../job-queries.ts'
import { oneLine, truncate } from '../plain.ts'
import { documentVersion, lockSummary, saveSummary, storedSummaries, storedSummary } from '../queries.ts'
import { sourceLimit } from '../schema.ts'
import { type ContainerSource, currentVersion, findContainer, type NoSource } from '../source.ts'
import { type SummaryTarget, targetOf } from '../target.ts'
import { type AskModel, requestCharacters, summariseByModel } from './ask.ts'
import { type SummaryMaterial, textMaterial } from './text-material.ts'

// The limits of a summary of a folder or knowledge base: requests to the model, documents that are read, and code
// points of one document. All documents share the characters of the requests, so the share of a document shrinks with
// the number of documents.
const requestLimit = 40
const documentLimit = 10_000
const longestEntry = 600

/**
 * The source of a job as it was when the job was requested. `documentVersion` is the version of the document that was
 * read, null for a folder or knowledge base.
 */
export type SummaryJobSource = SummaryMaterial & {
  target: SummaryTarget
  documentVersion: string | null
  sourceVersion: string
  baseVersion: number
  model: string
  requestedBy: string | null
}

type ObsoleteReason = 'source_changed' | 'pinned' | 'summary_changed' | 'target_deleted'

/**
 * Reads the source of a job, or says why the job is obsolete, before the model is paid. Throws ComputationLimitError
 * when a document takes too much processor time or memory.
 */
export async function loadJobSource(
  db: Queryable,
  key: RequestedJobKey,
): Promise<SummaryJobSource | { obsolete: ObsoleteReason }> {
  const job = await jobByKey(db, key)
  if (job === null) return { obsolete: 'target_deleted' }
  const target = targetOf(job)
  const read = await (target.type === 'document' || target.type === 'section'
    ? textSource(db, target)
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

// The material of a source with the version of the source. The version of a document is the version of its body.
type ReadSource = SummaryMaterial & { version: string; documentVersion: string | null }

async function textSource(
  db: Queryable,
  { workspaceId, id, blockId }: Extract<SummaryTarget, { type: 'document' | 'section' }>,
): Promise<ReadSource | ObsoleteReason> {
  const document = await loadSource(db, { workspace_id: workspaceId, document_id: id })
  if (document === null) return blockId === null ? 'target_deleted' : 'source_changed'
  const { version, title, body: text } = document
  const material = await textMaterial({ documentId: id, blockId, version, title, text })
  return material === null ? 'source_changed' : { ...material, documentVersion: version }
}

async function containerSource(db: Queryable, container: Container): Promise<ReadSource | ObsoleteReason> {
  const source = await findContainer(db, container)
  if (typeof source === 'string') return 'target_deleted'
  return { version: source.version, documentVersion: null, ...(await containerMaterial(db, { container, source })) }
}

// Returns the material of a folder or knowledge base: a summary of each document below it, which is the stored summary
// if there is one. The texts are in the order of the titles and share a million characters, however many there are.
async function containerMaterial(
  db: Queryable,
  { container, source }: { container: Container; source: ContainerSource },
): Promise<SummaryMaterial> {
  const ids = await documentIdsByTitle(db, { container, limit: documentLimit })
  const room = Math.min(longestEntry, Math.floor((requestLimit * requestCharacters) / Math.max(1, ids.length)) - 1)
  const texts: string[] = []
  const documentIds: string[] = []
  for (let start = 0; start < ids.length; start += entriesAtOnce) {
    const page = { workspaceId: container.workspaceId, ids: ids.slice(start, start + entriesAtOnce), room }
    for (const { id, text } of await entriesFor(db, page)) {
      texts.push(text)
      if (documentIds.length < sourceLimit) documentIds.push(id)
    }
  }
  const total = Math.max(texts.length, source.documentCount)
  return {
    material: { kind: container.type, title: source.title, texts },
    source_block_ids: [],
    source_document_ids: documentIds,
    coverage: {
      ratio: ratioOf(texts.length, total),
      covered_blocks: 0,
      total_blocks: 0,
      covered_documents: texts.length,
      total_documents: total,
      truncated: total > texts.length,
    },
  }
}

/** A document below a folder with its part of the material. */
type Entry = { id: string; text: string }

// The number of documents whose digests and stored summaries are read at a time. The event loop is free in between.
const entriesAtOnce = 50

// Returns the entries of existing documents in the order of `ids`.
async function entriesFor(
  db: Queryable,
  { workspaceId, ids, room }: { workspaceId: string; ids: readonly string[]; room: number },
): Promise<Entry[]> {
  const documents = await digestedDocuments(db, { workspaceIds: [workspaceId], ids }, digestInThread)
  const stored = await storedSummaries(db, { workspaceIds: [workspaceId], type: 'document', ids })
  const texts = new Map(stored.map(({ target_id, text }) => [target_id, text]))
  const entries = new Map(
    documents.map(({ id, title, digest }) => {
      const text = texts.get(id) ?? summariseDigest({ documentId: id, title, digest }).text
      return [id, { id, text: truncate(oneLine(text.startsWith(title) ? text : `${title}: ${text}`), room) }]
    }),
  )
  return ids.flatMap((id) => entries.get(id) ?? [])
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
export async function lockAndCompare(
  { tx, ahead }: { tx: Transaction; ahead: Ahead },
  source: SummaryJobSource,
): Promise<ObsoleteReason | null> {
  const { target } = source
  if (target.type === 'document' || target.type === 'section') {
    await lockSource(tx, { workspace_id: target.workspaceId, document_id: target.id })
  } else {
    await lockDocumentsBelow(tx, { container: target, limit: 1000 })
  }
  const version = await versionNow({ tx, ahead }, source)
  if (version === 'gone' && target.type !== 'section') return 'target_deleted'
  const stored = await lockSummary(tx, target)
  return whyObsolete(stored, source.baseVersion) ?? (version === source.sourceVersion ? null : 'source_changed')
}

// Returns the current version of a locked source. A section of an unchanged document has not changed. Otherwise the
// version of the section is computed ahead of the lock, so that nobody waits at the lock for the computation.
async function versionNow(
  { tx, ahead }: { tx: Transaction; ahead: Ahead },
  { target, documentVersion: read, sourceVersion }: SummaryJobSource,
): Promise<string | NoSource> {
  if (target.type === 'section' && read !== null && (await documentVersion(tx, target)) === read) return sourceVersion
  return currentVersion(tx, { target, computeText: ahead.result })
}

/**
 * Stores the model's text in place of the summary that `lockAndCompare` has locked. Notes the version of the new
 * summary on the job.
 */
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
