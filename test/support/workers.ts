import type { Test } from 'tap'
import type { BodyNode } from '../../shared/body/document.ts'
import { createLogger } from '../../shared/process/log.ts'
import { openRuntime, type Runtime, type Worker } from '../../workers/runtime/runtime.ts'
import { workersOf } from '../../workers/types.ts'
import type { Client } from './client.ts'
import { startTestService, type TestService } from './service.ts'
import { until } from './site.ts'

/** What the service says of a document that was just written. */
export type Written = { id: string; version: string; title: string; knowledge_base_id: number; updated_at: number }

/** A worker process in this process. */
export type RunningWorkers = {
  runtime: Runtime
  /** Ends it as SIGTERM does: what has begun is finished first. */
  stop: () => Promise<void>
}

/** Runs workers on the database of a service, on connections of their own; they end with the test at the latest. */
export async function startWorkers(t: Test, service: TestService, workers: Worker[]): Promise<RunningWorkers> {
  const { config } = service
  const log = createLogger({ service: 'test', config })
  const runtime = await openRuntime({ config, log, schedule: false })
  const stops = await Promise.all(workers.map((worker) => worker.start(runtime)))
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= Promise.all(stops.map((end) => end())).then(() => runtime.close())
    return stopped
  }
  t.teardown(stop)
  return { runtime, stop }
}

/** A service whose documents are indexed and whose events are numbered as they are written. */
export async function startSearchService(t: Test): Promise<TestService> {
  const service = await startTestService(t)
  await startWorkers(t, service, workersOf(['search', 'events']))
  return service
}

/** Waits until everything that the client can search is indexed. */
export async function untilFresh(client: Client): Promise<void> {
  await until(async () => (await searchV2(client, { q: 'anything', locale: 'all' })).projection.complete)
}

/** What search v2 answers; throws when it refuses. */
export async function searchV2(client: Client, query: Record<string, string | number>) {
  const { status, text, body } = await client.get(`/search/v2?${queryString(query)}`)
  if (status !== 200) throw new Error(`GET /search/v2 answered ${status}: ${text}`)
  return body.data
}

/** Parameters as they stand in an address. */
export function queryString(query: Record<string, string | number>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value))
  return parameters.toString()
}

/** A document with the given blocks, or a text in Markdown, in the default knowledge base unless `members` say else. */
export async function write(client: Client, body: BodyNode[] | string, members: object = {}): Promise<Written> {
  const reply = await client.post('/documents', { title: 'Untitled', content: contentOf(body), ...members })
  if (reply.status !== 201) throw new Error(`POST /documents answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}

/** Replaces the body of a document, whatever it was, and returns its new version. */
export async function rewrite(client: Client, id: string, body: BodyNode[] | string): Promise<string> {
  const reply = await client.put(`/documents/${id}/content`, contentOf(body), { 'if-match': '*' })
  if (reply.status !== 200) throw new Error(`PUT /content answered ${reply.status}: ${reply.text}`)
  return reply.body.data.version
}

function contentOf(body: BodyNode[] | string): object {
  if (typeof body === 'string') return { format: 'markdown', content: body }
  return { format: 'tiptap-json', document: { type: 'doc', content: body } }
}
