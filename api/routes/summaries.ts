import Type, { type TObject } from 'typebox'
import { visibleWorkspaces } from '../../shared/auth/caller.ts'
import type { Scope } from '../../shared/auth/scopes.ts'
import { type ErrorCode, Refusal } from '../../shared/errors/errors.ts'
import { progressOf } from '../../shared/jobs/requested/progress.ts'
import { summaryJobs } from '../../shared/jobs/requested/queries.ts'
import { blockIdPattern, ulidPattern } from '../../shared/schema/ids.ts'
import { Text } from '../../shared/schema/strings.ts'
import { visibleSummaryJob } from '../../shared/summaries/job-queries.ts'
import { presentSummaryJob } from '../../shared/summaries/present.ts'
import { readSummary } from '../../shared/summaries/read.ts'
import { rebuildByModel, rebuildDeterministic } from '../../shared/summaries/rebuild.ts'
import { saveManual } from '../../shared/summaries/save.ts'
import { Summary, SummaryInput, SummaryJob, SummaryRebuildInput } from '../../shared/summaries/schema.ts'
import type { TargetRequest } from '../../shared/summaries/target.ts'
import { requireScopes } from '../http/authenticate.ts'
import { DocumentParameter, FolderParameter, KnowledgeBaseParameter } from '../http/parameters.ts'
import { rateLimitHeaders } from '../http/rate-limit.ts'
import { apiPrefix, type Route, route } from '../http/route.ts'
import { versionGuard } from '../http/version-guard.ts'

const SummaryJobParameter = Type.Object({
  id: Type.String({ pattern: `^sjob_${ulidPattern}$`, description: 'summary job id', 'x-error': 'job_not_found' }),
})

/** A kind of resource that has a summary, with everything in which its endpoints differ. */
type SummaryTargetKind = {
  path: string
  /** The part of an operation id that names the kind: `Folder` in `getFolderSummary`. */
  noun: string
  /** The name of the kind in the sentences of the reference. */
  name: string
  params: TObject
  /** Query parameters that name a part of the resource. */
  query: TObject['properties']
  read: Scope
  write: Scope
  errors: readonly ErrorCode[]
  /** Returns the target of a call whose parameters have been checked. */
  request: (call: { params: unknown; query: unknown }) => TargetRequest
}

const idOf = (params: unknown) => (params as { id: number }).id

// The kinds of resources with summaries. Documents include their sections.
const summaryTargetKinds: readonly SummaryTargetKind[] = [
  {
    path: '/documents/{id}/summary',
    noun: 'Document',
    name: 'a document, or with `block_id` of the section under that heading',
    params: DocumentParameter,
    query: {
      block_id: Type.Optional(Type.String({ pattern: blockIdPattern, description: 'a top-level heading' })),
    },
    read: 'documents:read',
    write: 'documents:write',
    errors: ['document_not_found', 'block_not_found', 'not_a_heading_block'],
    request({ params, query }) {
      const { block_id: blockId } = query as { block_id?: string }
      return { type: 'document', id: (params as { id: string }).id, blockId }
    },
  },
  {
    path: '/folders/{id}/summary',
    noun: 'Folder',
    name: 'a folder',
    params: FolderParameter,
    query: {},
    read: 'knowledge-bases:read',
    write: 'knowledge-bases:write',
    errors: ['folder_not_found'],
    request: ({ params }) => ({ type: 'folder', id: idOf(params) }),
  },
  {
    path: '/knowledge-bases/{id}/summary',
    noun: 'KnowledgeBase',
    name: 'a knowledge base',
    params: KnowledgeBaseParameter,
    query: {},
    read: 'knowledge-bases:read',
    write: 'knowledge-bases:write',
    errors: ['knowledge_base_not_found'],
    request: ({ params }) => ({ type: 'knowledge_base', id: idOf(params) }),
  },
]

/** The routes of summaries of documents, sections, folders and knowledge bases, and of summary jobs. */
export const summaryRoutes: readonly Route[] = [
  ...summaryTargetKinds.flatMap((kind) => [getSummary(kind), putSummary(kind), rebuildSummary(kind)]),

  route({
    method: 'GET',
    path: '/summary-jobs/{id}',
    operationId: 'getSummaryJob',
    tag: 'Summaries',
    summary: 'Read how a summary job stands',
    description:
      '`obsolete` means that the result was dropped, since the source or the summary had moved: ask again. Jobs can be read for a while after their end, also when their target has gone.',
    scopes: ['documents:read'],
    params: SummaryJobParameter,
    success: { status: 200, description: 'The job', data: SummaryJob },
    errors: ['job_not_found'],
    async handle({ db, service, caller, params }) {
      const job = await visibleSummaryJob(db, { id: params.id, workspaceIds: visibleWorkspaces(caller) })
      if (job === null) throw new Refusal('job_not_found', { details: { id: params.id } })
      const key = { workspace_id: job.workspace_id, job_id: job.id }
      return { data: presentSummaryJob(job, await progressOf(service, { table: summaryJobs, key })) }
    },
  }),
]

function getSummary(kind: SummaryTargetKind): Route {
  return route({
    method: 'GET',
    path: kind.path,
    operationId: `get${kind.noun}Summary`,
    tag: 'Summaries',
    summary: `Read the summary of ${kind.name}`,
    description:
      'The stored summary or, where there is none, one made now without a model. `freshness=stale` means that the source has changed since. With `query` the passages that answer it best, which is never stored; the ETag stays that of what is stored.',
    scopes: [kind.read],
    params: kind.params,
    query: Type.Object({
      ...kind.query,
      query: Type.Optional(Text({ min: 1, max: 200, description: 'words and "quoted phrases", as in a search' })),
    }),
    success: { status: 200, description: 'The summary', data: Summary, etag: true },
    errors: [...kind.errors, 'invalid_node'],
    async handle(call) {
      const { query } = call.query as { query?: string }
      const { summary, tag } = await readSummary(call.service.database, {
        caller: call.caller,
        request: kind.request(call),
        query,
      })
      return { data: summary, etag: tag }
    },
  })
}

function putSummary(kind: SummaryTargetKind): Route {
  return route({
    method: 'PUT',
    path: kind.path,
    operationId: `put${kind.noun}Summary`,
    tag: 'Summaries',
    summary: `Write the summary of ${kind.name}`,
    description:
      'Guarded twice: If-Match names the summary that is replaced (`"summary:0"` where nothing is stored), `base_source_version` the `current_source_version` it was written from. `pinned` keeps machines from writing over it; open jobs of the target end as obsolete.',
    scopes: [kind.write],
    params: kind.params,
    query: Type.Object(kind.query),
    body: SummaryInput,
    guard: 'required',
    versionForm: 'summary',
    success: { status: 200, description: 'The stored summary', data: Summary, etag: true },
    errors: [...kind.errors, 'source_version_changed'],
    async handle(call) {
      const { summary, tag } = await saveManual(call, {
        caller: call.caller,
        request: kind.request(call),
        written: call.body,
        guard: versionGuard(call.guard),
      })
      return { data: summary, etag: tag }
    },
  })
}

function rebuildSummary(kind: SummaryTargetKind): Route {
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
    // Checks the scope and the rate limit of model jobs before the transaction. Model jobs have both, because a model
    // costs money.
    async prepare({ body, caller, service }) {
      if (body.generator !== 'model') return null
      requireScopes(caller, ['summaries:generate'])
      return service.rateLimiter.consume('job', caller.credentialId)
    },
    async handle(call) {
      const { tx, ahead, service, caller, body } = call
      const limit = call.prepared()
      const rebuild = { caller, request: kind.request(call), asked: body, guard: versionGuard(call.guard) }
      if (body.generator !== 'model') {
        const { summary, tag, workspaceId } = await rebuildDeterministic({ tx, ahead }, rebuild)
        return { data: summary, etag: tag, workspaceId }
      }
      const job = await rebuildByModel({ tx, ahead, ...service }, rebuild)
      const headers = limit === null ? {} : rateLimitHeaders(limit)
      const location = `${apiPrefix}/summary-jobs/${job.id}`
      return { status: 202, data: presentSummaryJob(job), location, headers, workspaceId: job.workspace_id }
    },
  })
}
