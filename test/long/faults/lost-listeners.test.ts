import { followEvents } from '../../support/event-streams.ts'
import { createDocument, type Site, search, startSite, until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('what happened while nobody listened is caught up, and notifications are heard again', async (t) => {
  // Without heartbeats, a stream learns of an event by a notification or after a new LISTEN.
  const site = await startSite(t, { settings: { SSE_HEARTBEAT_SECONDS: '300' } })
  await site.work('search', 'events')
  const stream = await followEvents(t, site.client)
  const first = await createDocument(site, 'first')
  await stream.until(1)
  await until(async () => (await search(site, 'first')).results.length === 1)

  // The pools keep their connections, and nobody gets a new connection.
  await site.ask('ALTER ROLE documents CONNECTION LIMIT 1')
  const [{ count }] = await site.ask(`SELECT count(pg_terminate_backend(pid)) ${listeners}`)
  t.ok(count >= 3, `${count} connections that listened are cut`)
  await until(async () => (await site.ask(`SELECT ${listeners}`)).length === 0)
  const second = await createDocument(site, 'second')
  await until(async () => (await site.ask('SELECT FROM events WHERE event_id IS NULL')).length === 0)
  t.equal(stream.received.length, 1, 'nobody has heard of it')
  t.same(await states(site), [{ state: 'created' }], 'and its job waits')

  await site.ask('ALTER ROLE documents CONNECTION LIMIT -1')
  await stream.until(2)
  await until(async () => (await search(site, 'second')).results.length === 1)
  const third = await createDocument(site, 'third')
  await stream.until(3)
  await until(async () => (await search(site, 'third')).results.length === 1)
  t.strictSame(
    stream.received.map(({ data }) => data.document.id),
    [first.id, second.id, third.id],
    'each once, in order',
  )
})

const listeners = `FROM pg_stat_activity WHERE application_name IN ('svc-listen', 'svc-worker')`

function states(site: Site) {
  return site.ask(`SELECT state FROM pgboss.job WHERE name = 'search.index'`)
}
