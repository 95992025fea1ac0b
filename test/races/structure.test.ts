import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { p } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { eventsOf, make, put } from '../support/documents.ts'
import { raceRounds } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService()

t.test('a document that is deleted while others write to it is gone, and nothing comes after', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const { id, blocks } = await make(ada, [p('a'), p('b')])
    await put(ada, id, blocks)
    const path = `/documents/${id}`
    const writes: (() => Promise<Reply>)[] = [
      () => put(ada, id, [p('c')]),
      () => ada.patch(`${path}/blocks/${blocks[0]?.attrs.id}`, { content: [] }),
      () => ada.post(`${path}/blocks`, { position: { document_end: 1 }, nodes: [p('d')] }),
      () => ada.post(`${path}/versions/1/rollback`, undefined, { 'if-match': '*' }),
      () => ada.patch(path, { title: 'other' }),
      () => ada.get(`${path}/content`),
    ]
    const deletions = [() => ada.delete(path), () => ada.delete(path)]
    const calls = shuffled([...writes, ...deletions], round)
    const replies = await Promise.all(calls.map((call) => call()))
    const ofDeletions = replies.filter((_, index) => deletions.includes(calls[index] as never))
    t.strictSame(ofDeletions.map(({ status }) => status).sort(), [204, 404], 'deleted once')
    for (const { status, text } of replies) t.ok([200, 201, 204, 404].includes(status), text)
    t.equal((await ada.get(path)).status, 404)
    t.equal(await countOf(sql.fragment`document_bodies WHERE document_id = ${id}`), 0)
    t.equal(await countOf(sql.fragment`document_versions WHERE document_id = ${id}`), 0)
    t.equal((await eventsOf(database, id)).at(-1), 'document.deleted', 'its last event')
    t.equal((await eventsOf(database, id)).filter((name) => name === 'document.deleted').length, 1)
  }
})

t.test('what is created in a knowledge base that is being deleted goes with it or finds it gone', async (t) => {
  const ada = await signUp()
  await ada.post('/knowledge-bases', { name: 'Stays' })
  for (const round of raceRounds) {
    const base = (await ada.post('/knowledge-bases', { name: 'x' })).body.data.id
    const folder = (await ada.post('/folders', { name: 'f', knowledge_base_id: base })).body.data.id
    const create = (place: object) => () => ada.post('/documents', { title: 'x', ...place })
    const calls = shuffled(
      [
        ...[1, 2, 3].map(() => create({ knowledge_base_id: base })),
        ...[1, 2, 3].map(() => create({ folder_id: folder })),
        () => ada.delete(`/knowledge-bases/${base}`, { confirm_id: base }),
      ],
      round,
    )
    const replies = await Promise.all(calls.map((call) => call()))
    for (const { status, body, text } of replies) {
      t.ok([201, 204, 404].includes(status), text)
      if (status === 201) t.equal((await ada.get(`/documents/${body.data.id}`)).status, 404)
    }
    t.equal(await countOf(sql.fragment`documents WHERE knowledge_base_id = ${base}`), 0)
  }
})

t.test('documents without a place share the one knowledge base that is made for them', async (t) => {
  for (const _ of raceRounds.slice(0, 3)) {
    const ada = await signUp()
    const replies = await Promise.all(Array.from({ length: 8 }, () => ada.post('/documents', { title: 'x' })))
    t.strictSame(new Set(replies.map(({ status }) => status)), new Set([201]))
    t.match((await ada.get('/knowledge-bases')).body.data, [{ name: 'Default', document_count: 8 }])
    t.equal((await ada.get('/knowledge-bases')).body.data.length, 1)
  }
})

t.test('documents without a place go to the next knowledge base when the lowest is just deleted', async (t) => {
  for (const round of raceRounds) {
    const ada = await signUp()
    const base = async (name: string) => (await ada.post('/knowledge-bases', { name })).body.data.id as number
    const [lowest, next] = [await base('lowest'), await base('next')]
    const calls = shuffled(
      [
        ...Array.from({ length: 6 }, () => () => ada.post('/documents', { title: 'x' })),
        () => ada.delete(`/knowledge-bases/${lowest}`, { confirm_id: lowest }),
      ],
      round,
    )
    const replies = await Promise.all(calls.map((call) => call()))
    for (const { status, text } of replies) t.ok(status === 201 || status === 204, text)
    const bases = (await ada.get('/knowledge-bases')).body.data
    t.strictSame(
      bases.map(({ id }: { id: number }) => id),
      [next],
      'no further one is made',
    )
    t.strictSame(new Set(await placesOf(ada)), new Set((await placesOf(ada)).map(() => next)))
  }
})

t.test('documents that move while folders and bases go end up in a place that exists, or nowhere', async (t) => {
  const ada = await signUp()
  const stays = (await ada.post('/knowledge-bases', { name: 'stays' })).body.data.id as number
  const haven = (await ada.post('/folders', { name: 'haven', knowledge_base_id: stays })).body.data.id
  for (const round of raceRounds) {
    const base = (await ada.post('/knowledge-bases', { name: 'goes' })).body.data.id
    const from = (await ada.post('/folders', { name: 'from', knowledge_base_id: base })).body.data.id
    const to = (await ada.post('/folders', { name: 'to', knowledge_base_id: base })).body.data.id
    const ids: string[] = []
    for (let index = 0; index < 4; index++) ids.push((await make(ada, [p('x')], { folder_id: from })).id)
    const move = (id: string | undefined, place: object) => () => ada.patch(`/documents/${id}`, place)
    const removals = [
      () => ada.delete(`/folders/${from}`),
      () => ada.delete(`/folders/${to}`),
      ...(round % 2 ? [() => ada.delete(`/knowledge-bases/${base}`, { confirm_id: base })] : []),
    ]
    const moves = [
      move(ids[0], { folder_id: to }),
      move(ids[1], { folder_id: haven }),
      move(ids[1], { folder_id: from }),
      move(ids[2], { knowledge_base_id: stays }),
      move(ids[2], { folder_id: null }),
      move(ids[3], { folder_id: to, title: 'moved' }),
      () => ada.patch(`/folders/${to}`, { parent_id: haven }),
    ]
    const replies = await Promise.all(shuffled([...removals, ...moves], round).map((call) => call()))
    for (const { status, text } of replies) t.ok([200, 204, 404].includes(status), text)
  }
  const lost = sql.fragment`documents d
    LEFT JOIN folders f ON f.workspace_id = d.workspace_id AND f.id = d.folder_id
    WHERE d.folder_id IS NOT NULL AND f.knowledge_base_id IS DISTINCT FROM d.knowledge_base_id`
  t.equal(await countOf(lost), 0, 'a document and its folder are in one knowledge base')
})

t.test('none of this made two transactions wait for each other', async (t) => {
  t.equal(await deadlocks(database), 0)
})

const Count = row(Type.Object({ count: Type.Number() }))

function countOf(source: ReturnType<typeof sql.fragment>): Promise<number> {
  return database.oneFirst(sql.type(Count)`SELECT count(*) FROM ${source}`)
}

async function placesOf(client: Client): Promise<number[]> {
  const { data } = (await client.get('/documents')).body
  return data.map(({ knowledge_base_id }: { knowledge_base_id: number }) => knowledge_base_id)
}

/** The calls in an order that differs between rounds, but not between runs. */
function shuffled<T>(calls: T[], round: number): T[] {
  const keyed = calls.map((call, index) => ({ call, key: (index * 7919 + round * 104_729) % 31 }))
  return keyed.sort((a, b) => a.key - b.key).map(({ call }) => call)
}
