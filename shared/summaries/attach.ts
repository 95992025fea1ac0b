import type { Queryable } from '../database/database.ts'
import { type SummarisedChild, summariseChildren, summariseDigest } from './deterministic.ts'
import { type DigestedDocument, type DocumentSelection, digestedDocuments, digestInThread } from './digests.ts'
import { pendingSummaryJobs } from './job-queries.ts'
import { presentDerived, presentStored } from './present.ts'
import { type StoredSummary, storedSummaries } from './queries.ts'
import type { Summary } from './schema.ts'
import type { SummaryTarget } from './target.ts'

/** The stored summaries and the open jobs of many targets, looked up once for an answer with many summaries. */
export type KnownSummaries = {
  stored: (type: SummaryTarget['type'], id: string | number) => StoredSummary | null
  pending: (type: SummaryTarget['type'], id: string | number) => string | null
}

/** Looks up the stored summaries of some targets and the open jobs of their workspaces. */
export async function knownSummaries(
  db: Queryable,
  input: {
    workspaceIds: readonly string[]
    targets: readonly { type: SummaryTarget['type']; ids: readonly (string | number)[] }[]
  },
): Promise<KnownSummaries> {
  const { workspaceIds, targets } = input
  const stored = new Map<string, StoredSummary>()
  for (const target of targets) {
    for (const row of await storedSummaries(db, { workspaceIds, ...target })) {
      stored.set(keyOf(row.target_type, row.target_id), storedOf(row))
    }
  }
  const jobs = await pendingSummaryJobs(db, workspaceIds)
  const pending = new Map(jobs.map(({ target_type, target_id, id }) => [keyOf(target_type, target_id), id]))
  return {
    stored: (type, id) => stored.get(keyOf(type, id)) ?? null,
    pending: (type, id) => pending.get(keyOf(type, id)) ?? null,
  }
}

/** Returns the summaries of documents by id. The number of statements does not depend on the number of documents. */
export async function documentSummaries(
  db: Queryable,
  selection: DocumentSelection & { ids: readonly string[] },
): Promise<Map<string, Summary>> {
  const documents = await digestedDocuments(db, selection, digestInThread)
  const { workspaceIds, ids } = selection
  const known = await knownSummaries(db, { workspaceIds, targets: [{ type: 'document', ids }] })
  return new Map(documents.map((document) => [document.id, documentSummary(document, known)]))
}

/** Returns the summary of a document whose digest is loaded. */
export function documentSummary(document: DigestedDocument, known: KnownSummaries): Summary {
  const { id, version } = document
  const about = {
    target: { workspaceId: document.workspace_id, type: 'document', id, blockId: null } as const,
    currentVersion: version,
    pendingJobId: known.pending('document', id),
  }
  const stored = known.stored('document', id)
  if (stored !== null) return presentStored(stored, about)
  return presentDerived(summariseDigest({ ...document, documentId: id }), about)
}

/** Returns the summary of a folder or knowledge base whose children and version are loaded. */
export function containerSummary(
  container: {
    target: Extract<SummaryTarget, { type: 'folder' | 'knowledge_base' }>
    name: string
    version: string
    children: readonly SummarisedChild[]
    documentCount: number
  },
  known: KnownSummaries,
): Summary {
  const { target, version } = container
  const about = { target, currentVersion: version, pendingJobId: known.pending(target.type, target.id) }
  const stored = known.stored(target.type, target.id)
  return stored === null ? presentDerived(summariseChildren(container), about) : presentStored(stored, about)
}

function keyOf(type: string, id: string | number): string {
  return `${type} ${id}`
}

function storedOf(
  row: StoredSummary & { workspace_id: string; target_type: string; target_id: string; block_id: string },
) {
  const { workspace_id: _workspace, target_type: _type, target_id: _id, block_id: _block, ...stored } = row
  return stored
}
