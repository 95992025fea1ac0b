import type { BodyNode } from '../../shared/body/document.ts'
import { computation } from '../../shared/computations/computation.ts'
import type { ProjectionComputation, ProjectionInput } from '../../shared/jobs/projections/computation.ts'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
import { createLogger } from '../../shared/process/log.ts'
import { defineProjection, type Projection, type ProjectionSource } from '../../workers/runtime/projection.ts'
import { openRuntime, type Runtime, type Worker } from '../../workers/runtime/runtime.ts'
import { workersOf } from '../../workers/types.ts'
import type { Client } from './client.ts'
import { searchV2 } from './search.ts'
import { startTestService, type TestService } from './service.ts'
import { type Teardown, until } from './site.ts'

/** The members of the answer to the creation of a document that tests use. */
export type Written = { id: string; version: string; title: string; knowledge_base_id: number; updated_at: number }

/** A worker that runs within the test process. */
export type RunningWorkers = {
  runtime: Runtime
  /** Stops the worker as SIGTERM does: it first finishes the jobs that it has begun. */
  stop: () => Promise<void>
}

const runtimes = new WeakMap<TestService, Runtime[]>()

/** Runs workers on the database of a service, with their own connections. They end with the test at the latest. */
export async function startWorkers(t: Teardown, service: TestService, workers: Worker[]): Promise<RunningWorkers> {
  const { config } = service
  const log = createLogger({ service: 'test', config })
  const runtime = await openRuntime({ config, log, schedule: false })
  runtimes.set(service, [...(runtimes.get(service) ?? []), runtime])
  const stops = await Promise.all(workers.map((worker) => worker.start(runtime)))
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= Promise.all(stops.map((end) => end())).then(() => runtime.close())
    return stopped
  }
  t.teardown(stop)
  return { runtime, stop }
}

/** The numbers of attempts at jobs of a queue, in all workers that ran on a service, by outcome. */
export async function outcomesOf(service: TestService, queue: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { durations } of runtimes.get(service) ?? []) {
    for (const { metricName, labels, value } of (await durations.get()).values) {
      if (metricName !== 'svc_job_duration_seconds_count' || labels.queue !== queue) continue
      counts[labels.outcome ?? ''] = (counts[labels.outcome ?? ''] ?? 0) + value
    }
  }
  return counts
}

/**
 * Makes the worker of a projection that calls `beforeCommit` for each document of each round, after the source is
 * loaded. A test changes the source there, or ends a process.
 */
export function defineDisturbed<Source extends ProjectionSource, Result>(
  projection: Projection<Source, Result>,
  { beforeCommit }: { beforeCommit: (job: DocumentJob) => Promise<void> },
): Worker {
  return defineProjection({
    ...projection,
    async load(db, jobs) {
      const sources = await projection.load(db, jobs)
      for (const job of jobs) await beforeCommit(job)
      return sources
    },
  })
}

/** A computation that needs no thread. */
export function atOnce<Source, Result>(
  run: (input: ProjectionInput<Source>) => Result,
): ProjectionComputation<Source, Result> {
  return computation({ module: import.meta.url, run, isSmall: () => true, cpuMs: () => 0 })
}

/** A service with workers that index its documents and number its events. */
export async function startSearchService(t: Teardown): Promise<TestService> {
  const service = await startTestService(t)
  await startWorkers(t, service, workersOf(['search', 'events']))
  return service
}

/** Waits until all documents that the client can search are indexed. */
export async function untilFresh(client: Client): Promise<void> {
  await until(async () => (await searchV2(client, { q: 'anything', locale: 'all' })).projection.complete)
}

/**
 * Creates a document with the given blocks or Markdown text, in the default knowledge base unless `members` name one.
 */
export async function write(client: Client, body: BodyNode[] | string, members: object = {}): Promise<Written> {
  const reply = await client.post('/documents', { title: 'Untitled', content: contentOf(body), ...members })
  if (reply.status !== 201) throw new Error(`POST /documents answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}

/** Replaces any version of the body of a document, and returns the new version. */
export async function rewrite(client: Client, id: string, body: BodyNode[] | string): Promise<string> {
  const reply = await client.put(`/documents/${id}/content`, contentOf(body), { 'if-match': '*' })
  if (reply.status !== 200) throw new Error(`PUT /content answered ${reply.status}: ${reply.text}`)
  return reply.body.data.version
}

function contentOf(body: BodyNode[] | string): object {
  if (typeof body === 'string') return { format: 'markdown', content: body }
  return { format: 'tiptap-json', document: { type: 'doc', content: body } }
}
