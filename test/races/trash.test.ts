import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { searchProjection } from '../../workers/search.ts'
import { p } from '../document/build.ts'
import { uploaded } from '../support/attachments.ts'
import type { Client, Reply } from '../support/client.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { eventsOf, make, put } from '../support/documents.ts'
import { raceRounds } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { ok, translate, unitsOf } from '../support/translations.ts'
import { defineDisturbed, startWorkers, untilFresh } from '../support/workers.ts'

const service = await startTestService(t, { QUOTA_KNOWLEDGE_BASES: '100000', QUOTA_DOCUMENTS: '6' })
const { signUp, database } = service

t.test('of five restores at once one succeeds, and the document is there once', async (t) => {
  const ada = await signUp()
  for (const _ of raceRounds) {
    const { id, blocks } = await make(ada, [p('a')])
    const entry = await deleted(ada, `/documents/${id}`)
    const replies = await all(Array.from({ length: 5 }, () => () => restore(ada, entry)))
    t.strictSame(statusesOf(replies), [200, 404, 404, 404, 404])
    t.strictSame((await ada.get(`/documents/${id}/content`)).body.data.document.content, blocks)
    t.strictSame(await eventsOf(database, id), ['document.created', 'document.deleted', 'document.created'])
    ok(await ada.delete(`/documents/${id}`))
  }
})

t.test('of a restore and a purge one succeeds, and the document is there with its file, or neither is', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const { id } = await make(ada, [p('a')])
    const attachment = await uploaded(ada, { documentId: id })
    const entry = await deleted(ada, `/documents/${id}`)
    const calls = [() => restore(ada, entry), () => ada.delete(`/trash/${entry}`)]
    const replies = await all(round % 2 === 0 ? calls : calls.toReversed())
    const [restored, purged] = round % 2 === 0 ? replies : replies.toReversed()
    t.strictSame([restored?.status, purged?.status].sort(), restored?.status === 200 ? [200, 404] : [204, 404])
    const expected = restored?.status === 200 ? 200 : 404
    for (const path of [`/documents/${id}/content`, `/attachments/${attachment}`]) {
      t.equal((await ada.get(path)).status, expected, path)
    }
    t.equal(await countOf(sql.fragment`trash_rows WHERE entry_id = ${entry}`), 0, 'no row is left in the trash')
    const loose = await countOf(sql.fragment`loose_files WHERE id = ${attachment}`)
    t.equal(loose, expected === 200 ? 0 : 1, 'the file stays with its attachment')
    if (expected === 200) ok(await ada.delete(`/trash/${await deleted(ada, `/documents/${id}`)}`))
  }
})

t.test('a document that returns while its folder goes is in the folder, in the trash or at the root', async (t) => {
  const ada = await signUp()
  const base = ok(await ada.post('/knowledge-bases', { name: 'Base' })).data.id
  for (const round of raceRounds) {
    const folder = ok(await ada.post('/folders', { name: 'Folder', knowledge_base_id: base })).data.id
    const { id } = await make(ada, [p('a')], { folder_id: folder })
    const entry = await deleted(ada, `/documents/${id}`)
    const calls = [() => restore(ada, entry), () => ada.delete(`/folders/${folder}`)]
    for (const { status, text } of await all(round % 2 === 0 ? calls : calls.toReversed())) {
      t.ok([200, 204].includes(status), text)
    }
    const found = await ada.get(`/documents/${id}`)
    const [inTrash] = ok(await ada.get(`/trash?knowledge_base_id=${base}`)).data
    t.match(inTrash, { type: 'folder', document_count: found.status === 200 ? 0 : 1 })
    if (found.status === 200) t.match(found.body.data, { folder_id: null, knowledge_base_id: base })
    else {
      ok(await restore(ada, inTrash.id))
      t.match(ok(await ada.get(`/documents/${id}`)).data, { folder_id: folder })
    }
    ok(await ada.delete(`/documents/${id}`))
    for (const { id } of ok(await ada.get('/trash')).data) ok(await ada.delete(`/trash/${id}`))
  }
})

t.test('a document that returns while its base goes is in the trash with it, or waits for a place', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const base = ok(await ada.post('/knowledge-bases', { name: 'Base' })).data.id
    const { id } = await make(ada, [p('a')], { knowledge_base_id: base })
    const entry = await deleted(ada, `/documents/${id}`)
    const remove = () => ada.delete(`/knowledge-bases/${base}`, { confirm_id: base })
    const calls = [() => restore(ada, entry), remove]
    const replies = await all(round % 2 === 0 ? calls : calls.toReversed())
    const [restored, removed] = round % 2 === 0 ? replies : replies.toReversed()
    t.equal(removed?.status, 204)
    t.match(restored, restored?.status === 200 ? {} : { status: 409, body: { error: { code: 'parent_missing' } } })
    const entries: { type: string; document_count: number }[] = ok(await ada.get('/trash')).data
    const counts = entries.map(({ type, document_count }) => [type, document_count])
    t.strictSame(
      counts,
      restored?.status === 200
        ? [['knowledge_base', 1]]
        : [
            ['knowledge_base', 0],
            ['document', 1],
          ],
    )
    for (const { id } of ok(await ada.get('/trash')).data) ok(await ada.delete(`/trash/${id}`))
  }
})

t.test('documents that return while others are created never exceed the quota', async (t) => {
  const ada = await signUp()
  for (const _ of raceRounds) {
    const ids = await Promise.all([1, 2, 3, 4].map(async () => (await make(ada, [p('a')])).id))
    const entries: string[] = []
    for (const id of ids) entries.push(await deleted(ada, `/documents/${id}`))
    const replies = await all([
      ...entries.map((entry) => () => restore(ada, entry)),
      ...[1, 2, 3, 4].map(() => () => ada.post('/documents', { title: 'New' })),
    ])
    for (const { status, body, text } of replies) {
      t.ok(status === 200 || status === 201 || body.error.code === 'quota_exceeded', text)
    }
    const documents: { id: string }[] = ok(await ada.get('/documents')).data
    const waiting: { id: string }[] = ok(await ada.get('/trash')).data
    t.equal(documents.length, 6, 'the quota is used up')
    const restored = documents.filter(({ id }) => ids.includes(id))
    t.equal(restored.length + waiting.length, 4, 'every deleted document is there or in the trash')
    for (const { id } of documents) ok(await ada.delete(`/documents/${id}`))
    for (const { id } of ok(await ada.get('/trash')).data) ok(await ada.delete(`/trash/${id}`))
  }
})

t.test('folders are created while many folders and documents come back', async (t) => {
  const ada = await signUp()
  const base = ok(await ada.post('/knowledge-bases', { name: 'Base' })).data.id
  const folder = ok(await ada.post('/folders', { name: 'Folder', knowledge_base_id: base })).data.id
  for (let n = 0; n < 10; n += 1) ok(await ada.post('/folders', { name: `Folder ${n}`, parent_id: folder }))
  await make(ada, [p('a')], { folder_id: folder })
  const entry = await deleted(ada, `/folders/${folder}`)
  const locked = Promise.withResolvers<void>()
  const created = Promise.withResolvers<void>()
  const holding = database.transaction(async (tx) => {
    await tx.query(sql.unsafe`LOCK TABLE stale_projections IN EXCLUSIVE MODE`)
    locked.resolve()
    await created.promise
  })
  await locked.promise
  const restoring = restore(ada, entry)
  await until(
    async () =>
      (await countOf(sql.fragment`pg_locks WHERE NOT granted AND relation = 'stale_projections'::regclass`)) > 0,
  )
  const reply = await ada.post('/folders', { name: 'New', knowledge_base_id: base })
  created.resolve()
  await holding
  t.equal(reply.status, 201, 'nobody waits until all jobs are sent')
  ok(await restoring)
})

t.test('of a translation that returns and a new one in the same language one succeeds', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds.slice(0, 4)) {
    const { source, target } = await translate(ada, [p('one')])
    const entry = await deleted(ada, `/documents/${target}`)
    const calls = [
      () => restore(ada, entry),
      () => ada.post(`/documents/${source.id}/translations`, { locale: 'fr', create_mode: 'blank' }),
    ]
    const replies = await all(round % 2 === 0 ? calls : calls.toReversed())
    const refusals = replies.filter(({ status }) => status >= 300)
    t.match(refusals, [{ status: 409, body: { error: { code: 'locale_exists' } } }])
    t.equal(ok(await ada.get(`/documents/${source.id}/translations`)).data.variants.length, 2)
    const documents: { id: string }[] = ok(await ada.get('/documents?include_variants=true')).data
    for (const { id } of documents) ok(await ada.delete(`/documents/${id}`))
  }
})

t.test('a source and its translation that return at once have their units again', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds.slice(0, 4)) {
    const { source, target } = await translate(ada, [p('one'), p('two')])
    const before = await unitsOf(ada, target)
    const order = round % 2 === 0 ? [source.id, target] : [target, source.id]
    const entries: string[] = []
    for (const id of order) entries.push(await deleted(ada, `/documents/${id}`))
    t.strictSame(statusesOf(await all(entries.map((entry) => () => restore(ada, entry)))), [200, 200])
    t.strictSame(await unitsOf(ada, target), before)
    for (const id of order) ok(await ada.delete(`/documents/${id}`))
  }
})

t.test('a document deleted while a worker commits leaves nothing, and is found again once it returns', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('albatross')])
  let entry = ''
  const deleting = defineDisturbed(searchProjection, {
    beforeCommit: async () => {
      if (entry === '') entry = await deleted(ada, `/documents/${id}`)
    },
  })
  await startWorkers(t, service, [deleting])
  const open = () => countOf(sql.fragment`pgboss.job WHERE name = ${queues.searchIndex.name} AND state < 'completed'`)
  await until(async () => entry !== '' && (await open()) === 0)
  for (const table of ['search_documents', 'search_blocks', 'stale_projections', 'document_bodies']) {
    t.equal(await countOf(sql.fragment`${sql.identifier([table])} WHERE document_id = ${id}`), 0, table)
  }
  const hits = async () => (await ada.get('/search?q=albatross')).body.data.length
  t.equal(await hits(), 0)
  ok(await restore(ada, entry))
  await untilFresh(ada)
  t.equal(await hits(), 1)
})

t.test('a document that is written, deleted and restored by several is whole at the end', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const { id } = await make(ada, [p('a')])
    const entry = await deleted(ada, `/documents/${id}`)
    const replies = await all([
      () => restore(ada, entry),
      () => put(ada, id, [p(`round ${round}`)]),
      () => ada.delete(`/documents/${id}`),
      () => ada.patch(`/documents/${id}`, { title: 'Renamed' }),
    ])
    for (const { status, text } of replies) t.ok([200, 204, 404].includes(status), text)
    const there = (await ada.get(`/documents/${id}/content`)).status === 200
    const entries = ok(await ada.get('/trash')).data
    t.equal(entries.length, there ? 0 : 1, 'it is there or in the trash')
    if (!there) ok(await restore(ada, entries[0].id))
    t.equal((await ada.get(`/documents/${id}/content`)).status, 200)
    t.equal((await ada.get(`/documents/${id}/versions`)).status, 200)
    ok(await ada.delete(`/trash/${await deleted(ada, `/documents/${id}`)}`))
  }
})

t.test('none of this made two transactions wait for each other', async (t) => {
  t.equal(await deadlocks(database), 0)
})

// Deletes what a path names; returns the newest entry of the trash.
async function deleted(client: Client, path: string): Promise<string> {
  ok(await client.delete(path))
  return ok(await client.get('/trash?limit=1')).data[0].id
}

function restore(client: Client, entry: string): Promise<Reply> {
  return client.post(`/trash/${entry}/restore`)
}

function all(calls: readonly (() => Promise<Reply>)[]): Promise<Reply[]> {
  return Promise.all(calls.map((call) => call()))
}

function statusesOf(replies: readonly Reply[]): number[] {
  return replies.map(({ status }) => status).sort()
}

const Count = row(Type.Object({ count: Type.Number() }))

function countOf(source: ReturnType<typeof sql.fragment>): Promise<number> {
  return database.oneFirst(sql.type(Count)`SELECT count(*) FROM ${source}`)
}
