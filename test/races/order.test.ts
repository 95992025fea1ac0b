import t from 'tap'
import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { p } from '../body/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'

const { signUp, database } = await startTestService(t)
const rounds = Array.from({ length: 6 }, (_, index) => index)
const Count = row(Type.Object({ count: Type.Number() }))

t.test('moves to one place at once all succeed, and everybody reads one order', async (t) => {
  const ada = await signUp()
  for (const kind of ['documents', 'folders'] as const) {
    const { folder, ids } = await children(ada, kind)
    const [anchor, ...others] = ids
    for (const round of rounds) {
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
  for (const round of rounds) {
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
  t.equal(await deadlocks(), 0)
})

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

// Sends all calls at once, in another order each round.
function all(calls: readonly (() => Promise<Reply>)[], round: number): Promise<Reply[]> {
  const turned = calls.map((_, index) => calls[(index + round) % calls.length] as () => Promise<Reply>)
  return Promise.all(turned.map((call) => call()))
}

async function deadlocks(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1100))
  return database.oneFirst(sql.type(Count)`
    SELECT deadlocks AS count FROM pg_stat_database WHERE datname = current_database()`)
}
