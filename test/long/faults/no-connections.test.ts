import pg from 'pg'
import { createDocument, search, startSite, until, writeDocument } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('while PostgreSQL has no connection left people are told to come back, and no job is given up', async (t) => {
  const site = await startSite(t)
  const worker = await site.work('search', 'events')
  const document = await createDocument(site, 'before')
  const path = `/documents/${document.id}`
  await until(async () => (await search(site, 'before')).projection.complete)

  // The worker loses all connections in the middle of a job, and nobody gets a new connection.
  const holder = new pg.Client(site.url)
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM search_documents WHERE document_id = $1 FOR UPDATE', [document.id])
  const written = await writeDocument(site, document, 'between')
  t.equal(written.status, 200)
  document.etag = written.headers.get('etag') ?? ''
  await until(async () => (await site.ask(waitingJobs)).length === 1)
  // The job has no retry left, so one counted failure would end it.
  await site.ask(`UPDATE pgboss.job SET retry_limit = 0 WHERE state = 'active'`)
  const [{ pid }] = (await holder.query('SELECT pg_backend_pid() AS pid')).rows
  await site.ask('ALTER ROLE documents CONNECTION LIMIT 1')
  await site.ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'documents' AND pid <> $1`, [
    pid,
  ])
  t.match(await new pg.Client(site.url).connect().catch((error) => error), { code: '53300' })
  await until(async () => worker.output().includes('the job waits for the database'))

  for (const reply of [
    await site.client.get(path),
    await site.client.get('/search/v2?q=before'),
    await site.client.get('/events'),
    await writeDocument(site, document, 'refused'),
    await site.client.post('/documents', { title: 'refused' }),
    await site.client.delete(path),
  ]) {
    t.match(reply, { status: 503, body: { error: { type: 'service_error', code: 'service_unavailable' } } })
    t.match(reply.headers.get('retry-after'), /^[1-9][0-9]*$/)
  }
  const ready = await site.client.get('//readyz')
  t.equal(ready.status, 503)
  t.match(JSON.parse(ready.text), { checks: { database: 'failed' } })
  t.equal((await site.client.get('//healthz')).status, 200)

  await holder.query('COMMIT')
  await site.ask('ALTER ROLE documents CONNECTION LIMIT -1')
  await until(async () => (await site.client.get('//readyz')).status === 200)
  await until(async () => (await search(site, 'between')).results.length === 1)
  t.equal((await writeDocument(site, document, 'after')).status, 200)
  await until(async () => (await search(site, 'after')).projection.complete)
  t.match((await search(site, 'after')).results, [{ document_id: document.id, freshness: 'current' }])
  await until(async () => (await site.ask('SELECT FROM events WHERE event_id IS NULL')).length === 0)
  t.same(
    await site.ask('SELECT title FROM documents'),
    [{ title: 'Document' }],
    'nothing that was refused has happened',
  )
  t.same(await site.ask(`SELECT FROM pgboss.job WHERE name LIKE '%.dead'`), [], 'no job is given up')
  t.notMatch(worker.output(), '"outcome":"failed"')
})

const waitingJobs = `
  SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%search_documents%'`
