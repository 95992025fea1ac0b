import { setTimeout as pause } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { TranslationJob } from '../../../shared/localization/jobs/schema.ts'
import { SummaryJob } from '../../../shared/summaries/schema.ts'
import type { Door } from '../door.ts'
import { tool } from '../tool.ts'

type Job = Static<typeof SummaryJob> | Static<typeof TranslationJob>

const { id, status, obsolete_reason } = SummaryJob.properties

// The pauses between two looks at a job, in milliseconds; the last one repeats.
const pauses = [200, 400, 800, 1500, 2500]

/** Waits for a job that another tool has started. */
export const job = tool({
  name: 'job',
  title: 'Job',
  description:
    'Wait until a job of summarise or translate ends, at most wait_seconds, and tell how it stands. While done is false, call again. obsolete: its source has changed; request it again.',
  input: Type.Object({
    job_id: Type.String(),
    wait_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 50, default: 20 })),
  }),
  output: Type.Object({
    id,
    status,
    done: Type.Boolean(),
    freshness: Type.Literal('current'),
    source_version: Type.String(),
    document_id: Type.Optional(Type.String({ description: 'of the translation' })),
    result_summary_version: Type.Optional(SummaryJob.properties.result_summary_version),
    error: Type.Optional(TranslationJob.properties.error),
    obsolete_reason: Type.Optional(Type.Union([obsolete_reason, TranslationJob.properties.obsolete_reason])),
  }),
  readOnly: true,
  async run({ job_id, wait_seconds = 20 }, { door, signal }) {
    const until = Date.now() + wait_seconds * 1000
    let found = await look(door, job_id)
    for (let index = 0; !isDone(found) && Date.now() < until; index += 1) {
      const wanted = pauses[Math.min(index, pauses.length - 1)] ?? 0
      // Nothing is held while waiting: no turn, no connection of the database.
      await pause(Math.min(wanted, Math.max(0, until - Date.now())), undefined, { signal })
      found = await look(door, job_id)
    }
    const { error } = found
    return {
      structured: { ...outcomeOf(found), done: isDone(found), freshness: 'current' as const },
      summary: `Job ${found.id} is ${found.status}${isDone(found) ? '' : '; call job again to wait on'}.`,
      ...(error !== null && { untrusted: `${error.code}: ${error.message}` }),
    }
  },
})

async function look(door: Door, id: string): Promise<Job> {
  const operationId = id.startsWith('tjob_') ? 'getTranslationJob' : 'getSummaryJob'
  return (await door<Job>({ operationId, params: { id } })).data
}

function isDone({ status }: Job): boolean {
  return status !== 'pending' && status !== 'running'
}

function outcomeOf(job: Job) {
  const { id, status, source_version, error, obsolete_reason } = job
  const result =
    'target_document_id' in job
      ? { document_id: job.target_document_id }
      : { result_summary_version: job.result_summary_version }
  return {
    id,
    status,
    source_version,
    ...result,
    ...(error !== null && { error }),
    ...(obsolete_reason !== null && { obsolete_reason }),
  }
}
