import { ComputationLimitError } from '../computations/computation.ts'
import { type Database, inTransaction, type Queryable, type Transaction } from '../database/database.ts'
import { type ProjectionInput, projectionComputation } from '../jobs/projections/computation.ts'
import { type LoadedSource, loadSources } from '../jobs/projections/queries.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import { onBehalfOf } from '../turns/requester.ts'
import type { Container } from './container-queries.ts'
import { type DerivedSummary, summariseDigest } from './deterministic.ts'
import { digestInThread, digestOf } from './digests.ts'
import { lockSummary, refreshableContainers, refreshableTargets } from './queries.ts'
import { replaceSummary } from './save.ts'
import { sectionsOf } from './section.ts'
import { findContainer, summariseContainer } from './source.ts'
import { type SummaryTarget, targetOf } from './target.ts'

const pageSize = 100

/** A document with the targets of its stored deterministic summaries. */
export type RefreshSource = LoadedSource & { projected_seq: null; targets: readonly SummaryTarget[] }

/** Reads the sources of documents by id. Without `autoRefresh` no summary is to be refreshed. */
export async function loadRefreshSources(
  db: Queryable,
  jobs: readonly DocumentJob[],
  { autoRefresh }: { autoRefresh: boolean },
): Promise<ReadonlyMap<string, RefreshSource>> {
  const sources = await loadSources(db, jobs)
  const stored = autoRefresh ? await refreshableTargets(db, jobs) : []
  const targets = Map.groupBy(stored.map(targetOf), ({ id }) => id)
  return new Map(
    Array.from(sources, ([id, source]) => [id, { ...source, projected_seq: null, targets: targets.get(id) ?? [] }]),
  )
}

/**
 * Makes the deterministic summaries of a document and its sections. A thread calls this function by its name. @public
 */
export function summariseDocument({ source, job }: ProjectionInput<RefreshSource>): TextSummary[] {
  const { version, title, body, targets } = source
  const blockIds = targets.map(({ blockId }) => blockId)
  return summariseText({ documentId: job.document_id, version, title, text: body, blockIds })
}

/** Computes the summaries of a document and of its sections. */
export const summarising = projectionComputation({
  module: import.meta.url,
  run: summariseDocument,
  length: ({ body }) => body.length,
})

/**
 * Writes the summaries that have changed. The caller has locked the row of the document, and the document is unchanged
 * since its source was read.
 */
export async function writeSummaries(
  tx: Transaction,
  derived: { source: RefreshSource; result: readonly TextSummary[] },
): Promise<void> {
  const byBlock = new Map(derived.result.map((summary) => [summary.blockId, summary]))
  for (const target of derived.source.targets) {
    const summary = byBlock.get(target.blockId)
    if (summary !== undefined) await refreshSummary(tx, { target, make: async () => summary })
  }
}

/**
 * Refreshes the stored summaries of folders and knowledge bases, each in its own transaction. A summary that takes too
 * much processor time or memory stays stale. Returns the number of written summaries.
 */
export async function refreshContainers(database: Database): Promise<number> {
  let written = 0
  let after: readonly [string, string, string] = ['', '', '']
  for (;;) {
    const page = await refreshableContainers(database, { after, limit: pageSize })
    for (const row of page) {
      if (await refreshContainer(database, targetOf(row) as Container)) written += 1
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return written
    after = [last.workspace_id, last.target_type, last.target_id]
  }
}

// The summary is made before the transaction, so nobody waits at a lock while it is made. When the source changes
// meanwhile, the summary stays as it is until the next sweep.
async function refreshContainer(database: Database, container: Container): Promise<boolean> {
  const made = await summaryNow(database, container)
  if (made === null) return false
  const make = async (tx: Transaction) => {
    const source = await findContainer(tx, container)
    return source !== 'gone' && source.version === made.version ? made : null
  }
  return inTransaction(database, (tx) => refreshSummary(tx, { target: container, make: () => make(tx) }))
}

async function summaryNow(
  database: Database,
  container: Container,
): Promise<{ version: string; derived: DerivedSummary } | null> {
  const source = await findContainer(database, container)
  if (source === 'gone') return null
  const summarise = () => summariseContainer(database, { container, source, makeDigests: digestInThread })
  try {
    return { version: source.version, derived: await onBehalfOf(container.workspaceId, summarise) }
  } catch (error) {
    if (error instanceof ComputationLimitError) return null
    throw error
  }
}

// Stores a deterministic summary again when it has changed. A summary that a person wrote, a model made, or somebody
// pinned is left alone. Returns whether a summary was written.
async function refreshSummary(
  tx: Transaction,
  { target, make }: { target: SummaryTarget; make: () => Promise<{ version: string; derived: DerivedSummary } | null> },
): Promise<boolean> {
  const over = await lockSummary(tx, target)
  if (over === null || over.pinned || over.generator !== 'deterministic') return false
  const made = await make()
  if (made === null || (made.version === over.source_version && made.derived.text === over.text)) return false
  const summary = {
    ...made.derived,
    generator: 'deterministic' as const,
    pinned: false,
    source_version: made.version,
    model: null,
    updatedBy: null,
  }
  await replaceSummary(tx, { target, summary, over, currentVersion: made.version })
  return true
}

// The text of a document, and the headings of the sections to summarise; null stands for the document itself.
type SummarisedText = {
  documentId: string
  version: string
  title: string
  text: string
  blockIds: readonly (string | null)[]
}

/** A deterministic summary of a document (`blockId` is null) or of a section, with the version of its source. */
export type TextSummary = { blockId: string | null; version: string; derived: DerivedSummary }

/**
 * Returns the deterministic summaries of a document and of its sections. A section whose heading no longer exists is
 * left out. @internal
 */
export function summariseText({ documentId, version, title, text, blockIds }: SummarisedText): TextSummary[] {
  const lines = text.split('\n')
  const sections = sectionsOf(lines, new Set(blockIds.filter((id) => id !== null)))
  return blockIds.flatMap((blockId): TextSummary[] => {
    const source = blockId === null ? { title, version, lines } : sections.get(blockId)
    if (source === undefined) return []
    // An untitled section uses the title of its document, so that no summary is empty.
    const digest = digestOf(source.lines)
    const derived = summariseDigest({ documentId, title: source.title || title, digest })
    return [{ blockId, version: source.version, derived }]
  })
}
