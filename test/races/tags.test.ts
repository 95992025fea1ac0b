import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { forgetUnusedTags } from '../../shared/documents/tags.ts'
import { p } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { eventsOf, make, put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await startTestService(t)

t.test('documents that bring a new tag at the same time agree on its spelling', async (t) => {
  const ada = await signUp()
  for (let round = 0; round < 6; round += 1) {
    const base = await baseOf(ada)
    const other = await baseOf(ada)
    const elsewhere = await tagged(ada, other, ['tag', 'SECOND'])
    const untagged = await tagged(ada, base, [])
    const replies = await Promise.all([
      ...['Tag', 'tAg', 'taG', 'TAG'].map((tag) =>
        ada.post('/documents', { title: 'a', knowledge_base_id: base, tags: ['second', tag] }),
      ),
      ada.patch(`/documents/${untagged}`, { tags: ['tAG', 'Second'] }),
      ada.patch(`/documents/${elsewhere}`, { knowledge_base_id: base }),
    ])
    for (const { status, text } of replies) t.ok(status < 300, text)
    const answered = replies.map(({ body }) => [...body.data.tags].sort().join())
    t.equal(new Set(answered).size, 1, answered.join(' '))
    t.same(
      (await tagsIn(ada, base)).map((tags) => [...tags].sort().join()),
      answered,
    )
  }
})

t.test('a tag that is renamed while documents get it is never two tags', async (t) => {
  const ada = await signUp()
  for (let round = 0; round < 5; round += 1) {
    const base = await baseOf(ada)
    const other = await baseOf(ada)
    const path = `/knowledge-bases/${base}/tags`
    const ids: string[] = []
    for (let n = 0; n < 6; n += 1) ids.push(await tagged(ada, base, ['old', `own${n}`]))
    const elsewhere = await tagged(ada, other, ['OLD', 'NEW'])
    const calls: (() => Promise<Reply>)[] = [
      () => ada.patch(`${path}/old`, { tag: 'New' }),
      () => ada.patch(`${path}/own5`, { tag: 'nEW' }),
      () => ada.post('/documents', { title: 'a', knowledge_base_id: base, tags: ['Old', 'x'] }),
      () => ada.patch(`/documents/${ids[0]}`, { tags: ['new', 'OLD', 'own0'] }),
      () => ada.patch(`/documents/${ids[1]}`, { properties: { a: 1 } }),
      () => ada.patch(`/documents/${ids[2]}`, { knowledge_base_id: other }),
      () => ada.patch(`/documents/${elsewhere}`, { knowledge_base_id: base }),
      () => ada.post(`/documents/${ids[3]}/duplicate`),
      () => put(ada, ids[4] ?? '', [p('changed')]),
      () => ada.delete(`/documents/${ids[5]}`),
    ]
    const turned = calls.map((_, n) => calls[(n + round) % calls.length] as () => Promise<Reply>)
    const replies = await Promise.all(turned.map((call) => call()))
    for (const { status, text } of replies) t.ok(status < 300 || status === 404, text)
    const spelled = (await tagsIn(ada, base)).flat()
    for (const key of ['old', 'new']) {
      const forms = new Set(spelled.filter((tag) => tag.toLowerCase() === key))
      t.ok(forms.size <= 1, [...forms].join())
    }
    // A document that had the tag before has it under the new name, unless it has left the knowledge base.
    for (const id of [ids[1], ids[3], ids[4]]) {
      const { tags } = (await ada.get(`/documents/${id}`)).body.data
      t.match(tags[0], /^new$/i)
      t.ok((await eventsOf(database, id ?? '')).includes('document.metadata.updated'))
    }
    const counts: { tag: string; document_count: number }[] = (await ada.get(path)).body.data
    for (const { tag, document_count } of counts) {
      t.equal(spelled.filter((one) => one === tag).length, document_count, tag)
    }
  }
  t.equal(await deadlocks(database), 0)
})

t.test('the last document loses a tag while another gets it, and the spelling stays one', async (t) => {
  const ada = await signUp()
  for (let round = 0; round < 8; round += 1) {
    const base = await baseOf(ada)
    const ids = [await tagged(ada, base, ['Tag']), await tagged(ada, base, []), await tagged(ada, base, [])]
    const replies = await Promise.all([
      ada.patch(`/documents/${ids[0]}`, { tags: [] }),
      ada.patch(`/documents/${ids[1]}`, { tags: ['tag'] }),
      forgetUnusedTags(database).then(() => ada.patch(`/documents/${ids[2]}`, { tags: ['TAG'] })),
      forgetUnusedTags(database),
    ])
    for (const reply of replies) if (typeof reply !== 'number') t.equal(reply.status, 200, reply.text)
    const spelled = new Set((await tagsIn(ada, base)).flat())
    t.equal(spelled.size, 1, [...spelled].join())
    t.match((await ada.get(`/knowledge-bases/${base}/tags`)).body.data, [{ tag: [...spelled][0], document_count: 2 }])
  }
})

t.test('the spelling of a tag that no document has is forgotten by the sweep', async (t) => {
  const ada = await signUp()
  const base = await baseOf(ada)
  const id = await tagged(ada, base, ['kept', 'secret'])
  await ada.patch(`/documents/${id}`, { tags: ['kept'] })
  await forgetUnusedTags(database)
  const left = await database.anyFirst(sql.type(row(Type.Object({ tag: Type.String() })))`
    SELECT tag FROM knowledge_base_tags WHERE knowledge_base_id = ${base}`)
  t.same(left, ['kept'])
})

async function baseOf(client: Client): Promise<number> {
  return (await client.post('/knowledge-bases', { name: 'Base' })).body.data.id
}

async function tagged(client: Client, base: number, tags: string[]): Promise<string> {
  return (await make(client, [p('x')], { knowledge_base_id: base, tags })).id
}

// The tags of each tagged document of a knowledge base.
async function tagsIn(client: Client, base: number): Promise<string[][]> {
  const { data } = (await client.get(`/documents?knowledge_base_id=${base}&limit=100`)).body
  return data.map(({ tags }: { tags: string[] }) => tags).filter((tags: string[]) => tags.length > 0)
}
