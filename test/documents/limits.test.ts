import { h, node, p, text } from '../document/build.ts'
import type { Reply } from '../support/client.ts'
import { bodyOf, make, put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'

const byteLimit = 20_000
const { signUp } = await startTestService(t, { DOCUMENT_MAX_BYTES: String(byteLimit) })
const tooManyBytes = { status: 422, code: 'document_too_large', details: { limit: byteLimit, unit: 'bytes' } }

// The details may have further members, such as the number that was reached.
function refused(t: Test, { status, body }: Reply, expected: { status: number; code: string; details?: object }): void {
  const { code, details } = body.error ?? {}
  t.match({ status, code, details }, expected, `${expected.status} ${expected.code}`)
}

const raw = (length: number) => node('htmlBlock', { html: `<!--${'x'.repeat(length)}-->` })
const linked = (href: string) => p(text('a', { type: 'link', attrs: { href } }))

t.test('a body is capped in bytes with all that is no text, however it comes in', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x'), raw(10_000)])
  const [first] = (await bodyOf(ada, id)).blocks
  const content = `/documents/${id}/content`
  const markdown = { format: 'markdown', content: `<!--${'x'.repeat(byteLimit)}-->` }
  refused(t, await put(ada, id, [raw(byteLimit)]), tooManyBytes)
  refused(t, await ada.put(content, markdown, { 'if-match': '*' }), tooManyBytes)
  refused(t, await ada.post('/documents', { title: 'x', content: markdown }), tooManyBytes)
  const many = { format: 'tiptap-json', document: { type: 'doc', content: Array.from({ length: 200 }, () => p('é')) } }
  refused(t, await ada.post('/documents', { title: 'x', content: many }), tooManyBytes)
  const insert = { position: { document_end: true }, nodes: [raw(10_000)] }
  refused(t, await ada.post(`/documents/${id}/blocks`, insert), tooManyBytes)
  refused(
    t,
    await ada.patch(`/documents/${id}/blocks/${first?.attrs.id}`, { content: [text('x'.repeat(10_000))] }),
    tooManyBytes,
  )
  refused(t, await ada.post(`/documents/${id}/batch`, { operations: [{ op: 'insert', ...insert }] }), tooManyBytes)
  const swap = [
    { op: 'insert', ...insert },
    { op: 'delete', block_id: (await bodyOf(ada, id)).blocks[1]?.attrs.id },
  ]
  t.equal((await ada.post(`/documents/${id}/batch`, { operations: swap })).status, 200, 'only the result counts')
})

t.test('a definition that many links refer to is refused before the body grows by it', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  for (const use of ['[a][x] ', '![a][x] ', '[*a* b *c* d][x] ']) {
    const content = `${use.repeat(200)}\n\n[x]: /${'y'.repeat(500)} "${'t'.repeat(500)}"\n`
    const reply = await ada.put(`/documents/${id}/content`, { format: 'markdown', content }, { 'if-match': '*' })
    refused(t, reply, tooManyBytes)
    t.ok(reply.body.error.details.actual < 2 * byteLimit, 'the count ends at the limit')
  }
  t.equal((await bodyOf(ada, id)).blocks.length, 1)
})

t.test('addresses, titles and alternative texts have a length that a reader can handle', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  t.equal((await put(ada, id, [linked(`/${'𝔸'.repeat(2000)}`)])).status, 200, 'code points count')
  const image = (attrs: object) => node('image', { src: '/i.png', ...attrs })
  for (const bad of [
    image({ src: `/${'x'.repeat(8192)}` }),
    image({ alt: 'x'.repeat(2001) }),
    image({ title: 'x'.repeat(2001) }),
  ]) {
    refused(t, await put(ada, id, [p('x'), bad]), {
      status: 422,
      code: 'invalid_node',
      details: { path: '/document/content/1' },
    })
  }
  refused(t, await put(ada, id, [linked(`/${'x'.repeat(8192)}`)]), { status: 422, code: 'invalid_node' })
  const markdown = { format: 'markdown', content: `[a](/${'x'.repeat(8192)})` }
  refused(t, await ada.put(`/documents/${id}/content`, markdown, { 'if-match': '*' }), {
    status: 422,
    code: 'invalid_node',
    details: { path: '/content' },
  })
})

t.test('the place of an error is a pointer into the request, with a block only if the caller knows it', async (t) => {
  const ada = await signUp()
  const { id, blocks } = await make(ada, [h(1, 'x'), p('y')])
  const known = String(blocks[1]?.attrs.id)
  const bad = node('paragraph', {}, { type: 'text', text: 'x', marks: [{ type: 'blink' }] })
  const detailsOf = async (reply: Promise<{ body: { error: { details: object } } }>) => (await reply).body.error.details
  const place = async (reply: Promise<{ body: { error: { details: object } } }>) => {
    const { path, block_id, operation_index } = (await detailsOf(reply)) as Record<string, unknown>
    return { path, block_id, operation_index }
  }
  const none = { block_id: undefined, operation_index: undefined }
  t.strictSame(await place(put(ada, id, [p('x'), bad])), { path: '/document/content/1/content/0', ...none })
  t.strictSame(await place(put(ada, id, [{ ...bad, attrs: { id: known } }])), {
    path: '/document/content/0/content/0',
    block_id: known,
    operation_index: undefined,
  })
  const json = { format: 'tiptap-json', document: { type: 'doc', content: [bad] } }
  t.strictSame(await place(ada.post('/documents', { title: 'x', content: json })), {
    path: '/content/document/content/0/content/0',
    ...none,
  })
  const deep = { format: 'markdown', content: `a\n\n${'> '.repeat(40)}x` }
  t.strictSame(await place(ada.put(`/documents/${id}/content`, deep, { 'if-match': '*' })), {
    path: '/content',
    ...none,
  })
  t.strictSame(await place(ada.post('/documents', { title: 'x', content: deep })), {
    path: '/content/content',
    ...none,
  })
  const long = `a\n\n<!-- block=${known} -->\n![${'x'.repeat(2001)}](/i.png)`
  const anchored = { format: 'markdown', content: long }
  t.strictSame(await place(ada.put(`/documents/${id}/content`, anchored, { 'if-match': '*' })), {
    path: '/content',
    block_id: known,
    operation_index: undefined,
  })
  const unknownImage = { format: 'markdown', content: `![x](/api/v1/attachments/att_${'0'.repeat(26)})` }
  t.strictSame(await place(ada.put(`/documents/${id}/content`, unknownImage, { 'if-match': '*' })), {
    path: '/content',
    ...none,
  })
  const insert = { position: { document_end: true }, nodes: [p('x'), bad] }
  t.strictSame(await place(ada.post(`/documents/${id}/blocks`, insert)), { path: '/nodes/1/content/0', ...none })
  t.strictSame(await place(ada.patch(`/documents/${id}/blocks/${known}`, { content: bad.content })), {
    path: '/content/0',
    block_id: known,
    operation_index: undefined,
  })
  const operations = [
    { op: 'insert', position: { document_start: true }, nodes: [p('x')] },
    { op: 'insert', ...insert },
  ]
  t.strictSame(await place(ada.post(`/documents/${id}/batch`, { operations })), {
    path: '/operations/1/nodes/1/content/0',
    block_id: undefined,
    operation_index: 1,
  })
})

t.test('an id that this very request made is not named when a later operation fails beside it', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  const item = `block_${'1'.repeat(26)}`
  const list = { type: 'bulletList', content: [{ type: 'listItem', attrs: { id: item }, content: [p('x')] }] }
  const operations = [
    { op: 'insert', position: { document_end: true }, nodes: [list] },
    { op: 'insert', position: { after_block_id: item }, nodes: [p('y')] },
  ]
  const reply = await ada.post(`/documents/${id}/batch`, { operations })
  refused(t, reply, { status: 422, code: 'invalid_position', details: { operation_index: 1 } })
  t.notOk('block_id' in reply.body.error.details)
})

t.test('a body that is too large already can still be made smaller, but not replaced by one as large', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [raw(9000), raw(9000)])
  t.equal((await put(ada, id, [p('x')])).status, 200)
  const grown = await ada.post(`/documents/${id}/blocks`, { position: { document_end: true }, nodes: [raw(byteLimit)] })
  refused(t, grown, tooManyBytes)
})
