import type { DocumentRow } from '../../../shared/documents/queries.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { progressOf } from '../../../shared/jobs/requested/progress.ts'
import { translationJobs } from '../../../shared/jobs/requested/queries.ts'
import { recentJobs } from '../../../shared/localization/jobs/queries.ts'
import { findJob, presentJob } from '../../../shared/localization/jobs/read.ts'
import type { TranslationJob } from '../../../shared/localization/jobs/schema.ts'
import { type Moment, momentOf } from '../render.ts'
import type { PanelCall } from './frame.ts'
import { obsoleteWords, reasonWords } from './translation-words.ts'

const shownJobs = 5

/** What a job has made of a unit. `text` is null unless the model has translated the unit. */
export type Proposal = { text: string | null; words: string }

/** A job as a panel shows it. */
export type JobLine = {
  id: string
  requested: Moment
  unitCount: number
  isPending: boolean
  isGood: boolean
  badge: string
  words: string
  /** Whether the texts of the job can be applied. */
  isApplicable: boolean
}

/** The job that a panel shows, the latest jobs of the translation, and what the shown job has made of its units. */
type ShownJobs = { job: JobLine | null; jobs: JobLine[]; proposals: ReadonlyMap<string, Proposal> }

/**
 * Reads the latest jobs of a translation, and the results of the job that is asked for. That is the latest job unless
 * `jobId` names another job of the translation.
 */
export async function shownJob(
  call: PanelCall,
  { target, source, jobId }: { target: DocumentRow; source: DocumentRow | null; jobId: string },
): Promise<ShownJobs> {
  const { service, caller } = call
  const { database: db, config } = service
  const { workspace_id: workspaceId, id: documentId } = target
  const { JOB_RETENTION_DAYS: retentionDays } = config
  const recent = await recentJobs(db, { workspaceId, documentId, retentionDays, limit: shownJobs })
  const id = recent.some((job) => job.id === jobId) ? jobId : recent[0]?.id
  if (id === undefined) return { job: null, jobs: [], proposals: new Map() }
  const row = await findJob(db, { caller, id, config }).catch(unlessGone)
  if (row === null) return { job: null, jobs: [], proposals: new Map() }
  const progress = await progressOf(service, { table: translationJobs, key: { workspace_id: workspaceId, job_id: id } })
  const job = presentJob(row, config, progress)
  const jobs = recent.map(({ id, status, unit_count, created_at, applied_at }) => ({
    ...stateOf(status === 'running' ? 'pending' : status, applied_at !== null),
    id,
    requested: momentOf(created_at),
    unitCount: unit_count,
    words: '',
    isApplicable: false,
  }))
  return { job: jobLine(job, source), jobs, proposals: proposalsOf(job) }
}

function unlessGone(error: unknown): null {
  if (error instanceof Refusal && error.code === 'job_not_found') return null
  throw error
}

function jobLine(job: TranslationJob, source: DocumentRow | null): JobLine {
  const isCurrent = job.source_version === source?.version
  const toApply = job.result?.units.some(({ status, applied_at }) => status === 'translated' && applied_at === null)
  return {
    ...stateOf(job.status, job.applied_at !== null),
    id: job.id,
    requested: momentOf(job.created_at),
    unitCount: job.unit_count,
    words: wordsOf(job, isCurrent),
    isApplicable: job.status === 'succeeded' && isCurrent && toApply === true,
  }
}

function stateOf(status: TranslationJob['status'], isApplied: boolean) {
  const isPending = status === 'pending'
  if (status === 'succeeded') return { isPending, isGood: true, badge: isApplied ? 'Applied' : 'Ready' }
  return { isPending, isGood: isPending, badge: { pending: 'Waiting', failed: 'Failed', obsolete: 'Obsolete' }[status] }
}

function wordsOf(job: TranslationJob, isCurrent: boolean): string {
  const { status, obsolete_reason, error } = job
  if (status === 'pending') return pendingWords(job)
  if (status === 'failed') return `${error?.message ?? 'The job failed.'} Nothing was written. You can ask again.`
  if (status === 'obsolete') return obsoleteWords[obsolete_reason ?? 'source_changed']
  return resultWords(job, isCurrent)
}

function pendingWords({ attempt, started_at, last_error, next_attempt_at }: TranslationJob): string {
  const begun = started_at === null ? 'The job waits for its turn.' : `The model is being asked, attempt ${attempt}.`
  if (last_error === null) return begun
  const next = next_attempt_at === null ? '' : ` It is tried again at ${momentOf(next_attempt_at).text}.`
  return `${last_error.message}${next}`
}

function resultWords({ result, remaining_unit_count: remaining }: TranslationJob, isCurrent: boolean): string {
  const { translated = 0, skipped = 0, failed = 0, units = [] } = result ?? {}
  const applied = units.filter(({ applied_at }) => applied_at !== null).length
  const left = translated - applied
  const sentences = [
    `The model has translated ${texts(translated)}.`,
    applied > 0 ? `${texts(applied)} ${applied === 1 ? 'was' : 'were'} written.` : '',
    applied > 0 && left > 0 ? `${texts(left)} ${left === 1 ? 'was' : 'were'} left as a person has it.` : '',
    skipped > 0 ? `${texts(skipped)} ${skipped === 1 ? 'was' : 'were'} skipped.` : '',
    failed > 0 ? `${texts(failed)} could not be used.` : '',
    remaining > 0 ? `${texts(remaining)} did not fit into this job.` : '',
    !isCurrent && left > 0 ? 'The source has changed since, so the result cannot be applied. Ask again.' : '',
  ]
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

function texts(count: number): string {
  return count === 1 ? '1 text' : `${count} texts`
}

function proposalsOf({ result }: TranslationJob): ReadonlyMap<string, Proposal> {
  const units = result?.units ?? []
  return new Map(
    units
      .filter(({ applied_at }) => applied_at === null)
      .map(({ unit_id, status, target_text, reason }) => [
        unit_id,
        status === 'translated'
          ? { text: target_text, words: 'Proposed by the model' }
          : { text: null, words: `The model has not translated this text: ${reasonWords(reason ?? '')}` },
      ]),
  )
}
