import { once } from 'node:events'
import { Agent, get, type IncomingMessage, request } from 'node:http'
import pg from 'pg'
import { startApi } from '../../support/processes.ts'
import { createDocument, startSite, until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('what the API has accepted is answered when it is told to stop', async (t) => {
  const site = await startSite(t)
  const { api, client } = site
  const document = await createDocument(site, 'before')
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const headers = { authorization: `Bearer ${client.bearer}`, 'content-type': 'application/json' }
  const call = (method: string, path: string) =>
    request(`${client.origin}/api/v1${path}`, {
      method,
      agent,
      headers: { ...headers, 'transfer-encoding': 'chunked' },
    })

  // An idle connection, a half-received body, a write that waits inside its transaction, and a stream.
  const idle = request(`${client.origin}/healthz`, { agent }).end()
  const [idleAnswer] = (await once(idle, 'response')) as [IncomingMessage]
  idleAnswer.resume()
  const stream = await fetch(`${client.origin}/api/v1/events`, { headers })
  t.equal(stream.status, 200)
  const slow = call('POST', '/documents')
  slow.write('{"title":"slowly ')
  const holder = new pg.Client(site.url)
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM documents WHERE id = $1 FOR UPDATE', [document.id])
  const waiting = client.patch(`/documents/${document.id}`, { title: 'after' })
  await until(async () => (await site.ask(waitingWrites)).length === 1)

  api.signal('SIGTERM')
  await until(async () => api.output().includes('"msg":"draining"'))
  await until(async () => (await fetch(`${client.origin}/healthz`).catch(() => undefined)) === undefined)
  slow.end('written"}')
  const [slowAnswer] = (await once(slow, 'response')) as [IncomingMessage]
  t.equal(slowAnswer.statusCode, 201)
  slowAnswer.resume()
  await holder.query('COMMIT')
  t.equal((await waiting).status, 200)
  t.match(await stream.text(), 'retry: 5000', 'the stream ends as a whole')
  t.equal(await api.ended, 0)
  t.match(api.output(), '"msg":"stopped"')
  const titles = await site.ask('SELECT title FROM documents ORDER BY title')
  t.same(titles, [{ title: 'after' }, { title: 'slowly written' }])
})

const waitingWrites = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%documents%'`

// 20 is the long form of the test. Each restart takes some seconds.
const restarts = Number(process.env['RESTARTS'] ?? 3)

t.test('no call is reset or refused while processes are replaced behind a load balancer', async (t) => {
  const site = await startSite(t, { settings: { DRAIN_MS: '5000' } })
  // The load balancer's target, which changes when the process says that it is not ready.
  let current = site.api
  const balancer = { origin: current.origin, calls: 0, ended: false }
  const clients = Array.from({ length: 6 }, () => keepCalling(balancer, `Bearer ${site.client.bearer}`))
  const someCalls = async () => {
    const before = balancer.calls
    await until(async () => balancer.calls >= before + 18)
  }
  for (let restart = 0; restart < restarts; restart += 1) {
    const next = await startApi(site.env)
    t.teardown(next.stop)
    await someCalls()
    current.signal('SIGTERM')
    await until(async () => (await fetch(`${current.origin}/readyz`)).status === 503)
    const connections = await Promise.all([fetch(`${current.origin}/healthz`), fetch(`${current.origin}/api/v1/me`)])
    t.same(
      connections.map(({ headers }) => headers.get('connection')),
      ['close', 'close'],
    )
    await someCalls()
    balancer.origin = next.origin
    t.equal(await current.ended, 0)
    current = next
    await someCalls()
  }
  balancer.ended = true
  const failures = (await Promise.all(clients)).flat()
  t.comment(`${balancer.calls} calls through ${restarts} restarts`)
  t.same(failures, [])
})

t.test('a call on a connection that has idled is answered while others are being finished', async (t) => {
  const site = await startSite(t)
  const { api, client } = site
  const document = await createDocument(site, 'before')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const health = async () => {
    const [answer] = (await once(get(`${client.origin}/healthz`, { agent }), 'response')) as [IncomingMessage]
    await answer.resume().toArray()
    return answer
  }
  t.equal((await health()).headers.connection, 'keep-alive')
  const holder = new pg.Client(site.url)
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM documents WHERE id = $1 FOR UPDATE', [document.id])
  const waiting = client.patch(`/documents/${document.id}`, { title: 'after' })
  await until(async () => (await site.ask(waitingWrites)).length === 1)
  api.signal('SIGTERM')
  await until(async () => (await fetch(`${client.origin}/healthz`).catch(() => undefined)) === undefined)
  const late = await health()
  t.match({ status: late.statusCode, headers: late.headers }, { status: 200, headers: { connection: 'close' } })
  await holder.query('COMMIT')
  t.equal((await waiting).status, 200)
  t.equal(await api.ended, 0)
})

/** Makes calls one after the other over kept connections. Returns the failures. */
async function keepCalling(
  balancer: { origin: string; calls: number; ended: boolean },
  authorization: string,
): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const failures: string[] = []
  while (!balancer.ended) {
    try {
      const call = get(`${balancer.origin}/api/v1/me`, { agent, headers: { authorization } })
      const [answer] = (await once(call, 'response')) as [IncomingMessage]
      await answer.toArray()
      if (answer.statusCode !== 200) failures.push(`answered ${answer.statusCode}`)
    } catch (error) {
      failures.push(String(error))
    }
    balancer.calls += 1
  }
  agent.destroy()
  return failures
}
