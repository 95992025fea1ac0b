import { notBegun, type Progress } from '../jobs/requested/progress.ts'
import type { DerivedSummary } from './deterministic.ts'
import type { SummaryJobRow } from './job-queries.ts'
import type { StoredSummary } from './queries.ts'
import type { Summary, SummaryJob } from './schema.ts'
import { presentTarget, type SummaryTarget, targetOf } from './target.ts'

/** Returns the version of a summary as ETag and If-Match carry it; `summary:0` when nothing is stored. */
export function summaryTag(stored: Pick<StoredSummary, 'version'> | null): string {
  return `summary:${stored?.version ?? 0}`
}

type About = { target: SummaryTarget; currentVersion: string; pendingJobId: string | null }

/** Returns a stored summary as the API shows it. */
export function presentStored(stored: StoredSummary, about: About): Summary {
  const { version, ...members } = stored
  return {
    target: presentTarget(about.target),
    ...members,
    status: 'ready',
    freshness: stored.source_version === about.currentVersion ? 'current' : 'stale',
    summary_version: version,
    current_source_version: about.currentVersion,
    query: null,
    pending_job_id: about.pendingJobId,
  }
}

/**
 * Returns a summary that was made for this read: nothing is stored, or there is a query. With a query, `stored`
 * provides the version and the pin.
 */
export function presentDerived(
  derived: DerivedSummary,
  about: About & { query?: { text: string; stored: StoredSummary | null } },
): Summary {
  const { query } = about
  return {
    target: presentTarget(about.target),
    ...derived,
    status: query === undefined ? 'fallback' : 'query',
    generator: 'deterministic',
    freshness: 'current',
    pinned: query?.stored?.pinned ?? false,
    summary_version: query?.stored?.version ?? 0,
    source_version: about.currentVersion,
    current_source_version: about.currentVersion,
    model: null,
    query: query?.text ?? null,
    pending_job_id: about.pendingJobId,
    updated_at: null,
    updated_by: null,
  }
}

/** Returns a job as the API shows it. */
export function presentSummaryJob(job: SummaryJobRow, progress: Progress = notBegun): SummaryJob {
  return {
    id: job.id,
    status: job.status,
    target: presentTarget(targetOf(job)),
    generator: 'model',
    source_version: job.source_version,
    base_summary_version: job.base_version,
    result_summary_version: job.result_version,
    model: job.model,
    usage: job.usage,
    error: job.error_code && { code: job.error_code, message: job.error_message ?? errorMessages[job.error_code] },
    obsolete_reason: job.obsolete_reason,
    created_at: job.created_at,
    started_at: job.started_at,
    finished_at: job.finished_at,
    ...progress,
  }
}

const errorMessages = {
  model_error: 'The model provider failed.',
  model_timeout: 'The model took too long.',
  model_bad_output: 'The model gave no usable answer.',
  document_too_large:
    'The document takes more processor time or memory than a job may use; make it smaller or summarise its sections.',
  access_revoked: 'Whoever asked for the summary may no longer write in the workspace.',
} as const satisfies Record<NonNullable<SummaryJob['error']>['code'], string>
