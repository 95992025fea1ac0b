import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { documentKeys } from '../jobs/projections/queries.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import { Nullable } from '../schema/identifiers.ts'
import { RecordedChange } from './schema.ts'

const ChainShape = Type.Object({ chain: Type.Number(), base_seq: Type.Number(), projected_seq: Type.Number() })

/**
 * The chain of a document: its number, and the `body_seq` of the bodies at which it begins (`base_seq`) and ends
 * (`projected_seq`). A chain is the unbroken list of the changes of a document, one batch for each body.
 */
export type ChangeChain = Static<typeof ChainShape>

/** Returns the chain of a document, or null when there is none yet. */
export function chainOf(db: Queryable, key: DocumentJob): Promise<ChangeChain | null> {
  return db.maybeOne(
    prepared(sql.type(row(ChainShape))`
    SELECT chain, base_seq, projected_seq FROM change_chains
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.document_id}`),
  )
}

/**
 * A row of `document_manifests`. `step` leads from the manifest of the previous body to the manifest of this body, as
 * the JSON text of a list of `BlockStep`. `step` is null for the first body of a document.
 */
export type StoredManifest = { body_seq: number; version: string; changed_at: number; step: string | null }

const PendingShape = Type.Object({
  document_id: Type.String(),
  version: Type.String(),
  body_seq: Type.Number(),
  title: Type.String(),
  knowledge_base_id: Type.Number(),
  locale: Nullable(Type.String()),
  chain: Nullable(Type.Number()),
  projected_seq: Nullable(Type.Number()),
  manifest_seq: Nullable(Type.Number()),
  manifest_version: Nullable(Type.String()),
  changed_at: Nullable(Type.Number()),
  step: Nullable(Type.String()),
  is_part: Type.Boolean(),
})

/** A document with its chain, and with one manifest that the chain lacks, or with none. */
export type PendingManifest = Static<typeof PendingShape>

/**
 * Returns one row for each manifest that the chain of a document lacks, with the document and its chain, newest
 * manifest first. Only the `limit` newest manifests of a document are looked at. Of these the oldest are returned, at
 * least one, until their stored size exceeds about `bytes`. `is_part` says that newer manifests exist. All rows come
 * from one snapshot. A document whose chain is complete has one row without a manifest. A document that does not exist
 * has no row.
 */
export function pendingManifests(
  db: Queryable,
  jobs: readonly DocumentJob[],
  { limit, bytes }: { limit: number; bytes: number },
) {
  return db.any(
    prepared(sql.type(row(PendingShape))`
    SELECT d.id AS document_id, d.version, d.body_seq, d.title, d.knowledge_base_id, d.locale, c.chain, c.projected_seq,
      m.body_seq AS manifest_seq, m.version AS manifest_version, m.changed_at, m.step::text AS step,
      coalesce(m.pending > count(m.body_seq) OVER (PARTITION BY d.workspace_id, d.id), false) AS is_part
    FROM ${documentKeys(jobs)} AS k (workspace_id, document_id)
    JOIN documents d ON d.workspace_id = k.workspace_id AND d.id = k.document_id
    LEFT JOIN change_chains c ON c.workspace_id = d.workspace_id AND c.document_id = d.id
    LEFT JOIN LATERAL (
      SELECT newest.*, count(*) OVER () AS pending,
        sum(pg_column_size(step)) OVER (ORDER BY body_seq) - coalesce(pg_column_size(step), 0) AS before
      FROM (
        SELECT body_seq, version, changed_at, step FROM document_manifests
        WHERE workspace_id = d.workspace_id AND document_id = d.id AND body_seq > coalesce(c.projected_seq, 0)
        ORDER BY body_seq DESC LIMIT ${limit}
      ) newest
    ) m ON coalesce(m.before, 0) < ${bytes}
    ORDER BY d.id, m.body_seq DESC`),
  )
}

/** The changes of one write of a body; `changes` is the JSON text of a list of `RecordedChange`. */
export type ChangeBatch = { body_seq: number; source_version: string; changed_at: number; changes: string }

/** A chain that begins, with the document that it belongs to. The document may have had an earlier chain. */
export type BegunChain = ChangeChain & { job: DocumentJob }

/** Begins chains of documents; batches that an earlier chain held are deleted. */
export async function beginChains(tx: Transaction, chains: readonly BegunChain[]): Promise<void> {
  if (chains.length === 0) return
  const jobs = chains.map(({ job }) => job)
  await tx.query(
    prepared(sql.unsafe`
    DELETE FROM change_batches b USING ${documentKeys(jobs)} AS k (workspace_id, document_id)
    WHERE b.workspace_id = k.workspace_id AND b.document_id = k.document_id`),
  )
  const rows = chains.map(({ job, chain, base_seq, projected_seq }) => [
    job.workspace_id,
    job.document_id,
    chain,
    base_seq,
    projected_seq,
  ])
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO change_chains (workspace_id, document_id, chain, base_seq, projected_seq)
    SELECT * FROM ${sql.unnest(rows, ['text', 'text', 'int8', 'int8', 'int8'])}
    ON CONFLICT (workspace_id, document_id) DO UPDATE SET
      chain = excluded.chain, base_seq = excluded.base_seq, projected_seq = excluded.projected_seq`),
  )
}

/** The batches by which the chain of a document grows, and the `body_seq` that the chain then reaches. */
export type Growth = { job: DocumentJob; batches: readonly ChangeBatch[]; projectedSeq: number }

/** Appends batches to chains. */
export async function appendBatches(tx: Transaction, growths: readonly Growth[]): Promise<void> {
  const rows = growths.flatMap(({ job, batches }) =>
    batches.map((batch) => [
      job.workspace_id,
      job.document_id,
      batch.body_seq,
      batch.source_version,
      batch.changed_at,
      batch.changes,
    ]),
  )
  await tx.query(
    prepared(sql.unsafe`
    WITH appended AS (
      INSERT INTO change_batches (workspace_id, document_id, body_seq, source_version, changed_at, changes)
      SELECT b.workspace_id, b.document_id, b.body_seq, b.source_version, to_timestamp(b.changed_at / 1000), b.changes
      FROM ${sql.unnest(rows, ['text', 'text', 'int8', 'text', 'float8', 'jsonb'])}
        AS b (workspace_id, document_id, body_seq, source_version, changed_at, changes)
      ON CONFLICT DO NOTHING
    )
    UPDATE change_chains c SET projected_seq = k.projected_seq
    FROM ${reached(growths)} AS k (workspace_id, document_id, projected_seq)
    WHERE c.workspace_id = k.workspace_id AND c.document_id = k.document_id`),
  )
}

/**
 * Deletes the batches of each chain beyond its `keep` newest writes, and the manifests whose changes the chain has by
 * now.
 */
export async function pruneChains(tx: Transaction, growths: readonly Growth[], keep: number): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    WITH chains AS (
      SELECT * FROM ${reached(growths)} AS k (workspace_id, document_id, projected_seq)
    ), projected AS (
      DELETE FROM document_manifests m USING chains k
      WHERE m.workspace_id = k.workspace_id AND m.document_id = k.document_id AND m.body_seq <= k.projected_seq
    ), dropped AS (
      DELETE FROM change_batches b USING chains k
      WHERE b.workspace_id = k.workspace_id AND b.document_id = k.document_id
        AND b.body_seq < k.projected_seq - ${keep}::int8
    )
    UPDATE change_chains c SET base_seq = k.projected_seq - ${keep}::int8 FROM chains k
    WHERE c.workspace_id = k.workspace_id AND c.document_id = k.document_id
      AND c.base_seq < k.projected_seq - ${keep}::int8`),
  )
}

function reached(growths: readonly Growth[]) {
  const rows = growths.map(({ job, projectedSeq }) => [job.workspace_id, job.document_id, projectedSeq])
  return sql.unnest(rows, ['text', 'text', 'int8'])
}

const PageShape = Type.Object({
  ...ChainShape.properties,
  body_seq: Nullable(Type.Number()),
  source_version: Nullable(Type.String()),
  changed_at: Nullable(Type.Number()),
  changes: Nullable(Type.Array(RecordedChange)),
})

/**
 * Returns the chain with its batches from body `from` on, oldest first, at most `limit`, from one snapshot. A chain
 * without such batches has one row; without a chain there is no row.
 */
export function chainPage(db: Queryable, key: DocumentJob & { from: number; limit: number }) {
  return db.any(
    prepared(sql.type(row(PageShape))`
    SELECT c.chain, c.base_seq, c.projected_seq, b.body_seq, b.source_version, b.changed_at, b.changes
    FROM change_chains c
    LEFT JOIN LATERAL (
      SELECT body_seq, source_version, changed_at, changes FROM change_batches
      WHERE workspace_id = c.workspace_id AND document_id = c.document_id AND body_seq >= ${key.from}
      ORDER BY body_seq LIMIT ${key.limit}
    ) b ON true
    WHERE c.workspace_id = ${key.workspace_id} AND c.document_id = ${key.document_id}
    ORDER BY b.body_seq`),
  )
}

const SinceShape = Type.Object({
  since: Nullable(Type.Number()),
  bodies: Type.Number(),
  ids: Type.Array(Type.String()),
})

/**
 * Finds the newest body that has one of the versions. Returns its `body_seq`, the number of later bodies that are
 * known, and the top-level blocks that the later bodies changed. At most `limit` blocks are returned, the last changed
 * block first.
 */
export function blocksChangedSince(db: Queryable, key: DocumentJob & { versions: readonly string[]; limit: number }) {
  const { workspace_id, document_id } = key
  return db.one(sql.type(row(SinceShape))`
    WITH known AS (
      SELECT body_seq, source_version AS version, changes AS blocks FROM change_batches
      WHERE workspace_id = ${workspace_id} AND document_id = ${document_id}
      UNION ALL
      SELECT body_seq, version, step FROM document_manifests
      WHERE workspace_id = ${workspace_id} AND document_id = ${document_id}
    ), provided AS (
      SELECT max(body_seq) AS body_seq FROM known WHERE version = ANY(${sql.array([...key.versions], 'text')})
    ), later AS (
      SELECT known.* FROM known JOIN provided ON known.body_seq > provided.body_seq
    )
    SELECT (SELECT body_seq FROM provided) AS since, (SELECT count(*) FROM later) AS bodies, ARRAY(
      SELECT block ->> 'block_id' FROM later, jsonb_array_elements(later.blocks) AS block
      GROUP BY 1 ORDER BY max(later.body_seq) DESC, min((block ->> 'new_position')::int), 1 LIMIT ${key.limit}
    ) AS ids`)
}
