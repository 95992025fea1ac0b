import { request } from 'node:http'
import fc from 'fast-check'
import { readMarkdownFile } from '../../api/pages/workspace/markdown-file.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor, type Visitor } from '../support/visitor.ts'
import { manifestOf } from '../support/zips.ts'

const service = await sharedService({ BODY_MAX_BYTES: '2000000' })

async function author() {
  const client = await service.signUp()
  const { data: base } = (await client.post('/knowledge-bases', { name: 'Handbook' })).body
  const { data: folder } = (await client.post('/folders', { name: 'Rivers', knowledge_base_id: base.id })).body
  const visitor = await signedInVisitor(service, { userId: client.user_id })
  return { client, visitor, base: `/kb/${base.id}`, folder: `/kb/${base.id}/folders/${folder.id}` }
}

type Files = Record<string, string | Uint8Array<ArrayBuffer>>

// Sends files as the form of the upload page does; `token` replaces the token of the session.
async function upload(visitor: Visitor, { page, files, token }: { page: string; files: Files; token?: string }) {
  const { html } = await visitor.get('/device')
  const form = new FormData()
  form.set('csrf_token', token ?? hiddenFields(html, '/logout')['csrf_token'] ?? '')
  for (const [name, text] of Object.entries(files)) form.append('files', new Blob([text]), name)
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const address = `${service.origin}${page}/upload`
  const answer = await fetch(address, { method: 'POST', headers: { cookie }, body: form, redirect: 'manual' })
  return { status: answer.status, location: answer.headers.get('location'), html: await answer.text() }
}

t.test('a Markdown file becomes a document that opens in the editor, with its tags and properties', async (t) => {
  const { client, visitor, folder } = await author()
  t.match((await visitor.get(`${folder}/upload`)).html, 'enctype="multipart/form-data"')
  const text = '---\ntitle: "The Nile"\ntags: [river, africa]\nlength: 6650\n---\n\n# Source\n\nLake *Victoria*\n'
  const { status, location } = await upload(visitor, { page: folder, files: { 'nile.md': text } })
  t.equal(status, 303)
  const id = location?.slice('/d/'.length)
  const { data: document } = (await client.get(`/documents/${id}`)).body
  t.match(document, { title: 'The Nile', tags: ['river', 'africa'], properties: { length: 6650 } })
  t.equal(`${document.folder_id}`, folder.split('/').at(-1))
  const { data: body } = (await client.get(`/documents/${id}/content?format=markdown`)).body
  t.match(body.content, 'Lake *Victoria*')
})

t.test('several files become documents together, named after the files, or none of them does', async (t) => {
  const { client, visitor, base } = await author()
  const good = { 'One.md': 'one', 'Two.markdown': 'two', '三.txt': 'three' }
  t.match(await upload(visitor, { page: base, files: good }), { status: 303, location: `${base}?uploaded=3` })
  t.match((await visitor.get(`${base}?uploaded=3`)).html, '3 documents were made')
  const titles = async () =>
    ((await client.get('/documents')).body.data as { title: string }[]).map(({ title }) => title).sort()
  t.strictSame(await titles(), ['One', 'Two', '三'])
  const bad: [Files, number, string][] = [
    [{ 'Four.md': 'four', 'picture.png': 'x' }, 422, 'Its name does not end in .md'],
    [{ 'Four.md': 'four', 'latin.md': Uint8Array.of(0x66, 0xfc, 0x72) }, 422, 'It is no text in UTF-8'],
    [{ 'Four.md': 'four', 'zero.md': 'a\u0000b' }, 422, 'It is no text in UTF-8'],
    [{ 'Four.md': 'four', 'image.md': '![x](/api/v1/attachments/att_01JZZZZZZZZZZZZZZZZZZZZZZZ)' }, 422, 'att'],
    [{}, 400, 'Choose the files first'],
    [Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`${index}.md`, 'x'])), 400, 'at most 50 files'],
    [{ 'large.md': 'x'.repeat(2_000_001) }, 413, 'Too much at once'],
  ]
  for (const [files, status, words] of bad) {
    const refused = await upload(visitor, { page: base, files })
    t.equal(refused.status, status, words)
    if (words !== 'att') t.match(refused.html, words)
  }
  t.strictSame(await titles(), ['One', 'Two', '三'])
})

t.test('only those who may write upload, and only with the form of the page', async (t) => {
  const workspace = 'of the reader'
  const owner = await service.signUp({ workspace })
  const { data: base } = (await owner.post('/knowledge-bases', { name: 'Handbook' })).body
  const page = `/kb/${base.id}`
  const visitorOf = async (userId: string) => signedInVisitor(service, { userId })
  const viewer = await visitorOf((await service.signUp({ workspace, role: 'viewer' })).user_id)
  const stranger = await visitorOf((await service.signUp()).user_id)
  const files = { 'a.md': 'a' }
  t.equal((await upload(viewer, { page, files })).status, 403)
  t.equal((await upload(stranger, { page, files })).status, 404)
  t.equal((await upload(await visitorOf(owner.user_id), { page, files, token: 'x' })).status, 403)
  t.equal((await (await visitorOf(owner.user_id)).send(`${page}/upload`, {})).status, 415, 'without files')
  t.strictSame((await owner.get('/documents')).body.data, [])
})

t.test('an upload is refused without waiting for its bytes, and the answer arrives', async (t) => {
  const workspace = 'of the sender'
  const owner = await service.signUp({ workspace })
  const { data: base } = (await owner.post('/knowledge-bases', { name: 'Handbook' })).body
  const { data: document } = (await owner.post('/documents', { title: 'x', knowledge_base_id: base.id })).body
  const writer = await signedInVisitor(service, { userId: owner.user_id })
  const viewer = await service.signUp({ workspace, role: 'viewer' })
  const reader = await signedInVisitor(service, { userId: viewer.user_id })
  const form = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': '1900000' }
  t.equal(await begun(reader, `/kb/${base.id}/upload`, form), 403, 'a viewer')
  t.equal(await begun(writer, `/kb/${base.id}/upload`, { ...form, 'content-length': '2000001' }), 413)
  const token = hiddenFields((await writer.get('/device')).html, '/logout')['csrf_token'] ?? ''
  const script = { 'x-csrf-token': token, 'content-length': '1900000' }
  const file = `/d/${document.id}/attachments?name=a`
  t.equal(await begun(writer, file, { ...script, 'content-type': 'image/png' }), 415, 'bytes of another type')
  t.equal(await begun(writer, file, { ...script, 'content-type': 'text/x-unknown' }), 415, 'a type that is not taken')
})

// Begins a request whose body never ends. The result is the status of the answer.
async function begun(visitor: Visitor, path: string, headers: Record<string, string>): Promise<number | undefined> {
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const sent = request(service.origin + path, { method: 'POST', headers: { cookie, ...headers } })
  try {
    return await new Promise((resolve, reject) => {
      sent.once('error', reject)
      sent.once('response', ({ statusCode }) => resolve(statusCode))
      sent.write('x'.repeat(100_000))
    })
  } finally {
    sent.on('error', () => {})
    sent.destroy()
  }
}

t.test('no text of a file is lost, whatever stands at its beginning', (t) => {
  const line = fc.constantFrom('---', '--- ', '# x', 'title: y', 'tags: [a, b]', 'a: 1', '- b', '', '\ttext', 'a: &x 1')
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.string(), (lines, below) => {
      const text = [...lines, below].join('\n')
      const { title, markdown } = readMarkdownFile({ name: 'x.md', text })
      return title !== '' && text.endsWith(markdown.replace(/^---\n[\s\S]*?---\n/, '')) && markdown.endsWith(below)
    }),
  )
  t.end()
})

t.test('a person downloads a knowledge base as the API exports it', async (t) => {
  const { client, visitor, base } = await author()
  await client.post('/documents', { title: 'Water', knowledge_base_id: Number(base.slice(4)) })
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const answer = await fetch(`${service.origin}${base}/export`, { headers: { cookie } })
  t.equal(answer.headers.get('content-type'), 'application/zip')
  t.match(answer.headers.get('content-disposition'), /^attachment; filename="knowledge-base-\d+\.zip"$/)
  const names = [...(await manifestOf(Buffer.from(await answer.arrayBuffer()))).files.keys()]
  t.ok(names.includes('manifest.json'))
  t.ok(names.some((name) => name.startsWith('markdown/Water')))
  const stranger = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
  t.equal((await stranger.get(`${base}/export`)).status, 404)
})
