import type { Api } from './api.ts'
import { KnowledgeBaseError } from './errors.ts'
import type { components } from './openapi.d.ts'
import { pause } from './pauses.ts'

/** A job that is made by a rebuild of a summary with a model. */
export type SummaryJob = components['schemas']['SummaryJob']

/** A job that is made by `POST /documents/{id}/translation-jobs`. */
export type TranslationJob = components['schemas']['TranslationJob']

/** Any job of the service. */
export type Job = SummaryJob | TranslationJob

/** Options of waiting for a job. */
export type WaitOptions<J extends Job> = {
  /** Milliseconds until waiting is given up with the error `timeout`; 600,000 by default. */
  timeout?: number | undefined
  signal?: AbortSignal | undefined
  /** Is called with each state of the job that is read. */
  onState?: ((job: J) => void) | undefined
}

const firstDelay = 500
const longestDelay = 5000

/**
 * Waits until a job has ended, however it ends: `status` is then `succeeded`, `failed` or `obsolete`. Asks ever more
 * seldom, at last every five seconds. Throws the error `timeout` when the job has not ended in time.
 */
export async function waitForJob<J extends Job>(api: Api, id: string, options: WaitOptions<J>): Promise<J> {
  const { timeout = 600_000, signal, onState } = options
  const end = performance.now() + timeout
  for (let delay = firstDelay; ; delay = Math.min(longestDelay, delay * 1.5)) {
    const job = (await readJob(api, id, signal)) as J
    onState?.(job)
    if (job.finished_at !== null) return job
    const left = end - performance.now()
    if (left <= 0) throw new KnowledgeBaseError(`${id} has not ended within ${timeout} ms`, { code: 'timeout' })
    await pause(Math.min(left, delay * (0.75 + Math.random() / 2)), signal)
  }
}

async function readJob(api: Api, id: string, signal: AbortSignal | undefined): Promise<Job> {
  const input = { params: { path: { id } }, signal }
  if (id.startsWith('tjob_')) return (await api.GET('/translation-jobs/{id}', input)).data
  return (await api.GET('/summary-jobs/{id}', input)).data
}
