import { workersOf } from '../../workers/types.ts'
import { p, text } from '../document/build.ts'
import { LiveProcess, Site, textAt } from '../live/site.ts'
import type { Reply } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { make, put } from '../support/documents.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { startWorkers, untilFresh } from '../support/workers.ts'

/*
 * What a request costs on PostgreSQL, over all connections of the API process: its statements, BEGIN and COMMIT
 * included. A new document has three jobs, each of another queue; the other writes find their document stale already,
 * so its jobs are on their way. Rate limits are as in production. The same is counted for the live process, which
 * stores what people type and catches up with writes of the API.
 */

const limits = { RATE_READ_PER_MIN: '600', RATE_WRITE_PER_MIN: '600', RATE_SEARCH_PER_MIN: '600' }

const { url, drop } = await createTestDatabase()
t.teardown(drop)
const proxy = await startCountingProxy(t, url)
const service = await startTestService(t, { DATABASE_URL: proxy.url, ...limits })
const ada = await service.signUp()
const blocks = Array.from({ length: 10 }, (_, index) => p(`Paragraph ${index} about storks and other large birds`))
const content = { format: 'tiptap-json', document: { type: 'doc', content: blocks } }
const document = await make(ada, blocks)
const { id } = document
const { id: kept } = await make(ada, blocks)
await put(ada, kept, [p('Written')])
const base = (await ada.get('/knowledge-bases')).body.data[0].id
const folder = (await ada.post('/folders', { name: 'Folder', knowledge_base_id: base })).body.data.id
const direct = { ...service, config: { ...service.config, DATABASE_URL: url } }
const worker = await startWorkers(t, direct, workersOf(['search', 'events']))
await untilFresh(ada)
await worker.stop()
const doomed = await Promise.all(blocks.slice(0, 4).map(async () => (await make(ada, blocks)).id))
const edited = (index: number) => blocks.map((block, place) => (place === 3 ? p(`Edit ${index}`) : block))
const always = { 'if-match': '*' }

type Cost = { statements: number; call: (index: number) => Promise<Reply> }

const costs: Record<string, Cost> = {
  'a search with hits': { statements: 2, call: search },
  'creating a document in a knowledge base': {
    statements: 14,
    call: () => ada.post('/documents', { title: 'New', knowledge_base_id: base, content }),
  },
  'creating a document in a folder, with a key': {
    statements: 19,
    call: (index) =>
      ada.post('/documents', { title: 'New', folder_id: folder, content }, { 'idempotency-key': `key-${index}` }),
  },
  'changing one block': {
    statements: 11,
    call: (index) => ada.patch(`/documents/${id}/blocks/${document.blocks[0]?.attrs.id}`, patch(index), always),
  },
  'a batch of blocks': {
    statements: 11,
    call: (index) => ada.post(`/documents/${id}/batch`, { operations: [insertion(index)] }, always),
  },
  'a rehearsed change of one block': {
    statements: 9,
    call: (index) =>
      ada.patch(`/documents/${id}/blocks/${document.blocks[0]?.attrs.id}?dry_run=true`, patch(index), always),
  },
  'replacing a body': { statements: 11, call: (index) => put(ada, id, edited(index)) },
  'a new title': { statements: 9, call: (index) => ada.patch(`/documents/${id}`, { title: `Title ${index}` }) },
  'deleting a document': { statements: 10, call: async (index) => ada.delete(`/documents/${doomed[index]}`) },
  'a document': { statements: 2, call: () => ada.get(`/documents/${id}`) },
  'a body': { statements: 2, call: () => ada.get(`/documents/${id}/content`) },
  'a kept version': { statements: 3, call: () => ada.get(`/documents/${kept}/versions/1/content`) },
  'the difference of two bodies': { statements: 2, call: () => ada.get(`/documents/${kept}/diff`) },
}

const site = await Site.of(service, ada)
const live = await LiveProcess.open(site, { workspace_id: ada.workspace_id, id: (await make(ada, blocks)).id })
const typed = (version: 'none' | 'after') => async (index: number) => {
  textAt(live.doc, 0).insert(0, `${index} `)
  return () => live.flush(site.caller, version)
}
const written = async (index: number) => {
  await put(ada, live.key.id, edited(index))
  return () => live.sync()
}
const heard = async (index: number) => {
  await put(ada, live.key.id, edited(index))
  return () => live.sync({ isBehind: true })
}
const nothing = async () => () => live.sync()

type LiveCost = { statements: number; prepare: (index: number) => Promise<() => Promise<unknown>> }

const liveCosts: Record<string, LiveCost> = {
  'storing typed text': { statements: 9, prepare: typed('none') },
  'storing typed text and a version': { statements: 10, prepare: typed('after') },
  'catching up with a write of the API, unheard': { statements: 6, prepare: written },
  'catching up with a write of the API': { statements: 5, prepare: heard },
  'finding that nothing is new': { statements: 1, prepare: nothing },
}

async function search(): Promise<Reply> {
  const reply = await ada.get('/search?q=storks')
  if (reply.body.data.length === 0) throw new Error('nothing was found')
  return reply
}

const patch = (index: number) => ({ content: [text(`Patch ${index}`)] })
const insertion = (index: number) => ({ op: 'insert', position: { document_end: true }, nodes: [p(`Batch ${index}`)] })

const warmUp = 3

for (const [name, { statements, call }] of Object.entries(costs)) {
  t.test(`${name} costs at most ${statements} statements`, async (t) => {
    for (let index = 0; index < warmUp; index += 1) t.match(await call(index), { status: /^20[014]$/ })
    const traffic = await proxy.count(() => call(warmUp))
    t.not(traffic.statements.length, 0)
    t.ok(
      traffic.statements.length <= statements,
      `${traffic.statements.length} statements: ${traffic.statements.join('\n')}`,
    )
  })
}

for (const [name, { statements, prepare }] of Object.entries(liveCosts)) {
  t.test(`${name} costs at most ${statements} statements`, async (t) => {
    for (let index = 0; index < warmUp; index += 1) await (await prepare(index))()
    const work = await prepare(warmUp)
    const traffic = await proxy.count(work)
    t.ok(
      traffic.statements.length <= statements,
      `${traffic.statements.length} statements: ${traffic.statements.join('\n')}`,
    )
  })
}
