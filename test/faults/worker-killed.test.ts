import pg from 'pg'
import t from 'tap'
import { createDocument, search, startSite, until, writeDocument } from '../support/site.ts'

t.test('a worker that is killed in the middle of a job loses nothing, and another one does the job', async (t) => {
  const site = await startSite(t)
  const first = await site.work('search')
  const document = await createDocument(site, 'outdated')
  await until(async () => (await search(site, 'outdated')).results.length === 1)

  // Whoever holds the row of the index stops the worker between computing and writing.
  const holder = new pg.Client(site.url)
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM search_documents WHERE document_id = $1 FOR UPDATE', [document.id])
  t.equal((await writeDocument(site, document, 'precious')).status, 200)
  await until(async () => (await site.ask(waitingWorkers)).length === 1)
  first.signal('SIGKILL')
  await first.ended
  const killed = performance.now()
  await holder.query('COMMIT')

  const second = await site.work('search')
  await until(async () => (await search(site, 'precious')).results.length === 1)
  t.comment(`the job was done ${Math.round(performance.now() - killed)} ms after the kill`)
  t.match(second.output(), /"attempt":1/, 'as the second attempt of the same job')
  t.match(await search(site, 'precious'), { projection: { complete: true, document_count: 1 } })
  t.same((await search(site, 'outdated')).results, [], 'nothing of the old text is left')
  t.same(await site.ask(`SELECT state FROM pgboss.job WHERE name = 'search.index' AND state <> 'completed'`), [])
})

const waitingWorkers = `
  SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%search_documents%'`
