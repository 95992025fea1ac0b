import { type Database, inTransaction, type Transaction } from '../database/database.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import { lockSummary, refreshableContainers, storedOfDocument } from './queries.ts'
import { store } from './save.ts'
import { derive, sourceOf } from './source.ts'
import { type Target, targetOf } from './target.ts'

/** Refreshes what is stored of a document and its sections; the document must be locked. */
export async function refreshDocument(tx: Transaction, job: DocumentJob): Promise<void> {
  const stored = await storedOfDocument(tx, { workspaceId: job.workspace_id, id: job.document_id })
  for (const target of stored.filter(({ generator }) => generator === 'deterministic').map(targetOf)) {
    await refreshSummary(tx, target)
  }
}

const pageSize = 100

/** Refreshes what is stored of folders and knowledge bases, a transaction for each; returns how many it wrote. */
export async function refreshContainers(database: Database): Promise<number> {
  let written = 0
  let after: readonly [string, string, string] = ['', '', '']
  for (;;) {
    const page = await refreshableContainers(database, { after, limit: pageSize })
    for (const row of page) {
      if (await inTransaction(database, (tx) => refreshSummary(tx, targetOf(row)))) written += 1
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return written
    after = [last.workspace_id, last.target_type, last.target_id]
  }
}

/**
 * Makes a stored deterministic summary anew when its source has moved (SUMMARY_AUTO_REFRESH). What somebody wrote, asked
 * a model for or pinned is left alone, and so is a section whose heading has gone. Returns whether it wrote.
 */
async function refreshSummary(tx: Transaction, target: Target): Promise<boolean> {
  const over = await lockSummary(tx, target)
  if (over === null || over.pinned || over.generator !== 'deterministic') return false
  const source = await sourceOf(tx, target)
  if (typeof source === 'string') return false
  const derived = await derive(tx, { target, source })
  if (source.version === over.source_version && derived.text === over.text) return false
  const summary = {
    ...derived,
    generator: 'deterministic' as const,
    pinned: false,
    source_version: source.version,
    model: null,
    updatedBy: null,
  }
  await store(tx, { target, summary, over, currentVersion: source.version })
  return true
}
