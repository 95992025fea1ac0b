import pg from 'pg'
import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { p } from '../document/build.ts'
import { Client, type Reply } from '../support/client.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { put } from '../support/documents.ts'
import { startAnother } from '../support/event-streams.ts'
import { raceRounds } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'

const service = await startTestService(t)
const { signUp, database, url } = service
const Count = row(Type.Object({ count: Type.Number() }))

t.test('moves to one place at once all succeed, and everybody reads one order', async (t) => {
  const ada = await signUp()
  for (const kind of ['documents', 'folders'] as const) {
    const { folder, ids } = await children(ada, kind)
    const [anchor, ...others] = ids
    for (const round of raceRounds) {
      const replies = await all(
        others.map((id) => () => ada.patch(`/${kind}/${id}`, { position: { after: anchor } })),
        round,
      )
      for (const { status, text } of replies) t.equal(status, 200, text)
      const [first, second] = [await listed(ada, folder), await listed(ada, folder)]
      t.strictSame(first, second)
      t.equal(first[0], anchor)
      t.strictSame([...first].sort(), [...ids].sort())
    }
  }
})

t.test('orders, moves, writes, duplicates and deletions of siblings pass one another without a deadlock', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const { base, folder, ids } = await children(ada, 'documents')
    const other = (await ada.post('/folders', { name: 'Other', knowledge_base_id: base })).body.data.id
    const [a = '', b = '', c = '', d = '', e = ''] = ids.map(String)
    const replies = await all(
      [
        () => ada.patch(`/documents/${a}`, { position: 'last' }),
        () => ada.patch(`/documents/${e}`, { position: { before: d } }),
        () => ada.patch(`/documents/${b}`, { title: 'Renamed', position: 'last' }),
        () => ada.patch(`/documents/${d}`, { folder_id: other, position: 'first' }),
        () => ada.post('/documents/move', { ids: [c, b], folder_id: other }),
        () => ada.post(`/documents/${a}/duplicate`),
        () => ada.post(`/documents/${e}/duplicate`),
        () => ada.delete(`/documents/${c}`),
        () => ada.patch(`/folders/${other}`, { parent_id: folder, position: 'first' }),
        ...[a, b, d, e].map((id) => () => put(ada, id, [p(`round ${round}`)])),
      ],
      round,
    )
    // A reference may have moved away, and document c may be gone.
    for (const { status, text } of replies) t.ok([200, 201, 204, 404, 422].includes(status), text)
    const kept = [...(await listed(ada, folder)), ...(await listed(ada, other))].filter((id) => ids.includes(id))
    t.strictSame(kept.sort(), [a, b, d, e].sort(), 'every other document is in one place')
  }
  t.equal(await deadlocks(database), 0)
})

t.test('a place beside a document that is being deleted or moved is there, or is refused', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const { base, folder, ids } = await children(ada, 'documents')
    const [a = '', b = '', c = '', d = '', e = ''] = ids.map(String)
    const [afterB, afterD, deletion, move] = await all(
      [
        () => ada.patch(`/documents/${a}`, { position: { after: b } }),
        () => ada.patch(`/documents/${e}`, { position: { before: d } }),
        () => ada.delete(`/documents/${b}`),
        () => ada.post('/documents/move', { ids: [d], knowledge_base_id: base }),
      ],
      round,
    )
    t.equal(deletion?.status, 204)
    t.equal(move?.status, 200, String(move?.text))
    t.ok([200, 404, 422].includes(Number(afterB?.status)), String(afterB?.text))
    t.ok([200, 422].includes(Number(afterD?.status)), String(afterD?.text))
    t.strictSame((await listed(ada, folder)).sort(), [a, c, e].sort())
  }
  t.equal(await outOfStep(), 0)
})

t.test('documents go to and fro together while all of them are placed, without a deadlock', async (t) => {
  const ada = await signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id as number
  const [one, two] = [await folderIn(ada, base), await folderIn(ada, base)]
  const ids: string[] = []
  for (let index = 0; index < 30; index += 1) {
    ids.push((await ada.post('/documents', { title: `T${index % 7}`, folder_id: one })).body.data.id)
  }
  const [first = '', second = '', third = '', ...others] = ids
  for (const round of raceRounds) {
    const replies = await all(
      [
        () => ada.patch(`/documents/${first}`, { folder_id: one, position: 'last' }),
        () => ada.patch(`/documents/${second}`, { folder_id: two, position: 'last' }),
        () => ada.post('/documents/move', { ids: others, folder_id: round % 2 === 0 ? two : one }),
        () => ada.post('/documents/move', { ids: others.slice(5, 20), folder_id: round % 2 === 0 ? one : two }),
        () => ada.patch(`/documents/${third}`, { folder_id: round % 2 === 0 ? two : one, position: 'last' }),
        () => ada.patch(`/documents/${others[round]}`, { title: `Renamed ${round}` }),
      ],
      round,
    )
    for (const { status, text } of replies) t.equal(status, 200, text)
    t.equal((await listed(ada, one)).length + (await listed(ada, two)).length, ids.length)
  }
  t.equal(await outOfStep(), 0)
  t.equal(await deadlocks(database), 0)
})

for (const action of ['move', 'delete']) {
  t.test(`documents that ${action} together wait for places in the order of their ids, as placements do`, async (t) => {
    const owner = await signUp()
    const base = (await owner.post('/knowledge-bases', { name: 'Zoo' })).body.data.id as number
    const folder = await folderIn(owner, base)
    // PostgreSQL may write several rows in any order. This API writes them in the order of their creation.
    const { pathname } = new URL(url)
    for (const setting of ['enable_indexscan', 'enable_bitmapscan']) {
      await database.query(
        sql.unsafe`ALTER DATABASE ${sql.identifier([pathname.slice(1)])} SET ${sql.identifier([setting])} = off`,
      )
    }
    const ada = new Client({ ...(await startAnother(t, service)), token: owner.bearer ?? '' })
    const ids = Array.from({ length: 20 }, (_, index) => `doc_${action}_${99 - index}`)
    for (const id of ids) await ada.post('/documents', { id, title: 'T', folder_id: folder })
    const [holder, other] = [await connection(t), await connection(t)]
    const lock = 'SELECT FROM document_order WHERE document_id = ANY($1) FOR UPDATE NOWAIT'
    await holder.query('BEGIN')
    await holder.query(lock, [ids.slice(-1)])
    const call = ada.post(`/documents/${action}`, action === 'move' ? { ids, knowledge_base_id: base } : { ids })
    await until(async () => (await waiting()) === 1)
    await other.query(lock, [ids.slice(0, -1)])
    await holder.query('COMMIT')
    t.equal((await call).status, action === 'move' ? 200 : 204)
  })
}

t.test('a document that gets a new title and a place waits for the places of its siblings first', async (t) => {
  const ada = await signUp()
  const { ids } = await children(ada, 'documents')
  const [holder, other] = [await connection(t), await connection(t)]
  const lock = 'SELECT FROM document_order WHERE document_id = ANY($1) FOR UPDATE NOWAIT'
  await holder.query('BEGIN')
  await holder.query(lock, [ids.slice(3, 4)])
  const call = ada.patch(`/documents/${ids[0]}`, { title: 'Renamed', position: 'last' })
  await until(async () => (await waiting()) === 1)
  await other.query(lock, [ids.slice(0, 1)])
  await holder.query('COMMIT')
  t.equal((await call).status, 200)
})

t.test('a folder gets a place in another knowledge base while documents in it are placed', async (t) => {
  const ada = await signUp()
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id as number
  const sibling = await folderIn(ada, other)
  for (const round of raceRounds) {
    const { base, folder, ids } = await children(ada, 'documents')
    const replies = await all(
      [
        () => ada.patch(`/folders/${folder}`, { knowledge_base_id: other, position: { before: sibling } }),
        () => ada.patch(`/documents/${ids[0]}`, { position: 'last' }),
        () => ada.patch(`/documents/${ids[4]}`, { position: 'first' }),
        () => ada.post(`/documents/${ids[2]}/duplicate`),
        () => ada.patch(`/folders/${sibling}`, { position: 'last' }),
      ],
      round,
    )
    for (const { status, text } of replies) t.ok(status === 200 || status === 201, text)
    const order = await listed(ada, folder)
    t.strictSame([order[0], order.at(-1)], [ids[4], ids[0]], 'the contents keep the places that they got')
    t.equal((await ada.get(`/knowledge-bases/${base}/tree`)).body.data.children.length, 0)
    const roots = (await ada.get(`/knowledge-bases/${other}/tree?sort=manual`)).body.data.children
    t.ok(roots.findIndex(({ id }: { id: number }) => id === folder) !== -1)
    t.equal(roots.at(-1).id, sibling)
  }
  t.equal(await outOfStep(), 0)
  t.equal(await deadlocks(database), 0)
})

for (const [what, path, body] of [
  ['a position', '', { position: 'first' }],
  ['a duplicate', '/duplicate', undefined],
] as const) {
  t.test(`${what} of a document that has moved holds no lock while it waits where the document is now`, async (t) => {
    const ada = await signUp()
    const [from, to] = [
      (await ada.post('/knowledge-bases', { name: 'From' })).body.data.id as number,
      (await ada.post('/knowledge-bases', { name: 'To' })).body.data.id as number,
    ]
    const { id } = (await ada.post('/documents', { title: 'Moving', knowledge_base_id: from })).body.data
    const [mover, holder] = [await connection(t), await connection(t)]
    await mover.query('BEGIN')
    await mover.query('SELECT FROM documents WHERE id = $1 FOR UPDATE', [id])
    const call = path === '' ? ada.patch(`/documents/${id}`, body) : ada.post(`/documents/${id}${path}`, body)
    await until(async () => (await waiting()) === 1)
    await holder.query('BEGIN')
    await holder.query('SELECT FROM knowledge_bases WHERE id = $1 FOR NO KEY UPDATE', [to])
    await mover.query('UPDATE documents SET knowledge_base_id = $2 WHERE id = $1', [id, to])
    await mover.query('COMMIT')
    // By now the call has seen that the document has moved, and waits for the other knowledge base.
    await until(async () => (await waitingForBases()) === 1)
    await mover.query('SELECT FROM documents WHERE id = $1 FOR UPDATE NOWAIT', [id])
    await mover.query('SELECT FROM knowledge_bases WHERE id = $1 FOR UPDATE NOWAIT', [from])
    await holder.query('COMMIT')
    const { status, text } = await call
    t.ok(status === 200 || status === 201, text)
    t.equal((await ada.get(`/knowledge-bases/${to}/tree`)).body.data.children.length, path === '' ? 1 : 2)
  })
}

async function connection(t: Test): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

function waiting(): Promise<number> {
  return database.oneFirst(sql.type(Count)`
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
}

function waitingForBases(): Promise<number> {
  return database.oneFirst(sql.type(Count)`
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM knowledge_bases%'`)
}

/** The number of documents whose row in the order is missing or says another place or title, and of rows too many. */
function outOfStep(): Promise<number> {
  return database.oneFirst(sql.type(Count)`
    SELECT count(*) FROM documents d FULL JOIN document_order o ON o.workspace_id = d.workspace_id AND o.document_id = d.id
    WHERE (d.knowledge_base_id, d.folder_id, d.title) IS DISTINCT FROM (o.knowledge_base_id, o.folder_id, o.title)`)
}

async function folderIn(client: Client, base: number): Promise<number> {
  return (await client.post('/folders', { name: 'F', knowledge_base_id: base })).body.data.id
}

// A folder with five documents or folders in it, none of which was placed.
async function children(client: Client, kind: 'documents' | 'folders') {
  const base = (await client.post('/knowledge-bases', { name: 'Zoo' })).body.data.id as number
  const folder = (await client.post('/folders', { name: 'F', knowledge_base_id: base })).body.data.id as number
  const ids: (string | number)[] = []
  for (const name of 'ABCDE') {
    const body = kind === 'documents' ? { title: name, folder_id: folder } : { name, parent_id: folder }
    ids.push((await client.post(`/${kind}`, body)).body.data.id)
  }
  return { base, folder, ids }
}

async function listed(client: Client, folder: number): Promise<(string | number)[]> {
  const { body } = await client.get(`/folders/${folder}/children?sort=manual`)
  return body.data.map(({ id }: { id: string | number }) => id)
}

// Sends the calls at once, each round beginning with another one. The replies are in the order of the calls.
async function all(calls: readonly (() => Promise<Reply>)[], round: number): Promise<Reply[]> {
  const first = round % calls.length
  const sent = [...calls.slice(first), ...calls.slice(0, first)].map((call) => call())
  const replies = await Promise.all(sent)
  return [...replies.slice(calls.length - first), ...replies.slice(0, calls.length - first)]
}
