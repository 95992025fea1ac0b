import { createDocument, type Site, startSite, until, writeDocument } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('while the database is read-only people can read, and are told to come back with what they write', async (t) => {
  const site = await startSite(t, { settings: { RATE_READ_PER_MIN: '1000' } })
  const search = await site.work('search', 'events')
  const document = await createDocument(site, 'before')
  const path = `/documents/${document.id}`
  t.equal(await readiness(site), 200)

  await site.ask('ALTER DATABASE postgres SET default_transaction_read_only = on')
  await site.ask(beginSessionsAnew)
  await until(async () => (await site.client.get(path)).status === 200)
  for (const read of [path, `${path}/content`, `${path}/outline`, '/documents', '/me', '/knowledge-bases']) {
    const { status, text, headers } = await site.client.get(read)
    t.equal(status, 200, `${read}: ${text}`)
    t.ok(headers.get('x-ratelimit-remaining'), 'and is counted')
  }
  for (const reply of [
    await writeDocument(site, document, 'refused'),
    await site.client.post('/documents', { title: 'refused' }),
    await site.client.patch(path, { title: 'refused' }),
    await site.client.delete(path),
  ]) {
    t.match(reply, { status: 503, body: { error: { type: 'service_error', code: 'service_unavailable' } } })
    t.match(reply.headers.get('retry-after'), /^[1-9][0-9]*$/)
  }
  const { status, text } = await site.client.get('//readyz')
  t.equal(status, 503)
  t.match(JSON.parse(text), { status: 'unavailable', checks: { database: 'failed', migrations: 'ok', queue: 'ok' } })

  await site.ask('BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT')
  await site.ask(beginSessionsAnew)
  await until(async () => (await writeDocument(site, document, 'after')).status === 200)
  t.comment(`writes after ${Math.round(performance.now())} ms`)
  await until(async () => (await readiness(site)) === 200)
  t.comment(`ready after ${Math.round(performance.now())} ms`)
  await until(async () => (await site.client.get('/search/v2?q=after')).body.data?.projection.complete)
  t.match((await site.client.get('/search/v2?q=after')).body.data.results, [{ document_id: document.id }])
  t.same(await site.ask(`SELECT FROM pgboss.job WHERE name LIKE '%.dead'`), [], 'no job is given up')
  t.equal(await search.stop(), 0)
})

async function readiness(site: Site): Promise<number> {
  return (await site.client.get('//readyz')).status
}

// A session reads the setting when it begins.
const beginSessionsAnew = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL`
