import type { BlockNode } from '../../shared/body/document.ts'
import { blockId, h, node, p, text, ul } from '../document/build.ts'
import { samples, storedFiles, uploaded } from '../support/attachments.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, eventsOf, make, put, refused, shape } from '../support/documents.ts'
import { everyNode } from '../support/every-node.ts'
import { startS3 } from '../support/s3-server.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { translate } from '../support/translations.ts'

const service = await startTestService(t)
const { database, signUp } = service

const image = (attachmentId: string) => node('image', { attachmentId })
const link = (href: string) => text('link', { type: 'link', attrs: { href } })
const duplicate = (client: Client, id: string, body?: object) => client.post(`/documents/${id}/duplicate`, body)

t.test('a duplicate has the body and the metadata of its original, and stands beside it', async (t) => {
  const ada = await signUp()
  const base = await created(ada, '/knowledge-bases', { name: 'Zoo' })
  const folder = await created(ada, '/folders', { name: 'Mammals', knowledge_base_id: base.id })
  const other = await make(ada, [p('other')])
  const attachmentId = await uploaded(ada, { documentId: other.id })
  const original = await make(ada, everyNode({ attachmentId, documentId: other.id }), {
    title: 'Elephants',
    folder_id: folder.id,
    heading_numbered: true,
    background_color: 'teal',
  })
  const collapsed = original.blocks.slice(0, 2).map(({ attrs }) => attrs.id)
  await ada.patch(`/documents/${original.id}`, { collapsed_block_ids: [...collapsed, 'block_unknown'] })
  const reply = await duplicate(ada, original.id)
  t.equal(reply.status, 201, reply.text)
  const { data } = reply.body
  t.equal(reply.headers.get('location'), `/api/v1/documents/${data.id}`)
  const { blocks, version } = await bodyOf(ada, data.id)
  t.match(data, {
    title: 'Elephants (copy)',
    knowledge_base_id: base.id,
    folder_id: folder.id,
    heading_numbered: true,
    background_color: 'teal',
    document_type: 'document',
    document_set_id: null,
    collapsed_block_ids: blocks.slice(0, 2).map(({ attrs }) => attrs.id),
    version,
  })
  t.strictSame(shape(blocks), shape(original.blocks))
  t.strictSame(
    idsIn(blocks).filter((id) => idsIn(original.blocks).includes(id)),
    [],
    'every block has a new id',
  )
  t.equal((await put(ada, data.id, blocks)).body.data.version, version, 'the body is stored in normal form')
  t.strictSame(await eventsOf(database, data.id), ['document.created'])
  t.strictSame((await ada.get(`/documents/${data.id}/versions`)).body.data.length, 1, 'only the write of this test')
  t.equal((await bodyOf(ada, original.id)).version, original.version, 'the original stays as it was')
})

t.test('links to own blocks lead to the blocks of the duplicate, and all other links stay', async (t) => {
  const ada = await signUp()
  const other = await make(ada, [p('other')])
  const [own, nested] = [blockId('A1'), blockId('A2')]
  const id = `doc_links-${Math.random().toString(36).slice(2)}`
  const item = { ...p('item'), attrs: { id: nested } }
  const links = [
    ...[`svc://doc/${id}#block=${nested}`, `svc://doc/${id}#block=${own}`, `svc://doc/${id}#block=${blockId('FF')}`],
    ...[`svc://doc/${id}`, `svc://doc/${other.id}#block=${own}`, 'https://example.test/#block=1'],
  ]
  const blocks = [p(...links.map(link)), { ...h(1, 'Own'), attrs: { id: own, level: 1 } }, ul(item)]
  await make(ada, blocks, { id })
  const copy = await bodyOf(ada, (await duplicate(ada, id)).body.data.id)
  const [paragraph, heading, list] = copy.blocks
  const hrefs = paragraph?.content?.map(({ marks }) => marks?.[0]?.attrs?.href)
  const copiedItem = list?.content?.[0]?.content?.[0]?.attrs?.id
  t.strictSame(hrefs, [
    `svc://doc/${copy.id}#block=${copiedItem}`,
    `svc://doc/${copy.id}#block=${heading?.attrs.id}`,
    ...links.slice(2),
  ])
})

for (const [name, env] of [
  ['a directory', {}],
  ['a bucket', (await startS3(t)).env],
] as const) {
  t.test(`the images of a duplicate live when the original is deleted: files in ${name}`, async (t) => {
    const own = await startTestService(t, env)
    const ada = await own.signUp()
    const [{ id }, neighbour] = [await make(ada, []), await make(ada, [])]
    const [shown, linked, unnamed] = [await file(ada, id, 'a'), await file(ada, id, 'b'), await file(ada, id, 'c')]
    const foreign = await file(ada, neighbour.id, 'd')
    const inline = node('inlineImage', { attachmentId: shown })
    const blocks = [image(shown), p(inline, link(`/api/v1/attachments/${linked}`)), image(foreign), p(unnamed)]
    t.equal((await put(ada, id, blocks)).status, 200)
    const copy = (await duplicate(ada, id)).body.data
    const body = await bodyOf(ada, copy.id)
    const [copied, , second] = attachmentsOf(body.blocks).filter((attachmentId) => attachmentId !== foreign)
    t.strictSame(attachmentsOf(body.blocks), [copied, copied, second, foreign])
    t.not(copied, shown)
    const metadata = (await ada.get(`/attachments/${copied}/metadata`)).body.data
    const original = (await ada.get(`/attachments/${shown}/metadata`)).body.data
    const { id: _id, url: _url, created_at: _at, ...same } = original
    t.match(metadata, { ...same, document_id: copy.id, referenced: true, created_by: ada.user_id })
    const usage = async () => (await ada.get('/me/quota')).body.data.usage.attachment_bytes
    t.equal(await usage(), 6 * original.size, 'the copies count in the quota')

    t.equal((await ada.delete(`/documents/${id}`)).status, 204)
    t.equal((await ada.get(`/attachments/${shown}`)).status, 404)
    t.equal(await textOf(ada, String(copied)), 'file a')
    t.equal(await textOf(ada, String(second)), 'file b')
    t.equal(await textOf(ada, foreign), 'file d')
  })
}

t.test('a duplicate goes where it is sent, under the title that it is sent', async (t) => {
  const ada = await signUp()
  const bases = [
    await created(ada, '/knowledge-bases', { name: 'A' }),
    await created(ada, '/knowledge-bases', { name: 'B' }),
  ]
  const [a, b] = bases.map(({ id }) => id as number)
  const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: a })
  const original = await made(ada, { title: 'x'.repeat(500), folder_id: folder.id })
  const place = async (body?: object) => {
    const { knowledge_base_id, folder_id, title } = (await duplicate(ada, original, body)).body.data
    return { knowledge_base_id, folder_id, title }
  }
  const title = `${'x'.repeat(493)} (copy)`
  t.strictSame(await place(), { knowledge_base_id: a, folder_id: folder.id, title }, 'a long title is cut')
  t.strictSame(await place({ folder_id: null, title: '  Own  ' }), {
    knowledge_base_id: a,
    folder_id: null,
    title: 'Own',
  })
  t.strictSame(await place({ knowledge_base_id: b }), { knowledge_base_id: b, folder_id: null, title })
  const emoji = await made(ada, { title: '🐘'.repeat(500) })
  const cut = (await duplicate(ada, emoji)).body.data.title
  t.equal(cut, `${'🐘'.repeat(493)} (copy)`, 'between characters')
})

t.test('the duplicate of a translation or of its source is an ordinary document', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [h(1, 'Water'), p('An elephant drinks.')])
  for (const id of [source.id, target]) {
    const { data } = (await duplicate(ada, id)).body
    t.match(data, {
      document_set_id: null,
      locale: null,
      variant_role: null,
      workflow_status: null,
      translation_freshness: 'current',
      translated_from_document_id: null,
    })
    t.strictSame(shape((await bodyOf(ada, data.id)).blocks), shape((await bodyOf(ada, id)).blocks))
  }
  t.equal((await ada.get(`/documents/${source.id}/translations`)).body.data.variants.length, 2, 'the set is as before')
})

t.test('a refused duplicate says why and leaves neither a document nor a file', async (t) => {
  const own = await startTestService(t, { QUOTA_DOCUMENTS: '3', QUOTA_ATTACHMENT_BYTES: '100' })
  const [ada, eve] = [await own.signUp({ workspace: 'zoo' }), await own.signUp()]
  const viewer = await own.signUp({ workspace: 'zoo', role: 'viewer' })
  const reader = await own.signUp({ workspace: 'zoo', scopes: 'read_only' })
  const base = await created(ada, '/knowledge-bases', { name: 'A' })
  const other = await created(ada, '/knowledge-bases', { name: 'B' })
  const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: other.id })
  const foreign = await created(eve, '/knowledge-bases', { name: 'E' })
  const id = await made(ada, { title: 'Original', knowledge_base_id: base.id })
  const cases: [Reply, { status: number; code: string; details?: object }][] = [
    [await duplicate(ada, 'doc_missing'), { status: 404, code: 'document_not_found', details: { id: 'doc_missing' } }],
    [await duplicate(eve, id), { status: 404, code: 'document_not_found' }],
    [await duplicate(viewer, id), { status: 403, code: 'forbidden' }],
    [await duplicate(reader, id), { status: 403, code: 'insufficient_scope' }],
    [
      await duplicate(ada, id, { folder_id: 999_999 }),
      { status: 404, code: 'folder_not_found', details: { id: 999_999, field: 'folder_id' } },
    ],
    [await duplicate(ada, id, { knowledge_base_id: foreign.id }), { status: 404, code: 'knowledge_base_not_found' }],
    [
      await duplicate(ada, id, { knowledge_base_id: base.id, folder_id: folder.id }),
      { status: 400, code: 'folder_knowledge_base_mismatch' },
    ],
    [await duplicate(ada, id, { title: ' ' }), { status: 400, code: 'invalid_request' }],
    [await duplicate(ada, id, { title: 'x'.repeat(501) }), { status: 400, code: 'invalid_request' }],
    [await duplicate(ada, id, { title: null }), { status: 400, code: 'invalid_request' }],
  ]
  for (const [reply, expected] of cases) refused(t, reply, expected)

  const attachmentId = await uploaded(ada, { documentId: id })
  t.ok(samples.png.length <= 100 && samples.png.length > 50, 'one file fits into the quota, but two do not')
  await put(ada, id, [image(attachmentId)])
  refused(t, await duplicate(ada, id), { status: 409, code: 'quota_exceeded' })
  t.strictSame(await storedFiles(own), [attachmentId], 'nothing was copied')
  t.equal((await ada.get('/documents')).body.data.length, 1)
})

t.test('who has two workspaces cannot duplicate from one into the other', async (t) => {
  const email = 'ada-of-two@example.test'
  const ada = await signUp({ email, workspace: 'first-of-two' })
  const second = await signUp({ email, workspace: 'second-of-two' })
  const target = await signUp({ workspace: 'second-of-two' })
  const base = await created(target, '/knowledge-bases', { name: 'There' })
  const reply = await duplicate(second, await made(ada, { title: 'Here' }), { knowledge_base_id: base.id })
  refused(t, reply, { status: 400, code: 'cross_workspace_move' })
})

t.test('a duplicate that is asked for again by its key is made once, with one copy of each file', async (t) => {
  const own = await startTestService(t)
  const ada = await own.signUp()
  const { id } = await make(ada, [])
  const attachmentId = await uploaded(ada, { documentId: id })
  await put(ada, id, [image(attachmentId)])
  const again = () => ada.post(`/documents/${id}/duplicate`, {}, { 'idempotency-key': 'one' })
  const [first, second] = [await again(), await again()]
  t.equal(first.status, 201)
  t.equal(second.headers.get('idempotent-replayed'), 'true')
  t.strictSame(second.body.data, first.body.data)
  t.equal((await storedFiles(own)).length, 2)
})

t.test('a file that the store has lost leaves the duplicate as it leaves the original', async (t) => {
  const own = await startTestService(t)
  const ada = await own.signUp()
  const { id } = await make(ada, [])
  const [lost, kept] = [await uploaded(ada, { documentId: id }), await uploaded(ada, { documentId: id })]
  await put(ada, id, [image(lost), image(kept)])
  await own.service.files.remove([lost])
  const { data } = (await duplicate(ada, id)).body
  const [first, second] = attachmentsOf((await bodyOf(ada, data.id)).blocks)
  t.equal(first, lost)
  t.equal((await ada.get(`/attachments/${second}`)).status, 200)
})

t.test('a document of many blocks is copied in a thread, with all its links', async (t) => {
  const ada = await signUp()
  const id = `doc_many-${Math.random().toString(36).slice(2)}`
  const ids = Array.from({ length: 3000 }, (_, index) => blockId(String(index)))
  const blocks = ids.map((own, index) => ({
    ...p(`Block ${index}, which has some more words. `, link(`svc://doc/${id}#block=${ids[(index + 7) % ids.length]}`)),
    attrs: { id: own },
  }))
  await make(ada, blocks, { id })
  const reply = await duplicate(ada, id)
  t.equal(reply.status, 201, reply.text)
  const copy = await bodyOf(ada, reply.body.data.id)
  const wrong = copy.blocks.filter((block, index) => {
    const expected = `svc://doc/${copy.id}#block=${copy.blocks[(index + 7) % ids.length]?.attrs.id}`
    return block.content?.[1]?.marks?.[0]?.attrs?.href !== expected
  })
  t.equal(wrong.length, 0)
})

async function created(client: Client, path: string, body: object) {
  const reply = await client.post(path, body)
  if (reply.status !== 201) throw new Error(`POST ${path} answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}

async function made(client: Client, body: object): Promise<string> {
  return (await created(client, '/documents', body)).id
}

function file(client: Client, documentId: string, name: string): Promise<string> {
  return uploaded(client, { documentId, bytes: `file ${name}`, filename: `${name}.txt`, type: 'text/plain' })
}

async function textOf(client: Client, attachmentId: string): Promise<string> {
  return (await client.get(`/attachments/${attachmentId}`)).text
}

// The ids of all blocks of a body, nested blocks included.
function idsIn(blocks: readonly BlockNode[]): string[] {
  return [...JSON.stringify(blocks).matchAll(/"id":"(block_[0-9A-Z]{26})"/g)].map((match) => match[1] as string)
}

// The ids of the attachments that a body shows or links to, in its order.
function attachmentsOf(blocks: readonly BlockNode[]): string[] {
  const named = JSON.stringify(blocks).matchAll(/"(?:src|href)":"\/api\/v1\/attachments\/(att_[0-9A-Z]{26})"/g)
  return [...named].map((match) => match[1] as string)
}
