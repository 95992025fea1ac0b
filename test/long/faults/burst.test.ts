import { createDocument, search, startSite, until, writeDocument } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('twenty writes within a second cause a few index jobs and end with the last text', async (t) => {
  const site = await startSite(t)
  const workers = [await site.work('search'), await site.work('search')]
  const document = await createDocument(site, 'before')
  await until(async () => (await search(site, 'before')).results.length === 1)
  const jobs = () =>
    workers.flatMap((worker) => worker.output().match(/"queue":"search.index".*"msg":"job"/g) ?? []).length
  const jobsBefore = jobs()

  const started = performance.now()
  for (let number = 1; number <= 20; number += 1) {
    // The time of the last write is moved, so that each write belongs to the burst, however late it comes.
    if (number > 1) await site.ask(`UPDATE documents SET updated_at = now() + interval '1 hour'`)
    const reply = await writeDocument(site, document, `version${number}`)
    t.equal(reply.status, 200, `write ${number}`)
    document.etag = reply.headers.get('etag') ?? ''
    const { results } = await search(site, 'before')
    t.same(results, [], 'a text that is gone is never found')
  }
  const seconds = (performance.now() - started) / 1000
  t.comment(`20 writes and searches in ${seconds.toFixed(1)} s`)

  await until(async () => (await search(site, 'version20')).projection.complete)
  await until(async () => (await site.ask(unfinished)).length === 0)
  t.match((await search(site, 'version20')).results, [{ document_id: document.id, freshness: 'current' }])
  for (let number = 1; number < 20; number += 1) {
    t.same((await search(site, `version${number}`)).results, [], `nothing is left of version ${number}`)
  }
  t.comment(`${jobs() - jobsBefore} index jobs`)
  // Half a second of writes becomes one job. On a slow machine, the writes take longer.
  t.ok(jobs() - jobsBefore <= 4 + Math.floor(2 * seconds), 'the writes behind the first one became a few jobs')
})

const unfinished = `SELECT FROM pgboss.job WHERE name = 'search.index' AND state IN ('created', 'retry', 'active')`
