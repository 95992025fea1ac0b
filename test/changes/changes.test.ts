import Type from 'typebox'
import type { BlockNode } from '../../shared/body/document.ts'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { workersOf } from '../../workers/types.ts'
import { h, p, ul } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, type Made, make, put, refused } from '../support/documents.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'
import { Follower } from './follower.ts'

t.test('a client can begin to follow a document before any worker has seen it', async (t) => {
  const { ada, work } = await start(t, { CHANGES_WAIT_MS: '0' })
  const made = await make(ada, [h(1, 'Title'), p('  some   text '), ul(p('nested'))])
  const { data } = (await ada.get(`/documents/${made.id}/changes`)).body
  t.match(data, { baseline: true, freshness: 'current', complete: true, sync_required: false, changes: [] })
  t.equal(data.source_version, made.version)
  const listed = (await ada.get(`/documents/${made.id}/blocks`)).body.data
  t.strictSame(data.manifest, listed.map(entry), 'the manifest is that of the blocks as they are listed')
  t.strictSame(
    data.manifest.map(({ text_excerpt }: { text_excerpt: string }) => text_excerpt),
    ['Title', 'some text', 'nested'],
  )
  const missing = await changes(ada, made, data.cursor)
  t.match(missing, { freshness: 'missing', complete: false, sync_required: true, cursor: null, changes: [] })
  await work()
  t.match(await settled(ada, made, data.cursor), { freshness: 'current', complete: true, changes: [] })
})

t.test('every way a block can change has its name and its exact positions', async (t) => {
  const { ada, work } = await start(t)
  await work()
  const made = await make(ada, [p('a'), p('b'), ul(p('c')), p('d')])
  const [a, b, c, d] = made.blocks as [BlockNode, BlockNode, BlockNode, BlockNode]
  const cursor = await baseline(ada, made)
  const nested = { ...c, content: ul(p('changed')).content ?? [] }
  await put(ada, made.id, [p('new'), { ...b, content: p('b, too').content ?? [] }, d, nested])
  const { version } = await bodyOf(ada, made.id)
  const answer = await changes(ada, made, cursor)
  const [fresh] = (await bodyOf(ada, made.id)).blocks
  t.match(answer.changes, [
    { op: 'removed', block_id: a.attrs.id, old_position: 0, new_position: null, hash: null, text_excerpt: 'a' },
    { op: 'added', block_id: fresh?.attrs.id, old_position: null, new_position: 0, text_excerpt: 'new' },
    { op: 'modified', block_id: b.attrs.id, old_position: 1, new_position: 1, moved: false, text_excerpt: 'b, too' },
    { op: 'moved', block_id: d.attrs.id, old_position: 3, new_position: 2, type: 'paragraph' },
    { op: 'modified', block_id: c.attrs.id, old_position: 2, new_position: 3, moved: false, type: 'bulletList' },
  ])
  for (const change of answer.changes) {
    t.match(change, { cursor: answer.cursor, source_version: version, changed_at: Number })
  }
  const stored = (await bodyOf(ada, made.id)).blocks[3] as BlockNode
  await put(ada, made.id, [stored, fresh as BlockNode, { ...b, content: p('b, three').content ?? [] }])
  t.match((await changes(ada, made, answer.cursor)).changes, [
    { op: 'removed', block_id: d.attrs.id },
    { op: 'moved', block_id: c.attrs.id, old_position: 3, new_position: 0 },
    { op: 'modified', block_id: b.attrs.id, moved: false },
  ])
  const before = await baseline(ada, made)
  await put(ada, made.id, [{ ...b, content: p('b, four').content ?? [] }, stored, fresh as BlockNode])
  t.match((await changes(ada, made, before)).changes, [{ op: 'modified', block_id: b.attrs.id, moved: true }])
})

t.test('a client reads one batch for each write, in pages of as many as it asks for', async (t) => {
  const { ada, work } = await start(t)
  await work()
  const made = await make(ada, [p('text')])
  const cursor = await baseline(ada, made)
  const versions: string[] = []
  for (const text of ['one', 'two', 'two', 'three']) {
    await put(ada, made.id, [{ ...(made.blocks[0] as BlockNode), content: p(text).content ?? [] }])
    versions.push((await bodyOf(ada, made.id)).version)
  }
  const first = await changes(ada, made, cursor, 1)
  t.match(first, { has_more: true, next_cursor: first.cursor, source_version: versions[0], changes: { length: 1 } })
  const second = await changes(ada, made, first.cursor, 1)
  t.match(second, { has_more: true, source_version: versions[1] })
  const last = await changes(ada, made, second.cursor, 1)
  t.match(last, { has_more: false, next_cursor: null, source_version: versions[3] }, 'the same text again is no change')
  const again = await changes(ada, made, last.cursor)
  t.match(again, { has_more: false, source_version: versions[3], changes: [], cursor: last.cursor })
  await ada.post(`/documents/${made.id}/versions/1/rollback`, undefined, { 'if-match': '*' })
  t.match(await changes(ada, made, last.cursor), { source_version: made.version, changes: [{ op: 'modified' }] })
})

t.test('a client is told to wait when the worker is behind, and loses nothing by it', async (t) => {
  const { ada, work } = await start(t, { CHANGES_WAIT_MS: '0' })
  const stop = await work()
  const made = await make(ada, [p('text')])
  const cursor = await baseline(ada, made)
  t.match(await settled(ada, made, cursor), { freshness: 'current' })
  await stop()
  await put(ada, made.id, [p('other')])
  t.match(await changes(ada, made, cursor), {
    freshness: 'stale',
    complete: false,
    sync_required: true,
    cursor: null,
    changes: [],
  })
  await work()
  t.match(await settled(ada, made, cursor), { freshness: 'current', changes: [{ op: 'removed' }, { op: 'added' }] })
})

t.test('a client that was away for longer than changes are kept has to begin anew', async (t) => {
  const { ada, work, service } = await start(t, { CHANGES_RETENTION: '3' })
  await work()
  const made = await make(ada, [p('text')])
  const follower = await new Follower(ada, made.id).begin()
  const late = await new Follower(ada, made.id).begin()
  for (let round = 0; round < 3; round += 1) await put(ada, made.id, [p(`round ${round}`)])
  t.equal(typeof (await follower.follow()), 'number', 'three writes are kept')
  await put(ada, made.id, [p('one more')])
  t.equal(typeof (await follower.follow()), 'number')
  t.match(await late.follow(), {
    freshness: 'current',
    complete: false,
    sync_required: true,
    cursor: null,
    changes: [],
  })
  t.strictSame(follower.manifest, (await late.begin()).manifest)
  t.equal(await count(service, 'change_batches'), 4, 'the writes and where they begin')
  t.equal(await count(service, 'document_manifests'), 0, 'what is in the chain is not kept twice')
})

t.test('a chain that lost a manifest begins anew, and nobody takes it for continuous', async (t) => {
  const { ada, work, service } = await start(t)
  const stop = await work()
  const made = await make(ada, [p('text')])
  const cursor = await baseline(ada, made)
  await changes(ada, made, cursor)
  await stop()
  for (const text of ['one', 'two', 'three']) await put(ada, made.id, [p(text)])
  await service.database.query(sql.unsafe`DELETE FROM document_manifests WHERE body_seq = 3`)
  const between = await baseline(ada, made)
  await work()
  const lost = { freshness: 'current', complete: false, sync_required: true, cursor: null, changes: [] }
  t.match(await changes(ada, made, cursor), lost)
  t.match(await changes(ada, made, between), lost)
  const follower = await new Follower(ada, made.id).begin()
  await put(ada, made.id, [p('four')])
  t.equal(await follower.follow(), 2)
})

t.test('a document from before changes were recorded can be followed from now on', async (t) => {
  const { ada, work, service } = await start(t)
  const made = await make(ada, [p('text')])
  await put(ada, made.id, [p('old')])
  await service.database.query(sql.unsafe`DELETE FROM document_manifests`)
  await work()
  const follower = await new Follower(ada, made.id).begin()
  t.equal(await follower.follow(), 0)
  await put(ada, made.id, [p('new')])
  t.equal(await follower.follow(), 2)
})

t.test('a cursor is of use for its own document alone', async (t) => {
  const { ada } = await start(t)
  const [one, other] = [await make(ada, [p('one')]), await make(ada, [p('other')])]
  const cursor = await baseline(ada, one)
  for (const wrong of [cursor, 'nonsense', '', Buffer.from('[]').toString('base64url')]) {
    refused(t, await ada.get(`/documents/${other.id}/changes?after=${wrong}`), { status: 400, code: 'invalid_cursor' })
  }
  await ada.delete(`/documents/${one.id}`)
  t.match(await ada.get(`/documents/${one.id}/changes?after=${cursor}`), { status: 404 })
})

t.test('a conflict names what changed since a version that is kept nowhere else any more', async (t) => {
  const { ada, work, service } = await start(t, { VERSIONS_RETENTION: '2' })
  const stop = await work()
  const made = await make(ada, [p('a'), p('b'), p('c')])
  const [a, b, c] = made.blocks as [BlockNode, BlockNode, BlockNode]
  for (let round = 0; round < 5; round += 1) {
    await put(ada, made.id, [a, { ...b, content: p(`round ${round}`).content ?? [] }, c])
  }
  await new Follower(ada, made.id).begin().then((follower) => follower.follow())
  await stop()
  await put(ada, made.id, [c, a])
  const conflict = await put(ada, made.id, [p('lost')], made.etag)
  const { changed_block_ids, ...rest } = conflict.body.error.details
  t.match(rest, { provided: made.version })
  const moved = changed_block_ids.filter((id: string) => id !== b.attrs.id)
  t.ok(changed_block_ids.includes(b.attrs.id), 'also by writes that the worker has seen')
  t.ok(moved.length === 1 && [a.attrs.id, c.attrs.id].includes(moved[0]), 'and by one that it has not')
  await service.database.query(sql.unsafe`DELETE FROM change_chains`)
  const forgotten = await put(ada, made.id, [p('lost')], made.etag)
  t.equal(forgotten.body.error.details.changed_block_ids, undefined)
})

t.test('nothing of the changes of a document outlives it', async (t) => {
  const { ada, work, service } = await start(t)
  await work()
  const made = await make(ada, [p('text')])
  await put(ada, made.id, [p('other')])
  await new Follower(ada, made.id).begin().then((follower) => follower.follow())
  await ada.delete(`/documents/${made.id}`)
  for (const table of ['change_chains', 'change_batches', 'document_manifests']) {
    t.equal(await count(service, table), 0, table)
  }
})

async function start(t: Test, env: Record<string, string> = {}) {
  const service = await startTestService(t, { CHANGES_WAIT_MS: '20000', ...env })
  const ada = await service.signUp()
  const patient = startWorkers.bind(null, t, service, workersOf(['changes']))
  return { service, ada, work: async () => (await patient()).stop }
}

async function changes(client: Client, document: { id: string }, after: string, limit = 100) {
  return (await client.get(`/documents/${document.id}/changes?after=${after}&limit=${limit}`)).body.data
}

// A service that is configured not to wait for the worker.
async function settled(client: Client, document: { id: string }, after: string) {
  await until(async () => (await changes(client, document, after)).freshness === 'current')
  return changes(client, document, after)
}

async function baseline(client: Client, document: Made): Promise<string> {
  return (await client.get(`/documents/${document.id}/changes`)).body.data.cursor
}

function entry(block: { block_id: string; position: number; type: string; hash: string; text: string }) {
  const { block_id, position, type, hash, text } = block
  return { block_id, position, type, hash, text_excerpt: text.replace(/\s+/g, ' ').trim() }
}

function count(service: TestService, table: string): Promise<number> {
  return service.database.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`
    SELECT count(*) FROM ${sql.identifier([table])}`)
}
