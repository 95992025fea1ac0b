import Type from 'typebox'
import { grantRole } from '../../shared/auth/queries.ts'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { p, text } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, eventsOf, type Made, make, put, refused } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await startTestService(t)

t.test('every accepted write of a body keeps the body before it, changed or not', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('0')])
  const path = `/documents/${made.id}`
  const block = `${path}/blocks/${made.blocks[0]?.attrs.id}`
  t.strictSame((await ada.get(`${path}/versions`)).body.data, [])
  const sizes: number[] = []
  const writes: [string, () => Promise<{ status: number }>][] = [
    ['replacement', () => put(ada, made.id, [...made.blocks, p('1')])],
    ['replacement by the same', async () => put(ada, made.id, (await bodyOf(ada, made.id)).blocks)],
    ['insert', () => ada.post(`${path}/blocks`, { position: { document_end: 1 }, nodes: [p('2')] })],
    ['patch', () => ada.patch(block, { content: [text('patched')] })],
    ['patch that changes nothing', () => ada.patch(block, { attrs: {} })],
    [
      'batch',
      () =>
        ada.post(`${path}/batch`, {
          operations: [{ op: 'replace', block_id: made.blocks[0]?.attrs.id, node: p('b') }],
        }),
    ],
    ['delete', () => ada.delete(block)],
    ['rollback', () => ada.post(`${path}/versions/1/rollback`, undefined, { 'if-match': '*' })],
    ['rollback to the same', () => ada.post(`${path}/versions/1/rollback`, undefined, { 'if-match': '*' })],
  ]
  for (const [index, [name, write]] of writes.entries()) {
    const { blocks } = await bodyOf(ada, made.id)
    sizes.unshift(Buffer.byteLength(blocks.map((node) => JSON.stringify(node)).join('\n')))
    const { status } = await write()
    t.ok(status === 200 || status === 201, name)
    const listed = (await ada.get(`${path}/versions`)).body.data
    t.equal(listed.length, index + 1, name)
    t.match(listed[0], { seq: index + 1, created_by: ada.user_id, created_at: Number, size: sizes[0] })
  }
  const listed = (await ada.get(`${path}/versions`)).body.data
  t.strictSame(
    listed.map(({ size }: { size: number }) => size),
    sizes,
    'size is that of the stored text',
  )
  t.strictSame(Object.keys(listed[0]).sort(), ['created_at', 'created_by', 'seq', 'size'])
  const changes = (await eventsOf(database, made.id)).filter((name) => name === 'document.content.updated')
  t.equal(changes.length, writes.length - 3, 'the three that changed nothing told nobody')
})

t.test('a refused write keeps no version', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  const path = `/documents/${id}`
  await put(ada, id, [{ type: 'nope' }])
  await put(ada, id, [p('y')], '"stale"')
  await ada.post(`${path}/blocks`, { position: { after_heading: 'none' }, nodes: [p('x')] })
  await ada.post(`${path}/versions/1/rollback`, undefined, { 'if-match': '*' })
  t.strictSame((await ada.get(`${path}/versions`)).body.data, [])
})

t.test('a rollback brings back the body with its ids, and can be undone', async (t) => {
  const ada = await signUp()
  const first = await make(ada, [p('one'), p('two')], { title: 'Before' })
  await put(ada, first.id, [p('other')], first.etag)
  await ada.patch(`/documents/${first.id}`, { title: 'After' })
  const second = await bodyOf(ada, first.id)
  const path = `/documents/${first.id}`
  const rolled = await ada.post(`${path}/versions/1/rollback`, undefined, { 'if-match': second.etag })
  t.equal(rolled.status, 200)
  t.equal(rolled.headers.get('etag'), first.etag)
  t.strictSame(rolled.body.data, {
    document_id: first.id,
    document_uri: `svc://doc/${first.id}`,
    format: 'tiptap-json',
    version: first.version,
    updated_at: (await ada.get(path)).body.data.updated_at,
    document: { type: 'doc', content: first.blocks },
    warnings: [],
    restored_seq: 1,
  })
  t.equal((await ada.get(path)).body.data.title, 'After', 'metadata stay')
  t.equal((await ada.get(path)).body.data.character_count, 6)
  t.strictSame(await bodyOf(ada, first.id), first)
  const undone = await ada.post(`${path}/versions/2/rollback`, undefined, { 'if-match': first.etag })
  t.equal(undone.headers.get('etag'), second.etag, 'the state before the rollback was kept')
})

t.test('a rollback needs a version that is kept and the ETag of what it replaces', async (t) => {
  const owner = await signUp({ workspace: 'Versions' })
  const viewer = await signUp({ workspace: 'Versions', role: 'viewer' })
  const stranger = await signUp()
  const { id, etag } = await make(owner, [p('x')])
  const { headers } = await put(owner, id, [p('y')], etag)
  const current = headers.get('etag') ?? ''
  const path = (seq: string) => `/documents/${id}/versions/${seq}/rollback`
  for (const seq of ['0', '-1', '1.5', 'x', '01', '1e1']) {
    refused(t, await stranger.post(path(seq)), {
      status: 400,
      code: 'invalid_request',
      details: { fields: [{ path: '{seq}', message: 'must be an integer of at least 1' }] },
    })
  }
  refused(t, await owner.post(path('1'), undefined, { 'if-match': 'x' }), { status: 400, code: 'invalid_precondition' })
  refused(t, await stranger.post(path('1')), { status: 404, code: 'document_not_found', details: { id } })
  for (const seq of ['2', '999999999999999', '99999999999999999999']) {
    refused(t, await viewer.post(path(seq)), { status: 404, code: 'version_not_found', details: { id: seq } })
  }
  refused(t, await viewer.post(path('1')), { status: 403, code: 'forbidden' })
  refused(t, await owner.post(path('1')), {
    status: 428,
    code: 'precondition_required',
    details: { missing: ['If-Match'] },
  })
  const stale = await owner.post(path('1'), undefined, { 'if-match': etag })
  refused(t, stale, { status: 409, code: 'version_conflict' })
  t.equal(stale.headers.get('etag'), current)
  t.equal((await owner.post(path('1'), undefined, { 'if-match': current })).status, 200)
  refused(t, await stranger.get(`/documents/${id}/versions`), { status: 404, code: 'document_not_found' })
  t.equal((await viewer.get(`/documents/${id}/versions`)).status, 200)
})

t.test('the most recent twenty are kept, and only the bodies they need', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('0')])
  const texts = await write(ada, made, 25)
  const path = `/documents/${made.id}/versions`
  t.strictSame(
    (await ada.get(path)).body.data.map(({ seq }: { seq: number }) => seq),
    Array.from({ length: 20 }, (_, index) => 25 - index),
  )
  t.equal(await storedBodies(made.id), 21, 'twenty and the current one')
  const rollback = (seq: number) => ada.post(`${path}/${seq}/rollback`, undefined, { 'if-match': '*' })
  refused(t, await rollback(5), { status: 404, code: 'version_not_found', details: { id: '5' } })
  const oldest = await rollback(6)
  t.equal(oldest.status, 200, 'the snapshot of the rollback itself pushes its target out')
  t.equal(oldest.body.data.restored_seq, 6)
  t.equal(oldest.body.data.document.content[0].content[0].text, texts[5])
  refused(t, await rollback(6), { status: 404, code: 'version_not_found' })
  t.equal(await storedBodies(made.id), 21)
  const chain = (await ada.get(path)).body.data.map(({ seq }: { seq: number }) => seq)
  t.strictSame([chain[0], chain.at(-1), chain.length], [26, 7, 20])
})

t.test('unchanged writes push old versions out as well, and share their body', async (t) => {
  const ada = await signUp()
  const { id, blocks, etag } = await make(ada, [p('x')])
  await put(ada, id, [p('y')])
  await put(ada, id, blocks)
  for (let index = 0; index < 22; index++) await put(ada, id, blocks, etag)
  const listed = (await ada.get(`/documents/${id}/versions`)).body.data
  t.equal(listed.length, 20)
  t.equal(listed[0].seq, 24)
  t.equal(await storedBodies(id), 1)
  t.equal((await ada.post(`/documents/${id}/versions/5/rollback`, undefined, { 'if-match': etag })).status, 200)
})

t.test('an operator decides how many are kept', async (t) => {
  const service = await startTestService(t, { VERSIONS_RETENTION: '2' })
  const ada = await service.signUp()
  const made = await make(ada, [p('0')])
  await write(ada, made, 4)
  const listed = (await ada.get(`/documents/${made.id}/versions`)).body.data
  t.match(listed, [{ seq: 4 }, { seq: 3 }])
  t.equal(listed.length, 2)
})

t.test('the list comes as a whole, or in pages that stay in place while versions are added', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('0')])
  await write(ada, made, 5)
  const path = `/documents/${made.id}/versions`
  const first = (await ada.get(`${path}?limit=2`)).body
  t.match(first, { data: [{ seq: 5 }, { seq: 4 }], page: { cursor: null, has_more: true } })
  await put(ada, made.id, [p('more')])
  const second = (await ada.get(`${path}?limit=2&cursor=${first.page.next_cursor}`)).body
  t.match(second, { data: [{ seq: 3 }, { seq: 2 }], page: { cursor: first.page.next_cursor, has_more: true } })
  const last = (await ada.get(`${path}?cursor=${second.page.next_cursor}`)).body
  t.match(last, { data: [{ seq: 1 }], page: { next_cursor: null, has_more: false } })
  const other = await make(ada, [p('x')])
  const foreign = await ada.get(`/documents/${other.id}/versions?cursor=${first.page.next_cursor}`)
  refused(t, foreign, { status: 400, code: 'invalid_cursor' })
  t.equal((await ada.get(`${path}?limit=0`)).status, 400)
})

t.test('a repeated rollback with the same key happens once', async (t) => {
  const ada = await signUp({ workspace: 'Replayed' })
  const { id, etag } = await make(ada, [p('x')])
  const { headers } = await put(ada, id, [p('y')])
  const path = `/documents/${id}/versions/1/rollback`
  const guarded = { 'if-match': headers.get('etag') ?? '', 'idempotency-key': 'back' }
  const first = await ada.post(path, undefined, guarded)
  t.equal(first.headers.get('etag'), etag)
  const again = await ada.post(path, undefined, guarded)
  t.equal(again.status, 200, 'although the guard is stale now')
  t.strictSame(again.body.data, first.body.data)
  t.equal(again.headers.get('etag'), etag)
  t.equal((await ada.get(`/documents/${id}/versions`)).body.data.length, 2)
  const other = await signUp()
  await inTransaction(database, async (tx) => {
    await grantRole(tx, { workspaceId: other.workspace_id, userId: ada.user_id, role: 'editor' })
    await tx.query(sql.unsafe`DELETE FROM memberships WHERE workspace_id = ${ada.workspace_id}`)
  })
  refused(t, await ada.post(path, undefined, guarded), { status: 404, code: 'workspace_not_found' })
})

/** Writes a body `count` times. Returns the texts that the document had before each write. */
async function write(client: Client, { id }: Made, count: number): Promise<string[]> {
  for (let index = 1; index <= count; index++) await put(client, id, [p(String(index))])
  return Array.from({ length: count }, (_, index) => String(index))
}

function storedBodies(id: string): Promise<number> {
  const Count = row(Type.Object({ count: Type.Number() }))
  return database.oneFirst(sql.type(Count)`SELECT count(*) FROM document_bodies WHERE document_id = ${id}`)
}
