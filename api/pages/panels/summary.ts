import { isDeepStrictEqual } from 'node:util'
import { visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { namesOfUsers } from '../../../shared/auth/queries.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { progressOf } from '../../../shared/jobs/requested/progress.ts'
import { summaryJobs } from '../../../shared/jobs/requested/queries.ts'
import { configuredModel } from '../../../shared/models/model.ts'
import { visibleSummaryJob } from '../../../shared/summaries/job-queries.ts'
import { presentSummaryJob } from '../../../shared/summaries/present.ts'
import { readSummary } from '../../../shared/summaries/read.ts'
import { type Summary, type SummaryJob, textLimits } from '../../../shared/summaries/schema.ts'
import { usualBucket } from '../account-page.ts'
import { actionOf } from '../form-refusal.ts'
import type { Page } from '../page.ts'
import { type Moment, momentOf, view } from '../render.ts'
import { type PanelCall, panelPage } from './frame.ts'
import { type SummaryLevel, type SummaryLevels, summaryLevels } from './summary-levels.ts'
import { generatorOf, summaryWrites, typedText } from './summary-writes.ts'

type LevelLink = Pick<SummaryLevel, 'kind' | 'name'> & { href: string; isCurrent: boolean }

type SummaryData = {
  levels: LevelLink[]
  sections: LevelLink[]
  summary: Summary
  /** The name of the person who has written or asked for the summary; null when it is not known. */
  author: string | null
  updated: Moment | null
  /** The job that is open, or the job that this person has just asked for; null when there is neither. */
  job: SummaryJob | null
  /** When the next attempt of the job begins; null when it is not planned. */
  nextAttempt: Moment | null
  problem: string | null
  /** What the forms send: the key of the level, and the versions of the summary and of the source that they show. */
  form: { action: string; csrfToken: string; of: string; tag: string; source: string }
  /** The form in which a person writes the summary, with what was typed before. */
  written: { text: string; pinned: boolean; isOpen: boolean; longest: number }
  mayWrite: boolean
  hasModel: boolean
}

const summaryView = view<SummaryData>('summary-panel')

const missingLevel = 'That section or folder is no longer there. This is the summary of the document.'

const panel = panelPage({
  name: 'summary',
  bucket: (call) => (call.submitted !== null && generatorOf(call.submitted) === 'model' ? 'job' : usualBucket(call)),
  async show(call, refused) {
    const { service, document, caller, query, csrfToken, mayWrite } = call
    const { database: db, config } = service
    const levels = await summaryLevels(db, document)
    const key = refused?.submitted.field('of') ?? query.get('of') ?? 'document'
    const level = levelOf(levels, key)
    const { request } = level ?? levels.document
    const { summary, tag } = await readSummary(db, { caller, request, query: undefined })
    const job = await findJob(call, { summary, id: summary.pending_job_id ?? query.get('job') })
    const shown = (level ?? levels.document).key
    const typed = refused?.submitted.field('operation') === 'save' ? refused.submitted : null
    const linkTo = ({ key, kind, name }: SummaryLevel): LevelLink => {
      return { kind, name, href: hrefOf(document.id, { of: key }), isCurrent: key === shown }
    }
    const html = summaryView({
      title: 'Summary',
      levels: levels.around.map(linkTo),
      sections: levels.sections.map(linkTo),
      summary,
      author: await authorOf(db, summary),
      updated: summary.updated_at === null ? null : momentOf(summary.updated_at),
      job,
      nextAttempt: job?.next_attempt_at ? momentOf(job.next_attempt_at) : null,
      problem: refused?.problem ?? (level === null ? missingLevel : null),
      form: { action: `/d/${document.id}/summary`, csrfToken, of: shown, tag, source: summary.current_source_version },
      written: {
        text: typed === null ? summary.text : typedText(typed),
        pinned: typed === null ? summary.pinned : typed.field('pinned') === 'yes',
        isOpen: typed !== null,
        longest: textLimits.stored,
      },
      mayWrite,
      hasModel: configuredModel(config, 'SUMMARY_MODEL') !== null,
    })
    return { html, isPending: summary.pending_job_id !== null }
  },
  async write(call, submitted) {
    const { service, document } = call
    const of = submitted.field('of')
    const level = levelOf(await summaryLevels(service.database, document), of)
    if (level === null) throw new Refusal('block_not_found', { details: { id: of } })
    const write = actionOf(summaryWrites, submitted.field('operation'))
    const job = await write(call, { request: level.request, submitted })
    return hrefOf(document.id, { of, ...(job !== null && { job }) })
  },
  reasons: {
    precondition_required: 'A person wrote this summary. Confirm that it may be replaced.',
    version_conflict: 'Somebody has changed this summary in the meantime. Look at it as it is now, then decide again.',
    source_version_changed:
      'The document has changed since you loaded this page. Nothing was saved. Look whether your text still fits, and save again.',
    invalid_request: `A summary has 1 to ${textLimits.stored} characters.`,
    summary_pinned: 'This summary is pinned, so nothing may write over it.',
    model_unavailable: 'No model is configured, so a summary can only be made without one.',
    not_a_heading_block: missingLevel,
    block_not_found: missingLevel,
  },
})

/**
 * The summaries that concern a document (api/guide/summaries.md#levels), with their freshness. A person makes them anew
 * or writes them. A form has a text of up to 20,000 characters, of which each takes up to 12 bytes.
 */
export const summaryPanel: Page = { formMaxBytes: 256 * 1024, ...panel }

function levelOf({ around, sections }: SummaryLevels, key: string): SummaryLevel | null {
  return [...around, ...sections].find((level) => level.key === key) ?? null
}

// A job for this summary; null for a job that is gone or that is about something else.
async function findJob(
  { service, caller }: PanelCall,
  { summary, id }: { summary: Summary; id: string | null },
): Promise<SummaryJob | null> {
  const { database: db } = service
  const row = id === null ? null : await visibleSummaryJob(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (row === null) return null
  const key = { workspace_id: row.workspace_id, job_id: row.id }
  const job = presentSummaryJob(row, await progressOf(service, { table: summaryJobs, key }))
  return isDeepStrictEqual(job.target, summary.target) ? job : null
}

async function authorOf(db: Queryable, { updated_by: id }: Summary): Promise<string | null> {
  if (id === null) return null
  const names = await namesOfUsers(db, [id])
  return names.get(id) ?? null
}

function hrefOf(documentId: string, query: Record<string, string>): string {
  return `/d/${documentId}/summary?${new URLSearchParams(query)}`
}
