import { harmlessFilename } from '../../shared/attachments/filename.ts'
import { queryString } from '../support/search.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { write } from '../support/workers.ts'

const service = await sharedService()
const ada = await service.signUp()
const anyVersion = { 'if-match': '*' }
const long = 'x'.repeat(100_000)
const removed = { type: 'link', attrs: { href: 'javascript:alert(1)' } }
const paragraph = { type: 'paragraph', content: [{ type: 'text', text: 'a', marks: [removed] }] }
const paragraphs = Array.from({ length: 150 }, () => paragraph)

t.test('a text full of oddities gets an answer that says how many of them it does not list', async (t) => {
  const definitions = Array.from({ length: 5000 }, (_, index) => `[d${index}]: /a`).join('\n')
  const { id } = await write(ada, 'a text')
  const replies = {
    'unused definitions': await ada.post('/documents', {
      title: 'Definitions',
      content: { format: 'markdown', content: definitions },
    }),
    'a whole body': await ada.put(
      `/documents/${id}/content`,
      { format: 'tiptap-json', document: { type: 'doc', content: paragraphs } },
      { 'if-match': '*' },
    ),
    'a batch': await ada.post(`/documents/${id}/batch`, {
      operations: [{ op: 'insert', position: { document_end: true }, nodes: paragraphs }],
    }),
  }
  for (const [name, { status, body }] of Object.entries(replies)) {
    t.ok(status < 300, `${name}: ${JSON.stringify(body).slice(0, 200)}`)
    const { warnings } = body.data
    t.equal(warnings.length, 101, name)
    // A whole body also says that it has replaced the ids of the text.
    const left = { 'unused definitions': 4900, 'a whole body': 51 }[name] ?? 50
    const message = `${left} more warnings were left out.`
    t.strictSame(warnings[100], { code: 'warnings_truncated', message, block_id: null }, name)
    t.not(warnings[99].code, 'warnings_truncated')
  }
})

t.test('no more than a hundred losses of a Markdown reading are listed', async (t) => {
  const coloured = { type: 'text', text: 'a', marks: [{ type: 'textStyle', attrs: { color: 'red' } }] }
  const { id } = await write(
    ada,
    Array.from({ length: 150 }, () => ({ type: 'paragraph', content: [coloured] })),
  )
  for (const path of [`/documents/${id}/content?format=markdown`, `/documents/${id}/read?max_tokens=20000`]) {
    const { warnings } = (await ada.get(path)).body.data
    t.equal(warnings.length, 101, path)
    t.match(warnings[100], { code: 'warnings_truncated', message: '50 more warnings were left out.' }, path)
  }
})

t.test('an error does not send the text of the caller back', async (t) => {
  const { id } = await write(ada, '# Heading\n\na text')
  const batch = (operation: object) => ada.post(`/documents/${id}/batch`, { operations: [operation] })
  const node = (wrong: object) =>
    batch({ op: 'insert', position: { document_end: true }, nodes: [{ ...paragraph, ...wrong }] })
  const replies = [
    await node({ type: long }),
    await node({ attrs: { id: long } }),
    await node({ content: [{ type: 'text', text: 'a', marks: [{ type: long }] }] }),
    await batch({ op: 'delete', block_id: long }),
    await batch({ op: 'insert', position: { after_heading: long }, nodes: [paragraph] }),
    await batch({ op: 'delete', block_id: long, if_match: long }),
    await ada.post('/documents', { title: 'a', [long]: 1, knowledge_base_id: long }),
    await ada.post('/documents', { title: long }),
    await ada.post('/documents', { id: long, title: 'a' }),
    await ada.put(
      `/documents/${id}/content`,
      { format: 'markdown', content: `<!-- block=${long} -->\n\na` },
      anyVersion,
    ),
    await ada.put(`/documents/${id}/content`, { format: long }, anyVersion),
    await ada.get(`/documents/${id}?locale=${'x'.repeat(1000)}`),
    await ada.post('/relations', { source_document_id: long, predicate: long, target_uri: long }),
    await ada.post('/auth/device/code', {
      scopes: Array.from({ length: 100 }, (_, index) => `scope ${index} ${'x'.repeat(100)}`),
    }),
  ]
  for (const [index, { status, text }] of replies.entries()) {
    t.ok(status >= 400 && status < 500, `${index}: ${status}`)
    t.ok(text.length < 4000, `${index}: ${text.slice(0, 150)}`)
  }
  const details = replies.map(({ body }) => body.error.details)
  const cut = 'x'.repeat(200)
  t.match(details[3], { block_id: cut })
  t.strictSame(details[4], { heading: cut, operation_index: 0 })
  t.match(details[11], { locale: cut })
  const { unknown } = details.at(-1)
  t.equal(unknown.length, 20)
  t.ok(unknown.every((scope: string) => scope.length === 64))
})

t.test('marks without end on one letter of a query or of a file name keep nobody waiting', async (t) => {
  const marked = (count: number) => `a${'\u0301\u0323'.repeat(count)}`
  const reply = await ada.get(`/search?${queryString({ q: marked(1200) })}`)
  t.match(reply, { status: 400, body: { error: { details: { fields: [{ path: '?q' }] } } } })
  t.equal((await ada.get(`/search?${queryString({ q: `  ${'e\u0301'.repeat(200)}  ` })}`)).status, 200)
  t.match(harmlessFilename(`dir/${marked(300_000)}.png`), /^a?ạ?.*\.png$/u)
  t.equal(harmlessFilename('cafe\u0301.png'), 'caf\u00e9.png')
})
