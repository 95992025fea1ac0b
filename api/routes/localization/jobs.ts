import Type from 'typebox'
import { progressOf } from '../../../shared/jobs/requested/progress.ts'
import { translationJobs } from '../../../shared/jobs/requested/queries.ts'
import { actorOf } from '../../../shared/localization/audit.ts'
import { applyJob } from '../../../shared/localization/jobs/apply.ts'
import { createJob } from '../../../shared/localization/jobs/create.ts'
import { findJob, presentJob } from '../../../shared/localization/jobs/read.ts'
import { Applied, ApplyInput, JobInput, TranslationJob } from '../../../shared/localization/jobs/schema.ts'
import { ulidPattern } from '../../../shared/schema/ids.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { mergeGuards } from '../../http/preconditions.ts'
import { apiPrefix, route } from '../../http/route.ts'
import { targetGuard } from './target-guard.ts'

const tag = 'Localization'

const JobParameter = Type.Object({
  id: Type.String({ pattern: `^tjob_${ulidPattern}$`, description: 'translation job id', 'x-error': 'job_not_found' }),
})

/** The routes of translation jobs: a model proposes texts, and a person applies them. */
export const translationJobRoutes = [
  route({
    method: 'POST',
    path: '/documents/{id}/translation-jobs',
    operationId: 'createTranslationJob',
    tag,
    summary: 'Have a model translate units of a translation',
    description:
      'Without `unit_ids` the units that are missing or whose source has changed, at most 100. The candidates are not written anywhere until they are applied. A change of the source makes the job obsolete. The source characters count against the daily quota of the workspace.',
    scopes: ['documents:write'],
    bucket: 'job',
    params: DocumentParameter,
    body: JobInput,
    success: { status: 202, description: 'The job', data: TranslationJob, location: true },
    errors: [
      'document_not_found',
      'translation_not_found',
      'unit_not_found',
      'localization_not_active',
      'source_document_missing',
      'invalid_locale',
      'nothing_to_translate',
      'translation_quota_exceeded',
      'model_unavailable',
    ],
    async handle({ write, service, caller, client, params, body }) {
      const request = { caller, actor: actorOf(caller, client), documentId: params.id, request: body }
      const job = await createJob(write, request)
      const location = `${apiPrefix}/translation-jobs/${job.id}`
      return { data: presentJob(job, service.config), location, workspaceId: job.workspace_id }
    },
  }),

  route({
    method: 'GET',
    path: '/translation-jobs/{id}',
    operationId: 'getTranslationJob',
    tag,
    summary: 'Read a translation job, its candidates and what it cost',
    description: 'A job outlives its documents; it can be read for 30 days after its end by default.',
    scopes: ['documents:read'],
    params: JobParameter,
    success: { status: 200, description: 'The job', data: TranslationJob },
    errors: ['job_not_found'],
    async handle({ db, service, caller, params }) {
      const job = await findJob(db, { caller, id: params.id, config: service.config })
      const key = { workspace_id: job.workspace_id, job_id: job.id }
      return { data: presentJob(job, service.config, await progressOf(service, { table: translationJobs, key })) }
    },
  }),

  route({
    method: 'POST',
    path: '/translation-jobs/{id}/apply',
    operationId: 'applyTranslationJob',
    tag,
    summary: 'Write the candidates of a job into the translation',
    description:
      'One change with one version before it, guarded by the ETag of the translation. Units that a person has edited, confirmed, ignored or has to settle are skipped with the reason; applying again changes nothing.',
    scopes: ['documents:write'],
    params: JobParameter,
    body: ApplyInput,
    guard: 'required',
    success: { status: 200, description: 'What was applied and what was not', data: Applied, etag: true },
    errors: [
      'job_not_found',
      'document_not_found',
      'unit_not_found',
      'precondition_mismatch',
      'version_conflict',
      'job_not_succeeded',
      'translation_source_changed',
      'document_too_large',
      'invalid_node',
    ],
    async handle(call) {
      const { caller, client, params, body } = call
      const guard = mergeGuards(call.guard, body.base_target_version)
      const { applied, workspaceId } = await applyJob(call.write, {
        caller,
        actor: actorOf(caller, client),
        jobId: params.id,
        unitIds: body.unit_ids,
        guard: targetGuard({ ...call, guard }),
      })
      return { data: applied, etag: applied.version, workspaceId, documentIds: [applied.document_id] }
    },
  }),
]
