import Type, { type Static } from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import type { RequestedJobKey } from '../jobs/queues.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { SummaryJob } from './schema.ts'
import { isAbout, type SummaryTarget, targetColumns, targetValues } from './target.ts'

const JobShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  status: Type.Unsafe<SummaryJob['status']>({}),
  target_type: Type.Unsafe<SummaryTarget['type']>({}),
  target_id: Type.String(),
  block_id: Type.String(),
  requested_by: Nullable(Type.String()),
  source_version: Type.String(),
  base_version: Type.Number(),
  result_version: Nullable(Type.Number()),
  model: Type.String(),
  usage: Nullable(Type.Object({ input_tokens: Type.Number(), output_tokens: Type.Number() })),
  error_code: Nullable(Type.Unsafe<NonNullable<SummaryJob['error']>['code']>({})),
  error_message: Nullable(Type.String()),
  obsolete_reason: Nullable(Type.Unsafe<NonNullable<SummaryJob['obsolete_reason']>>({})),
  created_at: Type.Number(),
  started_at: Nullable(Type.Number()),
  finished_at: Nullable(Type.Number()),
})

/** A row of `summary_jobs`. */
export type SummaryJobRow = Static<typeof JobShape>

const columns = sql.fragment`
  workspace_id, id, status, target_type, target_id, block_id, requested_by, source_version, base_version, result_version,
  model, usage, error_code, error_message, obsolete_reason, created_at, started_at, finished_at`

/** Returns a visible job, or null. */
export function visibleSummaryJob(
  db: Queryable,
  locator: { id: string; workspaceIds: readonly string[] },
): Promise<SummaryJobRow | null> {
  return db.maybeOne(sql.type(row(JobShape))`
    SELECT ${columns} FROM summary_jobs
    WHERE ${inWorkspaces(sql.fragment`workspace_id`, locator.workspaceIds)} AND id = ${locator.id}`)
}

/** Returns a job by its key, or null. */
export function jobByKey(db: Queryable, key: RequestedJobKey): Promise<SummaryJobRow | null> {
  return visibleSummaryJob(db, { id: key.job_id, workspaceIds: [key.workspace_id] })
}

/**
 * Inserts a job. The caller has locked the summary of the target by `lockSummary`, and found no open job for the same
 * source version.
 */
export function insertSummaryJob(
  tx: Transaction,
  job: {
    id: string
    target: SummaryTarget
    sourceVersion: string
    baseVersion: number
    model: string
    requestedBy: string
  },
): Promise<SummaryJobRow> {
  return tx.one(sql.type(row(JobShape))`
    INSERT INTO summary_jobs (id, ${targetColumns}, source_version, base_version, model, requested_by)
    VALUES (${job.id}, ${targetValues(job.target)}, ${job.sourceVersion}, ${job.baseVersion}, ${job.model},
      ${job.requestedBy})
    RETURNING ${columns}`)
}

/** Returns the open job of a target for a source version, or null. */
export function openSummaryJob(
  tx: Transaction,
  input: { target: SummaryTarget; sourceVersion: string },
): Promise<SummaryJobRow | null> {
  return tx.maybeOne(sql.type(row(JobShape))`
    SELECT ${columns} FROM summary_jobs
    WHERE ${isAbout(input.target)} AND source_version = ${input.sourceVersion} AND finished_at IS NULL`)
}

const PendingRow = row(Type.Object({ target_type: Type.String(), target_id: Type.String(), id: Type.String() }))

/** Returns the id of the newest open job of a target, or null. */
export function pendingSummaryJob(db: Queryable, target: SummaryTarget): Promise<string | null> {
  return db.maybeOneFirst(sql.type(row(Type.Object({ id: Type.String() })))`
    SELECT id FROM summary_jobs WHERE ${isAbout(target)} AND finished_at IS NULL
    ORDER BY created_at DESC, id DESC LIMIT 1`)
}

/**
 * Returns the newest open job of each document, folder and knowledge base of some workspaces. The list is not paged,
 * because a workspace has few open jobs.
 */
export function pendingSummaryJobs(db: Queryable, workspaceIds: readonly string[]) {
  return db.any(sql.type(PendingRow)`
    SELECT DISTINCT ON (target_type, target_id) target_type, target_id, id FROM summary_jobs
    WHERE ${inWorkspaces(sql.fragment`workspace_id`, workspaceIds)} AND block_id = '' AND finished_at IS NULL
    ORDER BY target_type, target_id, created_at DESC, id DESC`)
}

/** Ends the open jobs of a target as obsolete, since the summary that they would replace has been saved again. */
export async function endOpenSummaryJobs(
  tx: Transaction,
  input: { target: SummaryTarget; reason: 'pinned' | 'summary_changed' },
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE summary_jobs SET status = 'obsolete', obsolete_reason = ${input.reason}, finished_at = clock_timestamp()
    WHERE ${isAbout(input.target)} AND finished_at IS NULL`)
}

/** Stores on a job the version of the summary that the job wrote. */
export async function noteResult(tx: Transaction, input: { key: RequestedJobKey; version: number }): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE summary_jobs SET result_version = ${input.version}
    WHERE workspace_id = ${input.key.workspace_id} AND id = ${input.key.job_id}`)
}
