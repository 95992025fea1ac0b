import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { bootstrap } from '../../shared/auth/bootstrap.ts'
import { resolveScopes } from '../../shared/auth/scopes.ts'
import { readConfig } from '../../shared/config/config.ts'
import { openDatabase } from '../../shared/database/database.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import { openJobs } from '../../shared/jobs/send.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../shared/start/embedded-postgres.ts'
import { freePort } from '../../shared/start/processes.ts'
import { Client } from './client.ts'
import { type ServiceProcess, type Settings, startApi, startWorker } from './processes.ts'
import { provideCluster } from './site-template.ts'

/** A service of real processes, on its own PostgreSQL, which flushes its writes to the disk. */
export type Site = {
  url: string
  /** The environment of the processes. */
  env: Settings
  client: Client
  knowledgeBase: number
  api: ServiceProcess & { origin: string }
  /** Starts one more worker process. */
  work: (...types: string[]) => Promise<ServiceProcess>
  /** Runs a statement as the superuser of the database, on a new connection. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of any statement
  ask: (statement: string, values?: unknown[]) => Promise<any[]>
  /** Enqueues a job. */
  send: (queue: Queue<object>) => Promise<void>
  stopPostgres: () => Promise<void>
  startPostgres: () => Promise<void>
}

/** Functions that run when a test or a measurement ends, the last function first. */
export type Teardown = { teardown: (end: () => unknown) => void }

/**
 * Starts PostgreSQL and the API. The test starts workers. Everything ends with the test. The data are in `directory`,
 * by default a temporary folder. `settings` are environment variables of the processes; `postgres` are parameters of
 * PostgreSQL.
 */
export async function startSite(
  t: Teardown,
  options: { directory?: string; settings?: Settings; postgres?: Settings } = {},
): Promise<Site> {
  const { directory = mkdtempSync(join(tmpdir(), 'documents-faults-')), settings = {} } = options
  await provideCluster(directory)
  const parameters = options.postgres === undefined ? {} : { settings: options.postgres }
  const port = await freePort({ host: '127.0.0.1' })
  let postgres: EmbeddedPostgres = await startEmbeddedPostgres({ directory, port, ...parameters })
  t.teardown(async () => {
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const { url, superuserUrl } = postgres
  const env = { DATABASE_URL: url, DATA_DIR: directory, ...unlimited, ...settings }
  const api = await startApi(env)
  t.teardown(api.stop)
  const client = new Client({ origin: api.origin, token: await bootstrapToken(env) })
  const created = await client.post('/knowledge-bases', { name: 'Faults' })
  return {
    url,
    env,
    client,
    knowledgeBase: created.body.data.id,
    api,
    async work(...types) {
      const worker = await startWorker(types, env)
      t.teardown(worker.stop)
      return worker
    },
    ask: (statement, values) => ask(superuserUrl, statement, values),
    send: (queue) => send(url, queue),
    stopPostgres: () => postgres.stop(),
    async startPostgres() {
      postgres = await startEmbeddedPostgres({ directory, port, ...parameters })
    },
  }
}

const unlimited = {
  RATE_READ_PER_MIN: '0',
  RATE_WRITE_PER_MIN: '0',
  RATE_SEARCH_PER_MIN: '0',
  QUOTA_DOCUMENTS: '1000000',
}

/** Returns a token of a new or known owner, like that of `npm run bootstrap`, without the time that a command takes. */
export async function bootstrapToken(env: Settings, email = 'owner@example.test'): Promise<string> {
  const { DATABASE_URL: url, TOKEN_PEPPER: pepper } = readConfig(env)
  const database = await openDatabase({ url, kind: 'whole', poolSize: 1 })
  const { scopes } = resolveScopes('read_write')
  const others = { name: null, password: null, workspace: null, role: 'owner', expiresInDays: null } as const
  const { token } = await bootstrap({ database, pepper }, { email, scopes, ...others }).finally(() => database.end())
  return token
}

/** Creates a document with one paragraph. Returns its id and ETag. */
export async function createDocument(site: Site, text: string): Promise<{ id: string; etag: string }> {
  const reply = await site.client.post('/documents', {
    title: 'Document',
    knowledge_base_id: site.knowledgeBase,
    content: { format: 'markdown', content: text },
  })
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
  return { id: reply.body.data.id, etag: `"${reply.body.data.version}"` }
}

/** Replaces the body of a document. Returns the answer. */
export function writeDocument(site: Site, document: { id: string; etag: string }, text: string) {
  const body = { format: 'markdown', content: text }
  return site.client.put(`/documents/${document.id}/content`, body, { 'if-match': document.etag })
}

/** The `data` of the answer of search v2. */
export async function search(site: Site, query: string) {
  const { status, text, body } = await site.client.get(`/search/v2?q=${encodeURIComponent(query)}&limit=100`)
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.data
}

/** Repeats the question until its answer is true. tap's timeout ends a wait that is too long. */
export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(25)
}

async function send(url: string, queue: Queue<object>): Promise<void> {
  const database = await openDatabase({ url, poolSize: 1 })
  const jobs = await openJobs({ database, onError: () => {} })
  await jobs.boss.send(queue.name, {})
  await jobs.stop()
  await database.end()
}

async function ask(url: string, statement: string, values: unknown[] = []) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(statement, values)).rows
  } finally {
    await client.end()
  }
}
