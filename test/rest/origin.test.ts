import pg from 'pg'
import { deadLetterOf, queues } from '../../shared/jobs/queues.ts'
import { Client } from '../support/client.ts'
import { sharedService, startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const paths = ['/api/openapi.json', '/api-docs.md', '/healthz', '/readyz', '/metrics']

t.test('operators and load balancers reach health, readiness and metrics without a token', async (t) => {
  const { origin } = await sharedService()
  const client = new Client({ origin })
  const health = await client.get('//healthz')
  t.match(health, { status: 200, body: { status: 'ok' } })
  const ready = await client.get('//readyz')
  t.equal(ready.status, 200)
  t.same(ready.body, { status: 'ok', checks: { database: 'ok', migrations: 'ok', queue: 'ok' } })
  t.equal((await client.get('//metrics')).status, 200)
})

t.test('every page beside the API serves HEAD and OPTIONS and names its methods to anything else', async (t) => {
  const { origin } = await sharedService()
  const client = new Client({ origin })
  for (const path of paths) {
    const read = await client.get(`/${path}`)
    const head = await client.call('HEAD', `/${path}`)
    t.equal(head.status, read.status, path)
    t.equal(head.text, '')
    t.equal(head.headers.get('content-type'), read.headers.get('content-type'))
    const options = await client.call('OPTIONS', `/${path}`)
    t.equal(options.status, 204)
    t.equal(options.headers.get('allow'), 'GET, HEAD, OPTIONS')
    const wrong = await client.post(`/${path}`, {})
    t.equal(wrong.status, 405)
    t.equal(wrong.headers.get('allow'), 'GET, HEAD, OPTIONS')
    t.match(wrong.body.error, { code: 'method_not_allowed', details: { allow: ['GET', 'HEAD', 'OPTIONS'] } })
    t.equal(wrong.body.request_id, wrong.headers.get('x-request-id'))
    for (const answer of [read, wrong]) {
      t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
      t.ok(answer.headers.get('content-security-policy'))
      t.notOk(answer.headers.get('x-powered-by'))
      t.notOk(answer.headers.get('x-ratelimit-limit'), 'is not rate limited')
    }
  }
})

t.test('a service whose database lacks a migration is not ready', async (t) => {
  const { origin, url } = await startTestService(t)
  await execute(url, "DELETE FROM schema_migrations WHERE name = '0003-knowledge-bases'")
  const ready = await new Client({ origin }).get('//readyz')
  t.equal(ready.status, 503)
  t.same(ready.body, { status: 'unavailable', checks: { database: 'ok', migrations: 'failed', queue: 'ok' } })
})

t.test('a service without its job queue is not ready', async (t) => {
  const { origin, url } = await startTestService(t)
  await execute(url, 'DROP SCHEMA pgboss CASCADE')
  const ready = await new Client({ origin }).get('//readyz')
  t.equal(ready.status, 503)
  t.same(ready.body.checks, { database: 'ok', migrations: 'ok', queue: 'failed' })
})

t.test('a service that has lost its database says so, stays alive and keeps its metrics', async (t) => {
  const { origin, url } = await startTestService(t)
  const name = new URL(url).pathname.slice(1)
  await execute(url, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`, 'postgres')
  await execute(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`, 'postgres')
  const client = new Client({ origin })
  const ready = await client.get('//readyz')
  t.equal(ready.status, 503)
  t.same(ready.body.checks, { database: 'failed', migrations: 'failed', queue: 'failed' })
  t.equal((await client.get('//healthz')).status, 200)
  const metrics = await client.get('//metrics')
  t.equal(metrics.status, 200)
  t.match(metrics.text, 'svc_pool_connections')
  await execute(url, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`, 'postgres')
  t.equal((await client.get('//readyz')).status, 200, 'and recovers by itself')
})

t.test('an operator sees requests, process, pool and queues in the metrics', async (t) => {
  const { origin, service, signUp } = await startTestService(t)
  const client = await signUp()
  await client.get('/me')
  await client.get('/nowhere')
  await service.jobs.boss.send(queues.searchIndex.name, { workspace_id: 'ws', document_id: 'doc' })
  await service.jobs.boss.send(deadLetterOf(queues.searchIndex), {})
  const { text, headers } = await new Client({ origin }).get('//metrics')
  t.match(headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  const samples = samplesOf(text)
  t.equal(samples.get('svc_http_request_duration_seconds_count{method="GET",route="/me",status="200"}'), 1)
  t.equal(samples.get('svc_http_request_duration_seconds_count{method="GET",route="none",status="404"}'), 1)
  t.ok((samples.get('process_resident_memory_bytes') ?? 0) > 0)
  t.ok((samples.get('svc_pool_connections{state="idle"}') ?? 0) > 0)
  t.equal(samples.get('svc_pool_waiting_clients'), 0)
  t.ok([...samples.keys()].some((name) => name.startsWith('svc_build_info{version="')))
  t.equal(samples.get('svc_events_unnumbered_seconds'), 0)
  t.equal(samples.get('svc_stale_documents_oldest_seconds'), 0)
  t.ok((samples.get('svc_stored_bytes{what="database"}') ?? 0) > 0)
  t.equal(samples.get('svc_stored_bytes{what="attachments"}'), 0)
  t.equal(samples.get('svc_queue_waiting_jobs{queue="search.index"}'), 1)
  t.ok((samples.get('svc_queue_oldest_seconds{queue="search.index"}') ?? -1) >= 0)
  t.equal(samples.get('svc_queue_active_jobs{queue="search.index"}'), 0)
  t.equal(samples.get('svc_queue_failed_jobs{queue="search.index"}'), 1)
  for (const { name } of Object.values(queues)) t.ok(samples.has(`svc_queue_waiting_jobs{queue="${name}"}`), name)
})

t.test('metrics are for those who have the token, when there is one', async (t) => {
  const { origin, signUp } = await sharedService({ METRICS_TOKEN: 'a-token-for-metrics' })
  const missing = await new Client({ origin }).get('//metrics')
  t.equal(missing.status, 401)
  t.equal(missing.body.error.code, 'missing_token')
  t.match(missing.headers.get('www-authenticate'), /^Bearer /)
  t.equal((await (await signUp()).get('//metrics')).body.error.code, 'invalid_token', 'a token of the API is none')
  t.equal((await new Client({ origin, token: 'a-token-for-metrics' }).get('//metrics')).status, 200)
  t.equal((await new Client({ origin }).get('//healthz')).status, 200)
})

t.test('a failing probe leaks nothing about the database', async (t) => {
  const { origin, url } = await startTestService(t)
  await execute(url, 'DROP SCHEMA pgboss CASCADE')
  const { text } = await new Client({ origin }).get('//readyz')
  t.notMatch(text, /pgboss|relation|127\.0\.0\.1/)
})

function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

async function execute(url: string, statement: string, database?: string): Promise<void> {
  const target = new URL(url)
  if (database !== undefined) target.pathname = `/${database}`
  const client = new pg.Client(target.href)
  await client.connect()
  await client.query(statement)
  await client.end()
}
