import { isDeepStrictEqual } from 'node:util'
import { visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { namesOfUsers } from '../../../shared/auth/queries.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { queues } from '../../../shared/jobs/queues.ts'
import { progressOf } from '../../../shared/jobs/requested/progress.ts'
import { requestedJobTableOf } from '../../../shared/jobs/requested/tables.ts'
import { configuredModel } from '../../../shared/models/model.ts'
import { visibleSummaryJob } from '../../../shared/summaries/job-queries.ts'
import { presentSummaryJob } from '../../../shared/summaries/present.ts'
import { readSummary } from '../../../shared/summaries/read.ts'
import { rebuildByModel, rebuildDeterministic } from '../../../shared/summaries/rebuild.ts'
import type { Summary, SummaryJob } from '../../../shared/summaries/schema.ts'
import type { TargetRequest } from '../../../shared/summaries/target.ts'
import { versionGuard } from '../../http/version-guard.ts'
import { usualBucket } from '../account-page.ts'
import type { Form } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { type Moment, momentOf, view } from '../render.ts'
import { type PanelCall, panelPage } from './frame.ts'
import { type SummaryLevel, type SummaryLevels, summaryLevels } from './summary-levels.ts'

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
  /** What the form sends for a rebuild: the key of the level, and the version of the summary that it shows. */
  form: { action: string; csrfToken: string; of: string; tag: string }
  mayWrite: boolean
  hasModel: boolean
}

const summaryView = view<SummaryData>('summary-panel')
const table = requestedJobTableOf(queues.summariesModel)

const missingLevel = 'That section or folder is no longer there. This is the summary of the document.'

/** The summaries that concern a document (api/guide/summaries.md#levels), with their freshness and their rebuild. */
export const summaryPanel = panelPage({
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
      form: { action: `/d/${document.id}/summary`, csrfToken, of: shown, tag },
      mayWrite,
      hasModel: configuredModel(config, 'SUMMARY_MODEL') !== null,
    })
    return { html, isPending: summary.pending_job_id !== null }
  },
  async write(call, submitted) {
    const { service, document } = call
    const of = submitted.field('of')
    const level = levelOf(await summaryLevels(service.database, document), of)
    const job = level === null ? null : await rebuild(call, { request: level.request, submitted })
    return hrefOf(document.id, { of, ...(job !== null && { job }) })
  },
  reasons: {
    precondition_required: 'A person wrote this summary. Confirm that it may be replaced.',
    version_conflict: 'Somebody has changed this summary in the meantime. Look at it as it is now, then decide again.',
    summary_pinned: 'This summary is pinned, so nothing may write over it.',
    model_unavailable: 'No model is configured, so a summary can only be made without one.',
    not_a_heading_block: missingLevel,
    block_not_found: missingLevel,
  },
})

function levelOf({ around, sections }: SummaryLevels, key: string): SummaryLevel | null {
  return [...around, ...sections].find((level) => level.key === key) ?? null
}

// Makes a summary anew. With a model, this is a job, and the result is its id. A summary that a person wrote is only
// replaced with the field `replace`, and each summary only in the version that the form has shown.
async function rebuild(call: PanelCall, asked: { request: TargetRequest; submitted: Form }): Promise<string | null> {
  const { request, submitted } = asked
  const { service, caller } = call
  const generator = generatorOf(submitted)
  const { summary } = await readSummary(service.database, { caller, request, query: undefined })
  const mayReplace = summary.generator !== 'manual' || submitted.field('replace') === 'yes'
  const guard = versionGuard({ required: false, tags: mayReplace ? [submitted.field('tag')] : null })
  return pageWrite(call, async (context) => {
    const target = { caller: context.caller, request, asked: { generator }, guard } as const
    const job = generator === 'model' ? await rebuildByModel(context, target) : null
    if (job === null) await rebuildDeterministic(context, target)
    recordPageWrite(context.tx, { call, ...recordOf(request) })
    return job?.id ?? null
  })
}

function generatorOf(submitted: Form): 'model' | 'deterministic' {
  return submitted.field('generator') === 'model' ? 'model' : 'deterministic'
}

function recordOf(request: TargetRequest) {
  if (request.type === 'document') return { action: 'rebuildDocumentSummary', documentIds: [request.id] }
  if (request.type === 'folder') return { action: 'rebuildFolderSummary', place: { folderId: request.id } }
  return { action: 'rebuildKnowledgeBaseSummary', place: { knowledgeBaseId: request.id } }
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
  const job = presentSummaryJob(row, await progressOf(db, { table, key }))
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
