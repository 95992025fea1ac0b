import pg from 'pg'
import { sql } from '../../shared/database/database.ts'
import { workersOf } from '../../workers/types.ts'
import { p } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { eventsOf, make, put } from '../support/documents.ts'
import { raceRounds } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { translate } from '../support/translations.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t)
const { signUp, database, url } = service

t.test('of deletions with common documents one succeeds, and the others delete nothing else', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const ids = await made(ada, 5)
    const [a = '', b = '', c = '', d = '', e = ''] = ids
    // Every set has document c in common with all others, and is named in another order.
    const sets = [
      [a, b, c],
      [c, d],
      [e, c, a],
      [d, c, b],
    ]
    const calls = [
      ...sets.map((ids) => () => ada.post('/documents/delete', { ids })),
      () => ada.delete(`/documents/${c}`),
    ]
    const replies = await all(calls, round)
    t.equal(replies.filter(({ status }) => status === 204).length, 1, replies.map(({ text }) => text).join(' '))
    for (const { status, text } of replies) t.ok([204, 404, 422].includes(status), text)
    const winner = replies.findIndex(({ status }) => status === 204)
    const gone = sets[winner] ?? [c]
    for (const id of ids) {
      t.equal((await ada.get(`/documents/${id}`)).status, gone.includes(id) ? 404 : 200)
      t.equal((await eventsOf(database, id)).includes('document.deleted'), gone.includes(id))
    }
  }
})

t.test('moves, deletions and writes of the same documents pass one another without a deadlock', async (t) => {
  await startWorkers(t, service, workersOf(['search', 'changes', 'relations', 'events']))
  const ada = await signUp()
  const left = await base(ada)
  const right = await base(ada)
  for (const round of raceRounds) {
    const ids = await made(ada, 6)
    const backwards = ids.toReversed()
    const move = (ids: string[], place: number) => () => ada.post('/documents/move', { ids, knowledge_base_id: place })
    const replies = await all(
      [
        move(ids, left),
        move(backwards, right),
        move(ids.slice(2), left),
        ...ids.map((id) => () => put(ada, id, [p(`round ${round}`)])),
        ...ids.map((id) => () => ada.patch(`/documents/${id}`, { knowledge_base_id: right })),
        () => ada.post('/documents/delete', { ids: [ids[5], ids[0]] }),
        () => ada.post('/documents/delete', { ids: [ids[0], ids[5]] }),
      ],
      round,
    )
    for (const { status, text } of replies) t.ok([200, 204, 404, 422].includes(status), text)
    const deletions = replies.slice(-2).map(({ status }) => status)
    t.strictSame(deletions.sort(), [204, 422])
    for (const id of ids.slice(1, 5)) t.equal((await ada.get(`/documents/${id}`)).status, 200)
  }
  t.equal(await deadlocks(database), 0)
})

t.test('of two moves of the same documents one comes last, for all of them', async (t) => {
  const ada = await signUp()
  const places = [await base(ada), await base(ada), await base(ada)]
  for (const round of raceRounds) {
    const ids = await made(ada, 5)
    const moves = places.map((place, index) => () => {
      const order = index % 2 === 0 ? ids : ids.toReversed()
      return ada.post('/documents/move', { ids: order, knowledge_base_id: place })
    })
    const replies = await all(moves, round)
    t.strictSame(
      replies.map(({ status }) => status),
      [200, 200, 200],
    )
    const documents = await Promise.all(ids.map((id) => ada.get(`/documents/${id}`)))
    t.equal(new Set(documents.map(({ body }) => body.data.knowledge_base_id)).size, 1)
  }
})

t.test('what moves into a folder that is being deleted goes with it or stays where it was', async (t) => {
  const ada = await signUp()
  const place = await base(ada)
  for (const round of raceRounds) {
    const ids = await made(ada, 3, { knowledge_base_id: place })
    const { body } = await ada.post('/folders', { name: 'Folder', knowledge_base_id: place })
    const folder = body.data.id
    const [moved, deleted] = await all(
      [() => ada.post('/documents/move', { ids, folder_id: folder }), () => ada.delete(`/folders/${folder}`)],
      round,
    )
    t.equal(deleted?.status, 204)
    t.ok([200, 404].includes(moved?.status ?? 0), `${moved?.text}`)
    for (const id of ids) {
      const reply = await ada.get(`/documents/${id}`)
      t.equal(reply.status, moved?.status === 200 ? 404 : 200)
      if (reply.status === 200) t.equal(reply.body.data.folder_id, null)
    }
  }
})

t.test('deletions of two workspaces wait for one another, and never in a circle', async (t) => {
  const both = await signUp({ email: 'both@example.test', workspace: 'Left' })
  await signUp({ email: 'both@example.test', workspace: 'Right' })
  const [left, right] = [await signUp({ workspace: 'Left' }), await signUp({ workspace: 'Right' })]
  // By their ids, which follow the order of creation, the two calls name the workspaces in opposite order.
  const near = await translate(left, [p('near')])
  const far = await translate(right, [p('far')])
  const backwards = [await german(right, far.source.id), await german(left, near.source.id)]
  const before = await deadlocks(database)
  const holder = new pg.Client(url)
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM document_sets FOR UPDATE')
  const deletions = [[near.target, far.target], backwards].map((ids) => both.post('/documents/delete', { ids }))
  await until(async () => (await waiting()) === 2)
  await holder.query('COMMIT')
  for (const { status, text } of await Promise.all(deletions)) t.equal(status, 204, text)
  t.equal(await deadlocks(database), before)
})

t.test('a document that is read while it is deleted is whole or missing, and the others are there', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const ids = await made(ada, 4)
    const read = () => ada.post('/documents/read', { ids, view: 'plain-text' })
    const replies = await all([read, read, () => ada.post('/documents/delete', { ids: ids.slice(1, 3) }), read], round)
    for (const { status, body, text } of replies.filter(({ status }) => status !== 204)) {
      t.equal(status, 200, text)
      const [first, second, third, last] = body.data
      t.match([first, last], [{ content: 'text' }, { content: 'text' }])
      for (const item of [second, third]) t.ok(item.content === 'text' || item.error.code === 'document_not_found')
    }
  }
})

async function made(client: Client, count: number, members: object = {}): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) ids.push((await make(client, [p('text')], members)).id)
  return ids
}

async function base(client: Client): Promise<number> {
  return (await client.post('/knowledge-bases', { name: 'Base' })).body.data.id
}

/** Adds a German translation to a document set, and returns its id. */
async function german(client: Client, source: string): Promise<string> {
  const { status, text, body } = await client.post(`/documents/${source}/translations`, {
    locale: 'de',
    create_mode: 'blank',
  })
  if (status !== 201) throw new Error(text)
  return body.data.id
}

async function waiting(): Promise<number> {
  const rows = await database.any(sql.unsafe`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  return rows.length
}

/** Sends the calls at once, beginning with another one in each round. The replies are in the order of the calls. */
async function all(calls: readonly (() => Promise<Reply>)[], round: number): Promise<Reply[]> {
  const first = round % calls.length
  const replies = await Promise.all([...calls.slice(first), ...calls.slice(0, first)].map((call) => call()))
  return [...replies.slice(calls.length - first), ...replies.slice(0, calls.length - first)]
}
