import { type Caller, visibleWorkspaces } from '../../auth/caller.ts'
import type { Config } from '../../config/config.ts'
import type { Queryable } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { notBegun, type Progress } from '../../jobs/requested/progress.ts'
import { type JobRow, type StoredResult, visibleJob } from './queries.ts'
import type { TranslationJob } from './schema.ts'

const messages: { [code: string]: string } = {
  model_error: 'The model provider could not answer.',
  model_timeout: 'The model took too long.',
  model_bad_output: 'No answer of the model could be used.',
  document_too_large:
    'The document takes more processor time or memory than a job may use; make it smaller or split it up.',
  access_revoked: 'The user who asked for the job may not write in the workspace any more.',
}

/**
 * Returns a job in one of the caller's workspaces, even when its documents were deleted. Refuses with 404
 * `job_not_found`.
 */
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

/** A pair of prices that a million characters cost, in US dollars; null where the operator has set no price. */
type Prices = Pick<Config, 'MODEL_PRICE_INPUT_PER_MCHAR' | 'MODEL_PRICE_OUTPUT_PER_MCHAR'>

/** Returns a job in the shape of the API. A job that a worker runs is still `pending`. */
export function presentJob(job: JobRow, prices: Prices, progress: Progress = notBegun): TranslationJob {
  return {
    id: job.id,
    status: job.status === 'running' ? 'pending' : job.status,
    document_set_id: job.document_set_id,
    source_document_id: job.source_document_id,
    target_document_id: job.target_document_id,
    source_locale: job.source_locale,
    target_locale: job.target_locale,
    source_version: job.source_version,
    target_version: job.target_version,
    unit_ids: job.units.map(({ unit_id }) => unit_id),
    unit_count: job.units.length,
    remaining_unit_count: job.remaining_unit_count,
    result: job.result && presentResult(job.result),
    usage: {
      input_characters: job.input_characters,
      output_characters: job.output_characters,
      estimated_cost: estimatedCost(job, prices),
    },
    model: job.model,
    error: job.error_code === null ? null : { code: job.error_code, message: messageOf(job) },
    obsolete_reason: job.obsolete_reason,
    created_at: job.created_at,
    started_at: job.started_at,
    finished_at: job.finished_at,
    applied_at: job.applied_at,
    ...progress,
  }
}

function presentResult(units: readonly StoredResult[]): TranslationJob['result'] {
  const count = (status: StoredResult['status']) => units.filter((unit) => unit.status === status).length
  return {
    units: units.map(({ content: _, ...unit }) => unit),
    translated: count('translated'),
    skipped: count('skipped'),
    failed: count('failed'),
  }
}

function estimatedCost(job: JobRow, prices: Prices): number | null {
  const { MODEL_PRICE_INPUT_PER_MCHAR: input, MODEL_PRICE_OUTPUT_PER_MCHAR: output } = prices
  if (input === null || output === null) return null
  return (job.input_characters * input + job.output_characters * output) / 1_000_000
}

function messageOf({ error_code: code, error_message: message }: JobRow): string {
  return message ?? messages[code ?? ''] ?? 'The job failed.'
}
