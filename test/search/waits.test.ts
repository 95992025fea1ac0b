import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../shared/database/database.ts'
import { indexedChannel } from '../../shared/search/announcements.ts'
import { SearchWaits } from '../../shared/search/waits.ts'
import { workersOf } from '../../workers/types.ts'
import type { Client } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { onlyLong } from '../support/run-options.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { rewrite, startWorkers, untilFresh, write } from '../support/workers.ts'

const { url, drop } = await createTestDatabase()
t.teardown(drop)
const proxy = await startCountingProxy(t, url)
const service = await startTestService(t, { DATABASE_URL: proxy.url })
const direct = { ...service, config: { ...service.config, DATABASE_URL: url } }
const { searchWaits } = service.service
const most = 10_000

t.test('who writes and then searches with a wait finds what was written, forty times in forty', async (t) => {
  await startSearchWorker(t)
  const ada = await service.signUp()
  let [found, complete] = [0, 0]
  for (let index = 0; index < 40; index += 1) {
    const { id } = await write(ada, `heron number${index}`)
    const { results, projection } = await searchV2(ada, { q: `heron number${index}`, wait_ms: most })
    if (results.length === 1 && results[0].document_id === id) found += 1
    if (projection.complete) complete += 1
  }
  t.strictSame({ found, complete }, { found: 40, complete: 40 })
  await write(ada, 'bittern')
  t.match((await ada.get(`/search?q=bittern&wait_ms=${most}`)).body, { data: { length: 1 } }, 'in version 1, too')
})

t.test('of eight people who rewrite the same documents, each finds the last words that were written', async (t) => {
  await startSearchWorker(t)
  const ada = await service.signUp()
  const documents = await Promise.all([0, 1, 2, 3].map(() => write(ada, 'nothing yet')))
  const missed: string[] = []
  await Promise.all(
    Array.from({ length: 8 }, async (_, person) => {
      for (let turn = 0; turn < 5; turn += 1) {
        const own = await write(ada, `written by person${person} in turn${turn}`)
        await rewrite(ada, documents[(person + turn) % 4]?.id ?? '', `rewritten by person${person} in turn${turn}`)
        const { results, projection } = await searchV2(ada, { q: `person${person} turn${turn}`, wait_ms: most })
        const ids = results.map(({ document_id }: { document_id: string }) => document_id)
        if (!ids.includes(own.id)) missed.push(`${person}/${turn}: ${JSON.stringify(projection)}`)
      }
    }),
  )
  t.strictSame(missed, [])
})

t.test('a search asks the database nothing while it waits, and once more than another search in all', async (t) => {
  const ada = await service.signUp()
  await write(ada, 'heron')
  await indexAll(t, ada)
  const usual = (await proxy.count(() => searchV2(ada, { q: 'heron' }))).statements.length
  await write(ada, 'a second heron')
  let answer: Promise<unknown> | undefined
  const asked = await proxy.count(async () => {
    answer = searchV2(ada, { q: 'heron', wait_ms: most })
    await untilWaiting(1)
    await untilAsked()
  })
  const waited = await proxy.count(() => sleep(1500))
  t.strictSame(waited.statements, [])
  t.match(service.database.state(), { acquiredConnections: 0 }, 'nor does it keep a connection')
  const worker = await startSearchWorker(t)
  const searched = await proxy.count(async () => {
    t.match(await answer, { results: { length: 2 }, projection: { complete: true } })
  })
  await worker.stop()
  t.equal(asked.statements.length + searched.statements.length, usual + 1)
})

t.test('without a worker the answer comes when the time is over, and says what is missing', async (t) => {
  const ada = await service.signUp()
  const { id } = await write(ada, 'heron')
  const start = performance.now()
  const { results, projection } = await searchV2(ada, { q: 'heron', wait_ms: 400 })
  t.ok(performance.now() - start >= 400, 'not before')
  t.strictSame(results, [])
  t.match(projection, { complete: false, stale_document_ids: [id], current_document_count: 0 })
  t.match((await ada.get('/search?q=heron&wait_ms=400')).body, { data: [] }, 'in version 1, too')
  t.equal((await ada.call('HEAD', '/search/v2?q=heron&wait_ms=1')).status, 200)
})

t.test('a search does not wait for documents out of its scope', async (t) => {
  const ada = await service.signUp()
  const { knowledge_base_id } = await write(ada, 'heron')
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const waiting = searchV2(ada, { q: 'heron', knowledge_base_id, wait_ms: most })
  await untilWaiting(1)
  t.match(await searchV2(ada, { q: 'heron', knowledge_base_id: other, wait_ms: most }), {
    projection: { complete: true },
  })
  const folder = (await ada.post('/folders', { name: 'Folder', knowledge_base_id })).body.data.id
  for (const [who, narrowed] of [
    [ada, { locale: 'de' }],
    [ada, { folder_id: folder }],
    [ada, { document_id: 'doc_of_nobody' }],
    [ada, { updated_by: 'usr_nobody' }],
    [ada, { updated_before: '2020-01-01' }],
    [await service.signUp(), {}],
  ] as const) {
    t.match(await searchV2(who, { q: 'heron', ...narrowed, wait_ms: most }), { projection: { complete: true } })
  }
  t.equal(searchWaits.size, 1, 'while the search of the whole waits')
  const worker = await startSearchWorker(t)
  t.match(await waiting, { results: [{ knowledge_base_id }], projection: { complete: true } })
  await worker.stop()
})

t.test('a narrowed search waits for every document in its scope', async (t) => {
  const ada = await service.signUp()
  const { knowledge_base_id } = await write(ada, 'heron')
  const above = (await ada.post('/folders', { name: 'Above', knowledge_base_id })).body.data.id
  const below = (await ada.post('/folders', { name: 'Below', knowledge_base_id, parent_id: above })).body.data.id
  const { id } = await write(ada, 'heron in a folder', { knowledge_base_id, folder_id: below })
  const narrowings: Record<string, string | number>[] = [
    { folder_id: above },
    { document_id: id },
    { updated_by: ada.user_id, updated_after: 0 },
  ]
  const answers = narrowings.map((narrowed) => searchV2(ada, { q: 'heron', ...narrowed, wait_ms: most }))
  await untilWaiting(3)
  await untilAsked()
  await indexAll(t, ada)
  for (const { results, projection } of await Promise.all(answers)) {
    t.equal(projection.complete, true)
    t.ok(results.some(({ document_id }: { document_id: string }) => document_id === id))
  }
})

t.test('what is written while a search waits does not hold its answer up', async (t) => {
  const ada = await service.signUp()
  const before = await write(ada, 'heron before')
  const waiting = searchV2(ada, { q: 'heron', wait_ms: most })
  await untilWaiting(1)
  await untilAsked()
  const after = await write(ada, 'heron after')
  await service.database.query(sql.unsafe`DELETE FROM pgboss.job WHERE data ->> 'document_id' = ${after.id}`)
  const worker = await startSearchWorker(t)
  t.match(await waiting, {
    results: [{ document_id: before.id }],
    projection: { complete: false, stale_document_ids: [after.id] },
  })
  await worker.stop()
})

t.test('a search does not wait for a document that is deleted', async (t) => {
  const ada = await service.signUp()
  const { id } = await write(ada, 'heron')
  const waiting = searchV2(ada, { q: 'heron', wait_ms: most })
  await untilWaiting(1)
  t.equal((await ada.delete(`/documents/${id}`, undefined, { 'if-match': '*' })).status, 204)
  const worker = await startSearchWorker(t)
  t.match(await waiting, { results: [], projection: { complete: true } })
  await worker.stop()
})

t.test('who waits for more documents than the database names at once waits for all of them', async (t) => {
  const ada = await service.signUp()
  await Promise.all(Array.from({ length: 230 }, (_, index) => write(ada, `heron ${index}`)))
  const waiting = searchV2(ada, { q: 'heron', wait_ms: most, limit: 100 })
  await untilWaiting(1)
  const worker = await startSearchWorker(t)
  t.match(await waiting, { projection: { complete: true, document_count: 230 } })
  await worker.stop()
})

t.test('a late announcement of an older write does not end the wait for a newer write', async (t) => {
  const [ada, ben] = [await service.signUp(), await service.signUp()]
  const [hers, his] = [await write(ada, 'heron'), await write(ben, 'heron')]
  const answers = [searchV2(ada, { q: 'heron', wait_ms: most }), searchV2(ben, { q: 'heron', wait_ms: most })]
  await untilWaiting(2)
  await untilAsked()
  const announce = (payload: string) =>
    service.database.query(sql.unsafe`SELECT pg_notify(${indexedChannel}, ${payload})`)
  await announce(`3 ${hers.id} ${his.id}`)
  await announce('x doc_1')
  await announce('')
  await announce(`${2n ** 60n} ${his.id}`)
  t.match(await answers[1], { projection: { complete: false } })
  t.equal(searchWaits.size, 1, 'the other still waits')
  await announce(`${2n ** 60n} ${hers.id}`)
  t.match(await answers[0], { projection: { complete: false } })
})

t.test('a client that goes away leaves no wait behind', async (t) => {
  const ada = await service.signUp()
  await write(ada, 'heron')
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${ada.bearer}` }
  const calls = Array.from({ length: 20 }, () =>
    fetch(`${service.origin}/api/v1/search/v2?q=heron&wait_ms=${most}`, { headers, signal: gone.signal }),
  )
  await untilWaiting(20)
  await untilAsked()
  const searches = await proxy.count(async () => {
    gone.abort()
    t.ok((await Promise.allSettled(calls)).every(({ status }) => status === 'rejected'))
    await until(async () => searchWaits.size === 0)
  })
  t.strictSame(searches.statements, [], 'and nothing is searched for it')
})

t.test('a hundred callers wait at once, and all of them are answered', async (t) => {
  const ada = await service.signUp()
  const { id } = await write(ada, 'heron')
  const answers = Array.from({ length: 100 }, () => searchV2(ada, { q: 'heron', wait_ms: most }))
  await untilWaiting(100)
  const worker = await startSearchWorker(t)
  for (const { results, projection } of await Promise.all(answers)) {
    if (!projection.complete || results[0]?.document_id !== id) t.fail(JSON.stringify(projection))
  }
  t.equal(searchWaits.size, 0)
  await worker.stop()
})

t.test(
  'a thousand waits cost the database one statement each, and nothing more until they end',
  onlyLong,
  async (t) => {
    const ada = await service.signUp()
    const wait = { scope: await scopeOf(await write(ada, 'heron')), waitMs: 600_000 }
    const ended: number[] = []
    const asked = await proxy.count(async () => {
      for (let index = 0; index < 1000; index += 1) {
        void searchWaits.untilIndexed(wait).then(() => ended.push(index))
      }
      await untilAsked()
    })
    t.equal(asked.statements.length, 1000)
    const waited = await proxy.count(() => sleep(500))
    t.strictSame(waited.statements, [])
    t.equal(searchWaits.size, 1000)
    const woken = await proxy.count(async () => {
      await indexAll(t, ada)
      await until(async () => ended.length === 1000)
    })
    t.strictSame(woken.statements.filter(isQuestion), [])
  },
)

t.test('searches beyond the bound are answered at once, and so are all when the process ends', async (t) => {
  const ada = await service.signUp()
  const waits = new SearchWaits({ database: service.database, url, onError: (error) => t.error(error), most: 1 })
  const wait = { scope: await scopeOf(await write(ada, 'heron')), waitMs: 600_000 }
  const first = waits.untilIndexed(wait)
  await waits.untilIndexed(wait)
  t.equal(waits.size, 1)
  waits.end()
  await first
  await waits.untilIndexed(wait)
  await waits.close()
})

t.test('a later page does not wait, since its cursor is of the scope as it was', async (t) => {
  const worker = await startSearchWorker(t)
  const ada = await service.signUp()
  await write(ada, 'heron one')
  await write(ada, 'heron two')
  const exhaustive = { q: 'heron', mode: 'exhaustive', limit: 1, wait_ms: most }
  const { page, projection } = await searchV2(ada, exhaustive)
  t.match([page, projection], [{ has_more: true }, { complete: true }])
  await worker.stop()
  await write(ada, 'heron three')
  const path = `/search/v2?q=heron&mode=exhaustive&limit=1&wait_ms=${most}&cursor=${encodeURIComponent(page.next_cursor)}`
  t.match((await ada.get(path)).body, { error: { code: 'search_cursor_stale' } })
})

t.test('a time out of range, a time that is none, and any highlight but true or false are refused', async (t) => {
  const ada = await service.signUp()
  for (const [parameters, name] of [
    ['wait_ms=-1', 'wait_ms'],
    ['wait_ms=10001', 'wait_ms'],
    ['wait_ms=1.5', 'wait_ms'],
    ['wait_ms=soon', 'wait_ms'],
    ['wait_ms=', 'wait_ms'],
    ['wait_ms=1&wait_ms=2', 'wait_ms'],
    ['highlight=yes', 'highlight'],
    ['highlight=', 'highlight'],
    ['highlight=true&highlight=true', 'highlight'],
  ] as const) {
    for (const path of ['/search', '/search/v2']) {
      const { status, body } = await ada.get(`${path}?q=heron&${parameters}`)
      t.match([status, body.error], [400, { code: 'invalid_request', details: { fields: [{ path: `?${name}` }] } }])
    }
  }
})

/** Resolves when so many searches wait. */
function untilWaiting(count: number): Promise<void> {
  return until(async () => searchWaits.size === count)
}

/** Resolves when the process has all answers of the database to the questions of waiting searches, and listens. */
async function untilAsked(): Promise<void> {
  await sleep(100)
  await until(async () => {
    const { acquiredConnections, waitingClients } = service.database.state()
    return acquiredConnections + waitingClients === 0
  })
}

const isQuestion = (statement: string) => statement.includes('pg_current_snapshot')

async function scopeOf({ id }: { id: string }) {
  const workspaceId: unknown = await service.database.oneFirst(sql.unsafe`
    SELECT workspace_id FROM documents WHERE id = ${id}`)
  return { workspaceIds: [String(workspaceId)], locale: 'default' as const }
}

function startSearchWorker(t: Test) {
  return startWorkers(t, direct, workersOf(['search', 'events']))
}

async function indexAll(t: Test, client: Client): Promise<void> {
  const worker = await startSearchWorker(t)
  await untilFresh(client)
  await worker.stop()
}
