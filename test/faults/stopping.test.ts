import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import pg from 'pg'
import t from 'tap'
import { createDocument, startSite, until } from '../support/site.ts'

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

  // A connection that idles, a body of which half has come, a write that waits inside its transaction, and a stream.
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
