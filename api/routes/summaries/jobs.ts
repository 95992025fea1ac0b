import Type from 'typebox'
import { visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { queues } from '../../../shared/jobs/queues.ts'
import { progressOf } from '../../../shared/jobs/requested/progress.ts'
import { requestedJobTableOf } from '../../../shared/jobs/requested/tables.ts'
import { ulidPattern } from '../../../shared/schema/ids.ts'
import { visibleJob } from '../../../shared/summaries/job-queries.ts'
import { presentJob } from '../../../shared/summaries/present.ts'
import { SummaryJob } from '../../../shared/summaries/schema.ts'
import { route } from '../../http/route.ts'

const table = requestedJobTableOf(queues.summariesModel)

const SummaryJobParameter = Type.Object({
  id: Type.String({ pattern: `^sjob_${ulidPattern}$`, description: 'summary job id', 'x-error': 'job_not_found' }),
})

/** `GET /summary-jobs/{id}` (specification 4.6). */
export const getSummaryJob = route({
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
  async handle({ db, caller, params }) {
    const job = await visibleJob(db, { id: params.id, workspaceIds: visibleWorkspaces(caller) })
    if (job === null) throw new Refusal('job_not_found', { details: { id: params.id } })
    const key = { workspace_id: job.workspace_id, job_id: job.id }
    return { data: presentJob(job, await progressOf(db, { table, key })) }
  },
})
