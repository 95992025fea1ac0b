import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { readConfig } from '../../../shared/config/config.ts'
import { migrate } from '../../../shared/migrations/migrations.ts'
import { settingWarnings } from '../../../shared/process/setting-warnings.ts'
import { freePort } from '../../../shared/start/processes.ts'
import { createBareDatabase, createTestDatabase } from '../../support/postgres.ts'
import { portOf, type ServiceProcess, type Settings, startProcess } from '../../support/processes.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('on an empty database the processes say what to run, and serve as soon as it has run', async (t) => {
  const { url, drop } = await createBareDatabase()
  t.teardown(drop)
  const api = await startUnready({ DATABASE_URL: url })
  const worker = startProcess('workers/main.ts', { words: ['search'], env: { DATABASE_URL: url } })
  const live = startProcess('api/collab/main.ts', { env: { DATABASE_URL: url, COLLAB_PORT: '0' } })
  const processes = [api, worker, live]
  t.teardown(() => Promise.all(processes.map(({ stop }) => stop())))
  await until(async () => processes.every(({ output }) => output().includes('npm run migrate')))
  const ready = await fetch(`${api.origin}/readyz`)
  t.equal(ready.status, 503)
  t.match(await ready.json(), { status: 'unavailable', checks: { database: 'ok', migrations: 'failed' } })
  t.equal((await fetch(`${api.origin}/healthz`)).status, 200)
  const refused = await fetch(`${api.origin}/api/v1/me`)
  t.equal(refused.status, 503)
  t.ok(refused.headers.get('retry-after'))
  t.match(await refused.json(), {
    error: { code: 'service_unavailable' },
    request_id: refused.headers.get('x-request-id'),
  })

  const liveReady = `http://127.0.0.1:${await portOf(live)}/readyz`
  const waiting = await fetch(liveReady)
  t.equal(waiting.status, 503)
  t.match(await waiting.json(), { status: 'unavailable', checks: { database: 'ok', migrations: 'failed' } })

  await migrate({ url })
  await until(async () => (await fetch(`${api.origin}/readyz`)).ok)
  await until(async () => (await fetch(liveReady)).ok)
  t.equal((await fetch(`${api.origin}/api/v1/me`)).status, 401)
  await until(async () => worker.output().includes('"msg":"working"'))
  for (const process of processes) {
    t.equal(errorsOf(process).length, 1, 'the advice is one line')
    t.notMatch(process.output(), /"stack"|\n +at /)
    t.equal(await process.stop(), 0)
  }
})

t.test('a worker waits for the migrations that its version brings', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  const { rows } = await client.query(
    'DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations) RETURNING *',
  )
  const worker = startProcess('workers/main.ts', { words: ['search'], env: { DATABASE_URL: url } })
  t.teardown(worker.stop)
  await until(async () => worker.output().includes('npm run migrate'))
  t.notMatch(worker.output(), '"msg":"working"')
  const [{ id, name, run_on }] = rows
  await client.query('INSERT INTO schema_migrations (id, name, run_on) VALUES ($1, $2, $3)', [id, name, run_on])
  await until(async () => worker.output().includes('"msg":"working"'))
})

t.test('a database that cannot be reached is named by its variable, without the password', async (t) => {
  const url = `postgres://ada:hunter2@127.0.0.1:${await freePort({ host: '127.0.0.1' })}/kb?sslpassword=hunter2`
  const api = await startUnready({ DATABASE_URL: url, RATE_READS_PER_MIN: '5' })
  t.teardown(() => api.signal('SIGKILL'))
  await until(async () => api.output().includes('out of reach'))
  t.match(await (await fetch(`${api.origin}/readyz`)).json(), { checks: { database: 'failed' } })
  // Long enough for more tries.
  await sleep(5000)
  t.match(
    errorsOf(api).map((line) => JSON.parse(line)),
    [{ variable: 'DATABASE_URL', url: /^postgres:\/\/ada:\*\*\*@127\.0\.0\.1:\d+\/kb$/, causes: [/ECONNREFUSED/] }],
  )
  t.notMatch(api.output(), 'hunter2')
  t.notMatch(api.output(), '"stack"')
  t.match(api.output(), '"msg":"RATE_READS_PER_MIN is no setting; did you mean RATE_READ_PER_MIN?"')
})

t.test('a misspelt setting is noticed, a variable of another program is not', async (t) => {
  const secrets = { SESSION_SECRET: 's'.repeat(32), TOKEN_PEPPER: 'p'.repeat(32) }
  const warnings = (env: Settings) => settingWarnings({ config: readConfig({ ...secrets, ...env }), env })
  t.same(warnings({ QOUTA_FOLDERS: '1', SSE_HEARTBEAT: '1', PUBLIC_ORIGINS: 'x', MODEL_TIMEOUT: 'hunter2' }), [
    'MODEL_TIMEOUT is no setting; did you mean MODEL_TIMEOUT_MS?',
    'PUBLIC_ORIGINS is no setting; did you mean PUBLIC_ORIGIN?',
    'QOUTA_FOLDERS is no setting; did you mean QUOTA_FOLDERS?',
    'SSE_HEARTBEAT is no setting; did you mean SSE_HEARTBEAT_SECONDS?',
  ])
  const others = ['PGHOST', 'NODE_OPTIONS', 'SESSION_MANAGER', 'LOG_DIR', 'AWS_REGION', 'HOSTNAME', 'OPENAI_ORG_ID']
  const orchestrators = ['WORKER_SERVICE_HOST', 'DATABASE_PORT_5432_TCP_ADDR', 'TOKEN', 'SHLVL']
  t.same(warnings(Object.fromEntries([...others, ...orchestrators].map((name) => [name, 'x']))), [])
})

t.test('a key without models and models without a key are noticed', async (t) => {
  const secrets = { SESSION_SECRET: 's'.repeat(32), TOKEN_PEPPER: 'p'.repeat(32) }
  const warnings = (env: Settings) => settingWarnings({ config: readConfig({ ...secrets, ...env }), env })
  t.same(warnings({ OPENAI_API_KEY: 'hunter2' }), [
    'OPENAI_API_KEY has no effect without SUMMARY_MODEL or TRANSLATION_MODEL',
  ])
  t.same(warnings({ SUMMARY_MODEL: 'small' }), ['SUMMARY_MODEL has no effect without OPENAI_API_KEY'])
  t.same(warnings({ SUMMARY_MODEL: 'small', OPENAI_API_KEY: 'hunter2' }), [])
})

async function startUnready(env: Settings): Promise<ServiceProcess & { origin: string }> {
  const api = startProcess('api/main.ts', { env: { ...env, PORT: '0' } })
  const origin = `http://127.0.0.1:${await portOf(api)}`
  await until(async () => (await fetch(`${origin}/healthz`).catch(() => undefined))?.ok ?? false)
  return { ...api, origin }
}

// 50 is the level of errors.
function errorsOf(process: ServiceProcess): string[] {
  const lines = process.output().split('\n')
  return lines.filter((line) => line !== '' && !/^\{"level":[1-4]0,/.test(line))
}
