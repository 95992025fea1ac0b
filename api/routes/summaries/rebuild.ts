import Type from 'typebox'
import { presentSummaryJob } from '../../../shared/summaries/present.ts'
import { rebuildByModel, rebuildDeterministic } from '../../../shared/summaries/rebuild.ts'
import { Summary, SummaryJob, SummaryRebuildInput } from '../../../shared/summaries/schema.ts'
import { requireScopes } from '../../http/authenticate.ts'
import { rateLimitHeaders } from '../../http/rate-limit.ts'
import { apiPrefix, type Route, route } from '../../http/route.ts'
import { versionGuard } from '../../http/version-guard.ts'
import type { SummaryTargetKind } from '../summaries.ts'

/** `POST …/summary/rebuild` (specification 4.6). */
export function rebuildSummary(kind: SummaryTargetKind): Route {
  return route({
    method: 'POST',
    path: `${kind.path}/rebuild`,
    operationId: `rebuild${kind.noun}Summary`,
    tag: 'Summaries',
    summary: `Have the summary of ${kind.name} made anew`,
    description:
      'At once without a model, or with `generator=model` as a job, for which the token also needs `summaries:generate`. While a job is open for the same source, that one is answered. Needs If-Match over a summary that somebody wrote; a pinned one is left alone.',
    scopes: [kind.write],
    params: kind.params,
    query: Type.Object(kind.query),
    body: SummaryRebuildInput,
    guard: 'optional',
    versionForm: 'summary',
    success: [
      { status: 200, description: 'The stored summary', data: Summary, etag: true },
      { status: 202, description: 'The job', data: SummaryJob, location: true },
    ],
    errors: [
      ...kind.errors,
      'summary_pinned',
      'source_version_changed',
      'version_conflict',
      'precondition_required',
      'model_unavailable',
    ],
    // Before the transaction: what costs money has a scope and a limit of its own.
    async prepare({ body, caller, service }) {
      if (body.generator !== 'model') return null
      requireScopes(caller, ['summaries:generate'])
      return service.rateLimiter.consume('job', caller.tokenId)
    },
    async handle(call) {
      const { tx, service, caller, body } = call
      const limit = call.prepared()
      const rebuild = { caller, request: kind.request(call), asked: body, guard: versionGuard(call.guard) }
      if (body.generator !== 'model') {
        const { summary, tag, workspaceId } = await rebuildDeterministic(tx, rebuild)
        return { data: summary, etag: tag, workspaceId }
      }
      const job = await rebuildByModel({ tx, ...service }, rebuild)
      const headers = limit === null ? {} : rateLimitHeaders(limit)
      const location = `${apiPrefix}/summary-jobs/${job.id}`
      return { status: 202, data: presentSummaryJob(job), location, headers, workspaceId: job.workspace_id }
    },
  })
}
