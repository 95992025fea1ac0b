import { numberEvents } from '../../shared/events/number.ts'
import { workersOf } from '../../workers/types.ts'
import type { Client } from '../support/client.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'
import { rewrite, startWorkers, untilFresh, write } from '../support/workers.ts'

const shared = await startTestService(t)

t.test('a text that is not indexed yet is owned up to, and never found in its old form', async (t) => {
  const { ada, indexAll } = await startWithoutWorkers(t)
  const other = await write(ada, 'nothing of interest')
  const created = await write(ada, 'an old salmon', { title: 'Old' })
  t.match(await searchV2(ada, { q: 'salmon' }), { results: [], projection: staleProjection(other.id, created.id) })
  await indexAll()
  t.match(await searchV2(ada, { q: 'salmon' }), { results: [{ context: { before: 'an old ' } }], projection: current })

  const version = await rewrite(ada, created.id, 'a new salmon')
  for (const mode of ['topk', 'exhaustive']) {
    const { results, projection } = await searchV2(ada, { q: 'salmon', mode })
    t.strictSame(results, [])
    t.match(projection, { ...staleProjection(created.id), document_count: 2, current_document_count: 1 })
  }
  t.strictSame((await ada.get('/search?q=salmon')).body.data, [], 'nor by version 1')
  t.strictSame((await searchV2(ada, { q: 'old' })).results, [], 'nor by its title')
  await indexAll()
  const { results, projection } = await searchV2(ada, { q: 'salmon' })
  t.match(results, [{ context: { before: 'a new ' }, source_version: version, indexed_version: version }])
  t.match(projection, current)
})

t.test('a text that went back to what it was is found again only when that is certain', async (t) => {
  const { ada, indexAll } = await startWithoutWorkers(t)
  const { id } = await write(ada, 'a trout')
  await indexAll()
  const body = (await ada.get(`/documents/${id}/content`)).body.data.document.content
  await rewrite(ada, id, 'a perch')
  await rewrite(ada, id, body)
  t.match(await searchV2(ada, { q: 'trout' }), { results: [], projection: staleProjection(id) })
  await indexAll()
  t.match(await searchV2(ada, { q: 'trout' }), { results: [{ document_id: id }], projection: current })
  t.strictSame((await searchV2(ada, { q: 'perch' })).results, [])
})

t.test('a renamed document is found by its new title alone', async (t) => {
  const { ada, indexAll } = await startWithoutWorkers(t)
  const { id } = await write(ada, 'a text', { title: 'Antelope' })
  await indexAll()
  await ada.patch(`/documents/${id}`, { title: 'Bison' })
  for (const q of ['antelope', 'bison', 'text']) {
    t.match(await searchV2(ada, { q }), { results: [], projection: staleProjection(id) }, q)
  }
  await indexAll()
  t.match(await searchV2(ada, { q: 'bison' }), {
    results: [{ title: 'Bison', matched_in: 'title' }],
    projection: current,
  })
  t.strictSame((await searchV2(ada, { q: 'antelope' })).results, [])
  await ada.patch(`/documents/${id}`, { background_color: 'red' })
  t.match((await searchV2(ada, { q: 'bison' })).projection, current, 'what is not searched for makes nothing stale')
})

t.test('a document that moves is found where it is, with or without its folder', async (t) => {
  const { ada, indexAll } = await startWithoutWorkers(t)
  const [from, to] = [await createBase(ada, 'From'), await createBase(ada, 'To')]
  const folder = (await ada.post('/folders', { name: 'Travels', knowledge_base_id: from })).body.data.id
  const { id } = await write(ada, 'a swallow', { folder_id: folder })
  await indexAll()
  const moves = [
    () => ada.patch(`/folders/${folder}`, { knowledge_base_id: to }),
    () => ada.patch(`/documents/${id}`, { knowledge_base_id: from }),
  ]
  for (const [index, move] of moves.entries()) {
    const [here, there] = index === 0 ? [from, to] : [to, from]
    t.equal((await move()).status, 200)
    const left = await searchV2(ada, { q: 'swallow', knowledge_base_id: here })
    t.match(left, { results: [], projection: { ...current, document_count: 0 } }, 'it has left at once')
    const arrived = await searchV2(ada, { q: 'swallow', knowledge_base_id: there })
    t.match(arrived, { results: [], projection: staleProjection(id) }, 'and is not searchable yet where it is now')
    await indexAll()
    t.match(await searchV2(ada, { q: 'swallow', knowledge_base_id: there }), {
      results: [{ document_id: id, knowledge_base_id: there, path_text: /^(To \/ Travels|From) \/ Untitled$/ }],
      projection: current,
    })
    t.strictSame((await searchV2(ada, { q: 'swallow', knowledge_base_id: here })).results, [])
  }
})

t.test('the first text in a language is found by every form of its words', async (t) => {
  const { ada, indexAll } = await startWithoutWorkers(t)
  await write(ada, 'The harbour is closed to all of the ships that have not paid.')
  await indexAll()
  for (const mode of ['topk', 'exhaustive']) t.match(await searchV2(ada, { q: 'Häuser', mode }), { results: [] })
  await write(ada, 'Das Haus an der Ecke ist nicht mehr das, was es einmal war, und die Tür ist zu.')
  await indexAll()
  for (const mode of ['topk', 'exhaustive']) {
    t.match(await searchV2(ada, { q: 'Häuser', mode }), {
      results: [{ context: { match: 'Haus' } }],
      projection: current,
    })
  }
})

t.test('a deleted document is gone from hits and counts at once', async (t) => {
  const { ada, indexAll } = await startWithoutWorkers(t)
  const indexed = await write(ada, 'a dodo')
  await indexAll()
  const waiting = await write(ada, 'another dodo')
  t.equal((await searchV2(ada, { q: 'dodo' })).projection.complete, false)
  for (const { id } of [indexed, waiting]) t.equal((await ada.delete(`/documents/${id}`)).status, 204)
  t.match(await searchV2(ada, { q: 'dodo' }), { results: [], projection: { ...current, document_count: 0 } })
  await indexAll()
  t.match(await searchV2(ada, { q: 'dodo' }), { results: [], projection: { ...current, document_count: 0 } })
})

t.test('the watermark says up to which event everything is indexed', async (t) => {
  const service = await startTestService(t)
  const { ada, indexAll } = await startWithoutWorkers(t, service)
  const number = () => numberEvents(service.database, 1000)
  const watermark = async (query = {}) => (await searchV2(ada, { q: 'x', ...query })).projection.watermark
  const [base, other] = [await createBase(ada, 'Base'), await createBase(ada, 'Other')]
  t.equal(await watermark(), 'w1-0', 'nothing has happened')
  const one = await write(ada, 'one', { knowledge_base_id: base })
  t.equal(await watermark(), 'w1-0', 'an event without a number is newer than every one that has one')
  await number()
  t.equal(await watermark(), 'w1-0', 'event 1 is not indexed')
  await indexAll()
  t.equal(await watermark(), 'w1-1')

  await rewrite(ada, one.id, 'one more')
  await indexAll()
  t.equal(await watermark(), 'w1-1', 'indexed before its event has a number')
  await number()
  t.equal(await watermark(), 'w1-2')

  const two = await write(ada, 'two', { knowledge_base_id: other })
  await ada.patch(`/documents/${one.id}`, { title: 'Renamed' })
  t.equal(await watermark(), 'w1-2')
  await number()
  t.equal(await watermark(), 'w1-2', 'events 3 and 4 are not indexed')
  t.equal(await watermark({ knowledge_base_id: base }), 'w1-3', 'but 3 is not of this knowledge base')
  await rewrite(ada, two.id, 'two more')
  t.equal(await watermark(), 'w1-3', 'event 3 is overtaken by one without a number')
  await number()
  t.equal(await watermark(), 'w1-3', 'event 4 is still waiting')
  t.equal((await ada.delete(`/documents/${one.id}`)).status, 204)
  t.equal(await watermark(), 'w1-4', 'what is gone is not waited for')
  await number()
  t.equal(await watermark(), 'w1-4')
  await indexAll()
  t.equal(await watermark(), 'w1-6')
})

t.test('of more than a hundred stale documents a hundred are named and all are counted', async (t) => {
  const { ada, indexAll } = await startWithoutWorkers(t)
  await Promise.all(Array.from({ length: 103 }, () => write(ada, 'a herring')))
  const { projection } = await searchV2(ada, { q: 'herring' })
  t.match(projection, { document_count: 103, current_document_count: 0, stale_document_count: 103, complete: false })
  t.equal(new Set(projection.stale_document_ids).size, 100)
  await indexAll()
  const { results, page } = await searchV2(ada, { q: 'herring', limit: 100 })
  t.equal(results.length, 100)
  t.equal(page.has_more, true)
})

const current = { stale_document_count: 0, stale_document_ids: [], freshness: 'current', complete: true }

function staleProjection(...ids: string[]) {
  return { stale_document_count: ids.length, stale_document_ids: ids.sort(), freshness: 'stale', complete: false }
}

async function createBase(client: Client, name: string): Promise<number> {
  return (await client.post('/knowledge-bases', { name })).body.data.id
}

/** Somebody with a workspace whose index stands still until the test lets it catch up. */
async function startWithoutWorkers(t: Test, service = shared) {
  const ada = await service.signUp()
  async function indexAll(): Promise<void> {
    const { stop } = await startWorkers(t, service, workersOf(['search']))
    await untilFresh(ada)
    await stop()
  }
  return { ada, indexAll }
}
