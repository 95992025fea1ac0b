import { type Caller, visibleWorkspaces } from '../../auth/caller.ts'
import type { Config } from '../../config/config.ts'
import type { Queryable } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { type JobRow, visibleJob } from './queries.ts'

/** A job in one of the caller's workspaces, whatever became of its documents; 404 `job_not_found`. */
export async function findJob(
  db: Queryable,
  input: { caller: Caller; id: string; config: Pick<Config, 'JOB_RETENTION_DAYS'> },
): Promise<JobRow> {
  const { caller, id, config } = input
  const locator = { id, workspaceIds: visibleWorkspaces(caller), retentionDays: config.JOB_RETENTION_DAYS }
  const job = await visibleJob(db, locator)
  if (job === null) throw new Refusal('job_not_found', { details: { id } })
  return job
}
