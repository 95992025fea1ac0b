import Type, { type Static } from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { documentKeys } from '../jobs/projections/queries.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { DerivedSummary } from './deterministic.ts'
import { Coverage, type Summary } from './schema.ts'
import { isAbout, type SummaryTarget, targetColumns, targetValues } from './target.ts'

const StoredShape = Type.Object({
  version: Type.Number(),
  text: Type.String(),
  generator: Type.Unsafe<Summary['generator']>({}),
  pinned: Type.Boolean(),
  source_version: Type.String(),
  source_block_ids: Type.Array(Type.String()),
  source_document_ids: Type.Array(Type.String()),
  coverage: Coverage,
  model: Nullable(Type.String()),
  updated_at: Type.Number(),
  updated_by: Nullable(Type.String()),
})

/** A stored summary without its target. */
export type StoredSummary = Static<typeof StoredShape>

const TargetShape = Type.Object({
  workspace_id: Type.String(),
  target_type: Type.Unsafe<SummaryTarget['type']>({}),
  target_id: Type.String(),
  block_id: Type.String(),
})
const StoredWithTarget = row(Type.Object({ ...TargetShape.properties, ...StoredShape.properties }))

const columns = sql.fragment`
  version, text, generator, pinned, source_version, source_block_ids, source_document_ids, coverage, model, updated_at,
  updated_by`

/** Returns the stored summary of a target, or null. */
export function storedSummary(db: Queryable, target: SummaryTarget): Promise<StoredSummary | null> {
  return db.maybeOne(sql.type(row(StoredShape))`SELECT ${columns} FROM summaries WHERE ${isAbout(target)}`)
}

/**
 * Returns the stored summary of a target, or null. Until the transaction ends, nobody else can save a summary of the
 * target, even when the target has no summary yet.
 */
export async function lockSummary(tx: Transaction, target: SummaryTarget): Promise<StoredSummary | null> {
  const key = JSON.stringify(['summary', target.workspaceId, target.type, target.id, target.blockId])
  await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))`)
  return tx.maybeOne(sql.type(row(StoredShape))`SELECT ${columns} FROM summaries WHERE ${isAbout(target)} FOR UPDATE`)
}

/** Returns the stored summaries of documents, folders or knowledge bases by id; sections are left out. */
export function storedSummaries(
  db: Queryable,
  input: { workspaceIds: readonly string[]; type: SummaryTarget['type']; ids: readonly (string | number)[] },
) {
  return db.any(sql.type(StoredWithTarget)`
    SELECT workspace_id, target_type, target_id, block_id, ${columns} FROM summaries
    WHERE ${inWorkspaces(sql.fragment`workspace_id`, input.workspaceIds)} AND target_type = ${input.type}
      AND target_id = ANY(${sql.array(input.ids.map(String), 'text')}) AND block_id = ''`)
}

/** Returns the targets of the deterministic summaries of documents and their sections that are not pinned. */
export function refreshableTargets(db: Queryable, jobs: readonly DocumentJob[]) {
  return db.any(sql.type(row(TargetShape))`
    SELECT s.workspace_id, s.target_type, s.target_id, s.block_id
    FROM ${documentKeys(jobs)} AS k (workspace_id, document_id)
    JOIN summaries s ON s.workspace_id = k.workspace_id AND s.document_id = k.document_id
    WHERE s.generator = 'deterministic' AND NOT s.pinned`)
}

/**
 * Returns one page of the stored deterministic summaries of folders and knowledge bases that are not pinned, by key.
 */
export function refreshableContainers(
  db: Queryable,
  page: { after: readonly [string, string, string]; limit: number },
) {
  const [workspaceId, type, id] = page.after
  return db.any(sql.type(StoredWithTarget)`
    SELECT workspace_id, target_type, target_id, block_id, ${columns} FROM summaries
    WHERE target_type IN ('folder', 'knowledge_base') AND generator = 'deterministic' AND NOT pinned
      AND (workspace_id, target_type, target_id) > (${workspaceId}, ${type}, ${id})
    ORDER BY workspace_id, target_type, target_id LIMIT ${page.limit}`)
}

/** A summary to save. */
export type SavedSummary = DerivedSummary & {
  generator: Summary['generator']
  pinned: boolean
  source_version: string
  model: string | null
  updatedBy: string | null
}

/**
 * Saves a summary and returns it with its new version. `over` is the summary that it replaces, which the caller has
 * locked by `lockSummary`; null when the target has no summary.
 */
export function saveSummary(
  tx: Transaction,
  input: { target: SummaryTarget; summary: SavedSummary; over: StoredSummary | null },
): Promise<StoredSummary> {
  const { target, summary, over } = input
  return tx.one(sql.type(row(StoredShape))`
    INSERT INTO summaries (${targetColumns}, version, text, generator, pinned, source_version, source_block_ids,
      source_document_ids, coverage, model, updated_by)
    VALUES (${targetValues(target)}, ${(over?.version ?? 0) + 1}, ${summary.text}, ${summary.generator},
      ${summary.pinned}, ${summary.source_version}, ${sql.array(summary.source_block_ids, 'text')},
      ${sql.array(summary.source_document_ids, 'text')}, ${sql.jsonb(summary.coverage)}, ${summary.model},
      ${summary.updatedBy})
    ON CONFLICT (workspace_id, target_type, target_id, block_id) DO UPDATE SET
      version = excluded.version, text = excluded.text, generator = excluded.generator, pinned = excluded.pinned,
      source_version = excluded.source_version, source_block_ids = excluded.source_block_ids,
      source_document_ids = excluded.source_document_ids, coverage = excluded.coverage, model = excluded.model,
      updated_at = clock_timestamp(), updated_by = excluded.updated_by
    RETURNING ${columns}`)
}

/** Returns the version of a document's current body, or null when the document is gone. */
export function documentVersion(db: Queryable, document: { workspaceId: string; id: string }): Promise<string | null> {
  return db.maybeOneFirst(sql.type(row(Type.Object({ version: Type.String() })))`
    SELECT version FROM documents WHERE workspace_id = ${document.workspaceId} AND id = ${document.id}`)
}
