import type { Client, Reply } from '../../support/client.ts'
import { createDocument, type Site, startSite, until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

const most = 10_000

t.test('a search that waits is answered as it is when the process is told to stop', async (t) => {
  const site = await startSite(t)
  const { id } = await createDocument(site, 'heron')
  const answers = [waiting(site.client, 'search/v2'), waiting(site.client, 'search/v2'), waiting(site.client, 'search')]
  await untilWaiting(site, 3)
  site.api.signal('SIGTERM')
  const [first, second, third] = await Promise.all(answers)
  for (const answer of [first, second]) {
    t.match(answer, {
      status: 200,
      body: { data: { results: [], projection: { complete: false, stale_document_ids: [id] } } },
    })
  }
  t.match(third, { status: 200, body: { data: [] } })
  t.equal(await site.api.ended, 0)
  t.match(site.api.output(), '"msg":"stopped"')
})

t.test('what is announced while the listening connection is lost does not keep a search waiting', async (t) => {
  const site = await startSite(t)
  const worker = await site.work('search')
  // The worker opens its connections for the first documents.
  const [stuck] = await Promise.all(['stork', 'crane'].map((text) => createDocument(site, text)))
  await untilIndexed(site)
  worker.signal('SIGSTOP')
  const { id } = await createDocument(site, 'heron')
  await site.client.put(`/documents/${stuck?.id}/content`, markdown('a later stork'), { 'if-match': '*' })
  await site.ask("DELETE FROM pgboss.job WHERE data ->> 'document_id' = $1", [stuck?.id])
  // The search for the document that nobody indexes waits for its whole time. It begins, and so ends, before the other.
  const whole = waiting(site.client, `search/v2?document_id=${stuck?.id}`).then(() => 'time is over')
  await untilWaiting(site, 1)
  const answer = waiting(site.client, `search/v2?document_id=${id}`)
  await untilWaiting(site, 2)
  await until(async () => (await site.ask(`SELECT ${listener}`)).length === 1)
  // The pools keep their connections, and nobody gets a new connection.
  await site.ask('ALTER ROLE documents CONNECTION LIMIT 1')
  await site.ask(`SELECT count(pg_terminate_backend(pid)) ${listener}`)
  worker.signal('SIGCONT')
  await untilIndexed(site, id)
  await site.ask('ALTER ROLE documents CONNECTION LIMIT -1')
  t.match(await Promise.race([answer, whole]), {
    status: 200,
    body: { data: { results: [{ document_id: id }], projection: { complete: true } } },
  })
  site.api.signal('SIGTERM')
  await whole
})

t.test('a search whose database goes away while it waits claims nothing', async (t) => {
  const site = await startSite(t)
  await createDocument(site, 'heron')
  const answer = waiting(site.client, 'search/v2', 6000)
  await untilWaiting(site, 1)
  await site.stopPostgres()
  t.match(await answer, { status: 503, body: { error: { code: 'service_unavailable' } } })
  await site.startPostgres()
  await site.work('search')
  await until(async () => {
    const { status, body } = await waiting(site.client, 'search/v2')
    return status === 200 && body.data.projection.complete && body.data.results.length === 1
  })
})

function waiting(client: Client, path: string, waitMs = most): Promise<Reply> {
  return client.get(`/${path}${path.includes('?') ? '&' : '?'}q=heron&wait_ms=${waitMs}`)
}

/** Resolves when so many searches of the API process wait. */
async function untilWaiting(site: Site, count: number): Promise<void> {
  await until(async () => {
    const metrics = await (await fetch(`${site.api.origin}/metrics`)).text()
    return metrics.includes(`svc_search_waits ${count}\n`)
  })
}

/** Resolves when a document, by default every document, is indexed. */
function untilIndexed(site: Site, id: string | null = null): Promise<void> {
  const stale = `SELECT FROM stale_projections WHERE projection = 'search' AND document_id = coalesce($1, document_id)`
  return until(async () => (await site.ask(stale, [id])).length === 0)
}

const markdown = (content: string) => ({ format: 'markdown', content })

const listener = `FROM pg_stat_activity WHERE application_name = 'svc-listen' AND query LIKE '%svc_indexed%'`
