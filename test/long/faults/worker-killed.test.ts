import pg from 'pg'
import { createDocument, search, startSite, until, writeDocument } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('a worker that is killed in the middle of its jobs loses nothing, and another one does the jobs', async (t) => {
  const site = await startSite(t)
  const earlier = await site.work('search')
  const documents = [
    await createDocument(site, 'outdated'),
    await createDocument(site, 'outdated'),
    await createDocument(site, 'outdated'),
  ]
  await until(async () => (await search(site, 'outdated')).results.length === 3)
  await earlier.stop()

  // A lock on the row of an index stops the worker between computing and writing.
  const holder = new pg.Client(site.url)
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM search_documents WHERE document_id = $1 FOR UPDATE', [documents[1]?.id])
  for (const document of documents) t.equal((await writeDocument(site, document, 'precious')).status, 200)
  const first = await site.work('search')
  await until(async () => (await site.ask(waitingWorkers)).length === 1)
  first.signal('SIGKILL')
  await first.ended
  const killed = performance.now()
  await holder.query('COMMIT')

  const second = await site.work('search')
  await until(async () => (await search(site, 'precious')).projection.complete)
  t.comment(`the jobs were done ${Math.round(performance.now() - killed)} ms after the kill`)
  // The second attempts of the same jobs have written the indexes.
  await until(async () => second.output().includes('"attempt":1'))
  t.match(await search(site, 'precious'), { results: { length: 3 }, projection: { document_count: 3 } })
  t.same((await search(site, 'outdated')).results, [], 'nothing of the old text is left')
  t.same(await site.ask(`SELECT state FROM pgboss.job WHERE name = 'search.index' AND state <> 'completed'`), [])
})

const waitingWorkers = `
  SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%search_documents%'`
