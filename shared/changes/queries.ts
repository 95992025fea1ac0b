import Type, { type Static } from 'typebox'
import type { BlockStep } from '../body/manifest.ts'
import { prepared, type Queryable, sql, type Transaction } from '../database.ts'
import { Nullable } from '../identifiers.ts'
import type { DocumentJob } from '../queues.ts'
import { row } from '../row.ts'
import { RecordedChange } from './schema.ts'

const ChainShape = Type.Object({ chain: Type.Number(), base_seq: Type.Number(), projected_seq: Type.Number() })

/** Which chain a document has, and from which body to which it reaches. */
export type Chain = Static<typeof ChainShape>

/** The chain of a document as it stands, or null when there is none yet. */
export function chainOf(db: Queryable, key: DocumentJob): Promise<Chain | null> {
  return db.maybeOne(
    prepared(sql.type(row(ChainShape))`
    SELECT chain, base_seq, projected_seq FROM change_chains
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.document_id}`),
  )
}

/** Locks the chain of a document and returns the body_seq it reaches to; null when there is none. */
export function lockChain(tx: Transaction, key: DocumentJob): Promise<number | null> {
  return tx.maybeOneFirst(
    prepared(sql.type(row(Type.Object({ projected_seq: Type.Number() })))`
    SELECT projected_seq FROM change_chains
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.document_id} FOR UPDATE`),
  )
}

/** A stored manifest: how it differs from the one before; `step` is null when nothing was before. */
export type Manifest = { body_seq: number; version: string; changed_at: number; step: readonly BlockStep[] | null }

const PendingShape = Type.Object({
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
  step: Nullable(Type.Unsafe<readonly BlockStep[]>({ type: 'array' })),
})

/**
 * A document, its chain, and the manifests that are not part of it yet, at most the `limit` newest, newest first, all
 * of one moment: one row for each manifest, or one row without a manifest. No row when the document is gone.
 */
export function pendingManifests(db: Queryable, key: DocumentJob & { limit: number }) {
  return db.any(
    prepared(sql.type(row(PendingShape))`
    SELECT d.version, d.body_seq, d.title, d.knowledge_base_id, d.locale, c.chain, c.projected_seq,
      m.body_seq AS manifest_seq, m.version AS manifest_version, m.changed_at, m.step
    FROM documents d
    LEFT JOIN change_chains c ON c.workspace_id = d.workspace_id AND c.document_id = d.id
    LEFT JOIN LATERAL (
      SELECT body_seq, version, changed_at, step FROM document_manifests
      WHERE workspace_id = d.workspace_id AND document_id = d.id AND body_seq > coalesce(c.projected_seq, 0)
      ORDER BY body_seq DESC LIMIT ${key.limit}
    ) m ON true
    WHERE d.workspace_id = ${key.workspace_id} AND d.id = ${key.document_id}`),
  )
}

/** What one write of a body changed. */
export type Batch = { body_seq: number; source_version: string; changed_at: number; changes: readonly RecordedChange[] }

/** Begins a document's chain, or begins it anew: what was in it is dropped. */
export async function beginChain(tx: Transaction, key: DocumentJob, chain: Chain): Promise<void> {
  const { workspace_id, document_id } = key
  await tx.query(sql.unsafe`
    DELETE FROM change_batches WHERE workspace_id = ${workspace_id} AND document_id = ${document_id}`)
  await tx.query(sql.unsafe`
    INSERT INTO change_chains (workspace_id, document_id, chain, base_seq, projected_seq)
    VALUES (${workspace_id}, ${document_id}, ${chain.chain}, ${chain.base_seq}, ${chain.projected_seq})
    ON CONFLICT (workspace_id, document_id) DO UPDATE SET
      chain = excluded.chain, base_seq = excluded.base_seq, projected_seq = excluded.projected_seq`)
}

/** Appends batches to a chain, which then reaches to `projectedSeq`. */
export async function appendBatches(
  tx: Transaction,
  key: DocumentJob,
  input: { batches: readonly Batch[]; projectedSeq: number },
): Promise<void> {
  const rows = input.batches.map((batch) => [
    batch.body_seq,
    batch.source_version,
    batch.changed_at,
    JSON.stringify(batch.changes),
  ])
  await tx.query(
    prepared(sql.unsafe`
    WITH appended AS (
      INSERT INTO change_batches (workspace_id, document_id, body_seq, source_version, changed_at, changes)
      SELECT ${key.workspace_id}, ${key.document_id}, b.body_seq, b.source_version,
        to_timestamp(b.changed_at / 1000), b.changes::jsonb
      FROM ${sql.unnest(rows, ['int8', 'text', 'float8', 'text'])} AS b (body_seq, source_version, changed_at, changes)
      ON CONFLICT DO NOTHING
    )
    UPDATE change_chains SET projected_seq = ${input.projectedSeq}
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.document_id}`),
  )
}

/** Drops batches beyond the `keep` newest writes, and manifests up to `projectedSeq`, which are part of the chain. */
export async function pruneChain(
  tx: Transaction,
  key: DocumentJob,
  input: { projectedSeq: number; keep: number },
): Promise<void> {
  const { workspace_id, document_id } = key
  const oldest = input.projectedSeq - input.keep
  await tx.query(
    prepared(sql.unsafe`
    WITH projected AS (
      DELETE FROM document_manifests
      WHERE workspace_id = ${workspace_id} AND document_id = ${document_id} AND body_seq <= ${input.projectedSeq}
    ), dropped AS (
      DELETE FROM change_batches
      WHERE workspace_id = ${workspace_id} AND document_id = ${document_id} AND body_seq < ${oldest}
    )
    UPDATE change_chains SET base_seq = ${oldest}
    WHERE workspace_id = ${workspace_id} AND document_id = ${document_id} AND base_seq < ${oldest}`),
  )
}

const PageShape = Type.Object({
  ...ChainShape.properties,
  body_seq: Nullable(Type.Number()),
  source_version: Nullable(Type.String()),
  changed_at: Nullable(Type.Number()),
  changes: Nullable(Type.Array(RecordedChange)),
})

/**
 * The chain with its batches from body `from` on, oldest first, at most `limit`, all of one moment: one row for each
 * batch, or one without. No row when there is no chain.
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
 * The newest body of one of the versions, how many bodies are known after it, in the chain or waiting for it, and which
 * top-level blocks those changed: at most `limit`, the last changed first.
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
