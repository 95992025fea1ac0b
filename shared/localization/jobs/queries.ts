import Type, { type Static } from 'typebox'
import type { BodyNode } from '../../body/document.ts'
import { type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { inWorkspaces } from '../../database/workspaces.ts'
import type { RequestedJobKey } from '../../jobs/queues.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { type Actor, type AuditAction, recordAudit } from '../audit.ts'
import type { UnitStatus } from '../schema.ts'
import type { UnitResult } from './schema.ts'

/**
 * A unit of a job. `skipped` is the status that keeps the unit from being translated, or null when the unit is
 * translated.
 */
export type JobUnit = { unit_id: string; source_block_id: string; source_hash: string; skipped: UnitStatus | null }

/**
 * An outcome of a unit that has the translated text as inline content; `content` is null unless the unit was
 * translated.
 */
export type StoredResult = UnitResult & { content: BodyNode[] | null }

const JobShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  status: Type.Enum(['pending', 'running', 'succeeded', 'failed', 'obsolete']),
  document_set_id: Type.String(),
  source_document_id: Type.String(),
  target_document_id: Type.String(),
  source_locale: Type.String(),
  target_locale: Type.String(),
  source_version: Type.String(),
  target_version: Type.String(),
  model: Type.String(),
  actor: Type.Unsafe<Actor>({}),
  units: Type.Unsafe<JobUnit[]>({}),
  remaining_unit_count: Type.Number(),
  result: Type.Unsafe<StoredResult[] | null>({}),
  input_characters: Type.Number(),
  output_characters: Type.Number(),
  error_code: Nullable(Type.String()),
  error_message: Nullable(Type.String()),
  obsolete_reason: Nullable(Type.Enum(['source_changed', 'document_deleted'])),
  created_at: Type.Number(),
  started_at: Nullable(Type.Number()),
  finished_at: Nullable(Type.Number()),
  applied_at: Nullable(Type.Number()),
})
const JobRow = row(JobShape)

/** A row of `translation_jobs`. */
export type JobRow = Static<typeof JobShape>

const columns = sql.fragment`
  workspace_id, id, status, document_set_id, source_document_id, target_document_id, source_locale, target_locale,
  source_version, target_version, model, actor, units, remaining_unit_count, result, input_characters,
  output_characters, error_code, error_message, obsolete_reason, created_at, started_at, finished_at, applied_at`

/** Returns a job in one of the given workspaces, or null. A job that ended `retentionDays` ago counts as absent. */
export function visibleJob(
  db: Queryable,
  locator: { id: string; workspaceIds: readonly string[]; retentionDays: number },
): Promise<JobRow | null> {
  return db.maybeOne(sql.type(JobRow)`
    SELECT ${columns} FROM translation_jobs
    WHERE ${inWorkspaces(sql.fragment`workspace_id`, locator.workspaceIds)} AND id = ${locator.id}
      AND (finished_at IS NULL OR finished_at > now() - make_interval(days => ${locator.retentionDays}))`)
}

const RecentShape = Type.Object({
  id: Type.String(),
  status: JobShape.properties.status,
  unit_count: Type.Number(),
  created_at: Type.Number(),
  applied_at: Nullable(Type.Number()),
})
const RecentRow = row(RecentShape)

/** A job without its texts, as a list of jobs shows it. */
export type RecentJob = Static<typeof RecentShape>

/** Returns the latest jobs of a translation, newest first. Jobs that ended `retentionDays` ago count as absent. */
export function recentJobs(
  db: Queryable,
  target: { workspaceId: string; documentId: string; retentionDays: number; limit: number },
): Promise<readonly RecentJob[]> {
  return db.any(sql.type(RecentRow)`
    SELECT id, status, jsonb_array_length(units) AS unit_count, created_at, applied_at FROM translation_jobs
    WHERE workspace_id = ${target.workspaceId} AND target_document_id = ${target.documentId}
      AND (finished_at IS NULL OR finished_at > now() - make_interval(days => ${target.retentionDays}))
    ORDER BY created_at DESC, id DESC LIMIT ${target.limit}`)
}

/** Returns a job by its key, or null. */
export function jobOf(db: Queryable, key: RequestedJobKey): Promise<JobRow | null> {
  return db.maybeOne(sql.type(JobRow)`
    SELECT ${columns} FROM translation_jobs WHERE workspace_id = ${key.workspace_id} AND id = ${key.job_id}`)
}

/** Returns a job, locked until the transaction ends, or null. */
export function lockTranslationJob(tx: Transaction, key: RequestedJobKey): Promise<JobRow | null> {
  return tx.maybeOne(sql.type(JobRow)`
    SELECT ${columns} FROM translation_jobs
    WHERE workspace_id = ${key.workspace_id} AND id = ${key.job_id} FOR UPDATE`)
}

/** A row of a new job that has the columns without a default. */
export type NewJob = Pick<
  JobRow,
  | 'workspace_id'
  | 'id'
  | 'document_set_id'
  | 'source_document_id'
  | 'target_document_id'
  | 'source_locale'
  | 'target_locale'
  | 'source_version'
  | 'target_version'
  | 'model'
  | 'actor'
  | 'units'
  | 'remaining_unit_count'
> & { reserved_characters: number }

/** Inserts a pending job. */
export function insertJob(tx: Transaction, job: NewJob): Promise<JobRow> {
  return tx.one(sql.type(JobRow)`
    INSERT INTO translation_jobs
      (workspace_id, id, requested_by, actor, document_set_id, source_document_id, target_document_id, source_locale,
       target_locale, source_version, target_version, model, units, remaining_unit_count, reserved_characters)
    VALUES (${job.workspace_id}, ${job.id}, ${job.actor.user_id}, ${JSON.stringify(job.actor)}::jsonb,
      ${job.document_set_id}, ${job.source_document_id}, ${job.target_document_id}, ${job.source_locale},
      ${job.target_locale}, ${job.source_version}, ${job.target_version}, ${job.model},
      ${JSON.stringify(job.units)}::jsonb, ${job.remaining_unit_count}, ${job.reserved_characters})
    RETURNING ${columns}`)
}

/** Stores the results of a job. The caller has locked the row of the job. Counts are in code points. */
export async function writeResult(
  tx: Transaction,
  key: RequestedJobKey,
  outcome: { units: readonly StoredResult[]; inputCharacters: number; outputCharacters: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE translation_jobs SET result = ${JSON.stringify(outcome.units)}::jsonb,
      input_characters = ${outcome.inputCharacters}, output_characters = ${outcome.outputCharacters}
    WHERE workspace_id = ${key.workspace_id} AND id = ${key.job_id}`)
}

/**
 * Records on a job that the given units are applied now. The caller has locked the row of the job by
 * `lockTranslationJob`.
 */
export async function markApplied(tx: Transaction, key: RequestedJobKey, unitIds: readonly string[]): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE translation_jobs SET applied_at = coalesce(applied_at, clock_timestamp()), result = (
      SELECT jsonb_agg(CASE WHEN u.unit ->> 'unit_id' = ANY(${sql.array([...unitIds], 'text')})
          THEN jsonb_set(u.unit, '{applied_at}', to_jsonb(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint))
          ELSE u.unit END ORDER BY u.place)
      FROM jsonb_array_elements(result) WITH ORDINALITY AS u (unit, place))
    WHERE workspace_id = ${key.workspace_id} AND id = ${key.job_id}`)
}

/**
 * Records an action on a job in the audit of its set. The actor is the user who requested the job, unless the record
 * names another actor.
 */
export async function recordJobAction(
  tx: Transaction,
  job: JobRow,
  record: { action: AuditAction; actor?: Actor; details: Record<string, unknown> },
): Promise<void> {
  await recordAudit(tx, {
    workspaceId: job.workspace_id,
    actor: record.actor ?? job.actor,
    entries: [
      {
        action: record.action,
        document_set_id: job.document_set_id,
        source_document_id: job.source_document_id,
        target_document_id: job.target_document_id,
        locale: job.target_locale,
        job_id: job.id,
        details: record.details,
      },
    ],
  })
}
