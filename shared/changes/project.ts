import { type BlockStep, operationOf } from '../body/manifest.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { type ProjectionInput, projectionComputation } from '../jobs/projections/computation.ts'
import type { Derived, DocumentSource } from '../jobs/projections/queries.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import * as queries from './queries.ts'
import type { RecordedChange } from './schema.ts'

/**
 * The number of a document's first chain. A chain is the unbroken list of the changes of a document, one batch for each
 * body; after a gap a new chain begins. A client begins with the cursor of a baseline, which names a chain. Before the
 * document has a chain, the cursor names the first chain by this number.
 */
export const firstChain = 1

/** The most bytes of stored manifests by which a chain grows in one round. A single manifest may be larger. */
const partBytes = 256 * 1024

/**
 * A document with its chain and the manifests that the chain lacks, oldest first. With `isPart`, `manifests` are only
 * the oldest of the lacking manifests, and `version` and `body_seq` are those of the newest manifest read.
 */
export type ChainSource = DocumentSource & {
  chain: number | null
  projected_seq: number | null
  isPart: boolean
  manifests: readonly queries.StoredManifest[]
}

/** The growth of a chain. `base` is the body at which a new chain begins, or null when the existing chain continues. */
export type ChainGrowth = {
  base: { body_seq: number; version: string } | null
  batches: readonly queries.ChangeBatch[]
}

/**
 * Reads the manifests that the chains of documents lack, by document id: about `partBytes` bytes of each document.
 * Missing documents are left out. Manifests beyond the `retention` newest are not read, since the chain would forget
 * them at once.
 */
export async function loadChainSources(
  db: Queryable,
  jobs: readonly DocumentJob[],
  retention: number,
): Promise<ReadonlyMap<string, ChainSource>> {
  const rows = await queries.pendingManifests(db, jobs, { limit: retention + 1, bytes: partBytes })
  const byDocument = Map.groupBy(rows, ({ document_id }) => document_id)
  return new Map([...byDocument].map(([id, pending]) => [id, chainSource(pending)]))
}

/** Computes the batches by which the chain of one document grows. A thread calls this function by its name. @public */
export function growChangeChain({ source }: ProjectionInput<ChainSource>): ChainGrowth {
  return growChain(source)
}

/** Computes the batches by which the chain of changes of a document grows. */
export const growing = projectionComputation({ module: import.meta.url, run: growChangeChain, length: lengthOf })

/**
 * Makes one batch for each body that the chain lacks, in their order. Where a manifest is missing, a new chain begins
 * after the gap, so that no client takes the chain for continuous. @internal
 */
export function growChain(source: ChainSource): ChainGrowth {
  if (source.projected_seq === source.body_seq) return { base: null, batches: [] }
  const run = unbrokenEnd(source)
  const [first, ...rest] = run
  const continues = first !== undefined && first.step !== null && first.body_seq - 1 === source.projected_seq
  if (continues) return { base: null, batches: run.map(batchOf) }
  const base = first ?? source
  return { base: { body_seq: base.body_seq, version: base.version }, batches: rest.map(batchOf) }
}

// Returns the number of characters that `growChain` reads.
function lengthOf({ manifests }: ChainSource): number {
  return manifests.reduce((length, { step }) => length + (step?.length ?? 0), 0)
}

/**
 * Appends the batches to the chains of documents and forgets batches beyond the retention. The caller has locked the
 * documents and their chains.
 */
export async function writeChains(
  tx: Transaction,
  derived: readonly Derived<ChainSource, ChainGrowth>[],
  retention: number,
): Promise<void> {
  const begun = derived.flatMap(({ job, source, result: { base } }) => {
    const chain = (source.chain ?? firstChain - 1) + 1
    return base === null ? [] : [{ job, chain, base_seq: base.body_seq, projected_seq: source.body_seq }]
  })
  const growths = derived.map(({ job, source, result: { base, batches } }) => {
    const first = base === null ? [] : [{ ...base, source_version: base.version, changed_at: 0, changes: '[]' }]
    return { job, batches: [...first, ...batches], projectedSeq: source.body_seq }
  })
  await queries.beginChains(tx, begun)
  await queries.appendBatches(tx, growths)
  await queries.pruneChains(tx, growths, retention)
}

// Builds the source of one document from its rows, of which there is at least one.
function chainSource(rows: readonly queries.PendingManifest[]): ChainSource {
  const [first] = rows as [queries.PendingManifest]
  const manifests = rows.flatMap(({ manifest_seq, manifest_version, changed_at, step }) =>
    manifest_seq === null || manifest_version === null || changed_at === null
      ? []
      : [{ body_seq: manifest_seq, version: manifest_version, changed_at, step }],
  )
  const { title, knowledge_base_id, locale, chain, projected_seq, is_part: isPart } = first
  const { version, body_seq } = (isPart ? manifests[0] : undefined) ?? first
  const source = { version, body_seq, title, knowledge_base_id, locale, chain, projected_seq, isPart }
  return { ...source, manifests: manifests.filter((manifest) => manifest.body_seq <= body_seq).reverse() }
}

// Returns the newest manifests, up to the current body, that follow each other without a gap.
function unbrokenEnd({ manifests, body_seq }: ChainSource): readonly queries.StoredManifest[] {
  if (manifests.at(-1)?.body_seq !== body_seq) return []
  const gap = manifests.findLastIndex(
    (manifest, index) =>
      index > 0 && (manifest.step === null || manifests[index - 1]?.body_seq !== manifest.body_seq - 1),
  )
  return manifests.slice(Math.max(gap, 0))
}

function batchOf(manifest: queries.StoredManifest): queries.ChangeBatch {
  const { body_seq, version, changed_at, step } = manifest
  const steps = JSON.parse(step ?? '[]') as BlockStep[]
  return { body_seq, source_version: version, changed_at, changes: JSON.stringify(steps.map(changeOf)) }
}

function changeOf(step: BlockStep): RecordedChange {
  const { block_id, type, text_excerpt, old_position, new_position, new_hash: hash, displaced } = step
  const op = operationOf(step.old_hash, hash)
  const change = { op, block_id, type, text_excerpt, hash, old_position, new_position }
  return op === 'modified' ? { ...change, moved: displaced } : change
}
