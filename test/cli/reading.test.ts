import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openZip } from '../../shared/import/source.ts'
import { workersOf } from '../../workers/types.ts'
import { p, ul } from '../document/build.ts'
import { commandLine } from '../support/command-line.ts'
import { make } from '../support/documents.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t)
await startWorkers(t, service, workersOf(['search', 'changes', 'events', 'relations']))
const ada = await service.signUp({ email: 'ada@example.test' })
const { run, json, directory } = commandLine(t, { origin: service.origin, token: ada.token })

const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data
const mammals = (await ada.post('/folders', { name: 'Mammals', knowledge_base_id: base.id })).body.data
const content = '# Water\n\nAn elephant drinks **a hundred litres** a day.\n'
const elephants = await made('Elephants', { folder_id: mammals.id, content })
const slashed = await made('Sea/Land', { folder_id: mammals.id, content: 'Both.' })

t.test('a person sees the tree of a base and of a folder, and a program gets the same nodes', async (t) => {
  const tree = await run(['tree', 'Zoo'])
  t.equal(
    tree.out,
    `Zoo\n└── Mammals/  folders/${mammals.id}\n    ├── Elephants  ${elephants.id}\n    └── Sea/Land  ${slashed.id}\n`,
  )
  t.equal((await run(['tree', String(base.id), '--depth', '1'])).out, `Zoo\n└── Mammals/  folders/${mammals.id}\n`)
  t.equal((await run(['tree', 'Zoo', '--folders'])).out, `Zoo\n└── Mammals/  folders/${mammals.id}\n`)
  const { data } = (await ada.get(`/knowledge-bases/${base.id}/tree`)).body
  t.strictSame((await json(['tree', 'Zoo'])).children, data.children)
  const folder = await json(['tree', `folders/${mammals.id}`])
  t.match(folder, { type: 'folder', id: mammals.id, name: 'Mammals' })
  t.strictSame(folder.children, data.children[0].children)
})

t.test('a document is found by id, by svc address, by the address of its page and by its path', onlyLong, async (t) => {
  const names = [
    elephants.id,
    `svc://doc/${elephants.id}`,
    `${service.origin}/d/${elephants.id}`,
    'Zoo/Mammals/Elephants',
    'Zoo / Mammals / Elephants',
  ]
  for (const name of names) t.match(await run(['cat', name]), { code: 0, out: content, err: '' }, name)
  t.match(await run(['cat', 'Zoo/Mammals/Sea/Land']), { code: 0, out: 'Both.\n' }, 'names have slashes themselves')
  const missing = await run(['cat', 'Zoo/Mammals/Elefants', '--json'])
  t.equal(missing.code, 5)
  t.match(JSON.parse(missing.err), {
    error: { code: 'name_not_found', message: 'There is no document "Zoo/Mammals/Elefants".' },
  })
  t.equal((await run(['cat', 'doc_nobody'])).code, 5)
  t.match(await run(['cat', 'https://elsewhere.example/d/doc_1']), { code: 2, err: /is not an address of/ })
  t.match(await run(['cat', 'Zoo/Mammals']), { code: 5 }, 'a folder is no document')
})

t.test('a name that several documents have lists them, and nothing is guessed', async (t) => {
  const twin = await made('Twin', { folder_id: mammals.id })
  const other = await made('Twin', { folder_id: mammals.id })
  const { code, out, err } = await run(['cat', 'Zoo/Mammals/Twin'])
  t.match({ code, out }, { code: 2, out: '' })
  for (const { id } of [twin, other]) t.match(err, `${id}  Zoo/Mammals/Twin`)
  const { error } = JSON.parse((await run(['cat', 'Zoo/Mammals/Twin', '--json'])).err)
  t.match(error, {
    code: 'ambiguous_name',
    details: { candidates: [{ type: 'document', path: 'Zoo/Mammals/Twin' }, {}] },
  })
  for (const { id } of [twin, other]) await ada.delete(`/documents/${id}`)
})

t.test('cat prints every form of a text, a block of it and an older version', onlyLong, async (t) => {
  const path = `/documents/${elephants.id}`
  const get = async (query: string) => (await ada.get(`${path}/${query}`)).body.data
  t.strictSame(await json(['cat', elephants.id]), await get('content?format=markdown'))
  t.match((await run(['cat', elephants.id, '--format', 'html'])).out, '<strong>a hundred litres</strong>')
  t.equal(
    (await run(['cat', elephants.id, '--format', 'plain-text'])).out,
    'Water\n\nAn elephant drinks a hundred litres a day.\n',
  )
  const { document } = await get('content')
  t.strictSame(JSON.parse((await run(['cat', elephants.id, '--format', 'tiptap-json'])).out), document)
  const block = document.content[1].attrs.id
  t.match((await run(['cat', elephants.id, '--anchors'])).out, `<!-- block=${block} -->\nAn elephant`)
  const uri = `svc://doc/${elephants.id}`
  for (const name of [`${uri}#${block}`, `${uri}#block=${block}`, `${service.origin}/d/${elephants.id}#${block}`]) {
    t.equal((await run(['cat', name])).out, 'An elephant drinks **a hundred litres** a day.\n')
  }
  t.match(await json(['cat', elephants.id, '--block', block, '--format', 'tiptap-json']), {
    block_id: block,
    type: 'paragraph',
  })
  const item = await make(ada, [ul(p('Leaves'), p('Bark'))])
  const [, bark] = item.blocks[0]?.content ?? []
  const one = ['cat', item.id, '--block', String(bark?.attrs?.['id']), '--format', 'plain-text']
  t.equal((await run(one)).out, 'Bark\n')
  const many = Array.from({ length: 40 }, (_, index) => p(`大象 ${index} ${'喝水'.repeat(3000)}`))
  const long = await make(ada, many)
  const lines = (await run(['cat', long.id, '--format', 'plain-text'])).out.split('\n\n')
  t.strictSame(
    lines.map((line) => line.split(' ')[1]),
    many.map((_, index) => String(index)),
    'nothing is left out',
  )
  t.match(await run(['cat', elephants.id, '--format', 'word']), { code: 2, err: /Allowed choices are markdown/ })
  t.match(await run(['cat', elephants.id, '--block', block, '--format', 'html']), { code: 2 })
})

t.test('the history of a document is listed, compared and brought back', onlyLong, async (t) => {
  const { id, version } = await made('Changing', { folder_id: mammals.id, content: 'one litre\n' })
  await ada.put(
    `/documents/${id}/content`,
    { format: 'markdown', content: 'two litres\n' },
    { 'if-match': `"${version}"` },
  )
  const versions = (await ada.get(`/documents/${id}/versions`)).body.data
  const [{ seq }] = versions
  t.strictSame(await json(['history', 'Zoo/Mammals/Changing']), versions)
  t.match(
    (await run(['history', id])).out,
    new RegExp(`^VERSION +WRITTEN +SIZE +BY\n${seq} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d +\\d+ bytes +usr_`),
  )
  t.equal((await run(['cat', id, '--version', String(seq)])).out, 'one litre\n')
  const diff = (await run(['diff', id])).out
  t.match(diff, /^-one litre$/m)
  t.match(diff, /^\+two litres$/m)
  t.strictSame(await json(['diff', id]), (await ada.get(`/documents/${id}/diff`)).body.data)

  const rehearsal = await run(['restore', id, String(seq), '--dry-run'])
  t.match(rehearsal.out, /^\+one litre$/m)
  t.equal((await run(['cat', id])).out, 'two litres\n', 'a rehearsal changes nothing')
  t.match(await run(['restore', id, String(seq)]), { code: 0, out: `"Changing" is as it was in version ${seq}.\n` })
  t.equal((await run(['cat', id])).out, 'one litre\n')
  t.match(await run(['restore', id, '999']), { code: 5 })
  t.match(await run(['restore', id, 'seven']), { code: 2, err: /whole number/ })
})

t.test('a person searches with operators and filters, and is told what the index lacks', async (t) => {
  const found = await run([
    'search',
    'litr*',
    '-milk',
    '--in',
    'Zoo/Mammals',
    '--document',
    elephants.id,
    '--wait',
    '10',
  ])
  t.equal(found.code, 2, 'a word that begins with a dash needs -- before it')
  const words = ['search', '--in', 'Zoo/Mammals', '--document', elephants.id, '--wait', '10', '--', 'litr*', '-milk']
  const block = (await ada.get(`/documents/${elephants.id}/blocks`)).body.data[1].block_id
  t.match(await run(words), {
    code: 0,
    out: `Elephants › Water\n  An elephant drinks a hundred litres a day.\n  Zoo / Mammals / Elephants  svc://doc/${elephants.id}#block=${block}\n`,
  })
  const answer = await json(['search', 'hundred litres', '--in', String(base.id), '--limit', '5'])
  t.match(answer, { results: [{ document_id: elephants.id }], projection: { complete: true } })
  t.match((await json(['search', 'elephant', '--all', '--in', 'Zoo'])).page, { has_more: false })
  t.match(await run(['search', 'nowhere']), { code: 0, out: 'Nothing was found.\n' })
  t.match(await run(['search', '--', '-only']), { code: 1, err: /only exclusions/ })
  t.match(await run(['search', 'x', '--property', 'novalue']), { code: 2 })
})

t.test('an export is a whole zip or no file at all', onlyLong, async (t) => {
  const exported = await run(['export', 'Zoo'])
  const file = join(directory, `knowledge-base-${base.id}.zip`)
  t.match(exported, { code: 0, out: new RegExp(`^knowledge-base-${base.id}.zip: [\\d.]+ `) })
  const zip = await openZip(file)
  t.ok(zip.names.has('manifest.json'))
  await zip.close()
  t.match(await run(['export', 'Zoo']), { code: 1, err: /exists/ }, 'a file is not replaced unasked')
  t.match(await json(['export', 'Zoo', 'again.zip']), {
    knowledge_base_id: base.id,
    file: 'again.zip',
    bytes: statSync(join(directory, 'again.zip')).size,
  })
  t.match(await run(['export', 'Zoo', '-']), { code: 0, out: /^PK/ })

  const breaking = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/zip' }).write('PK half')
    setTimeout(() => response.destroy(), 50)
  }).listen(0)
  t.teardown(() => breaking.close())
  const broken = await run(['export', String(base.id), 'broken.zip'], {
    env: { KB_ORIGIN: `http://127.0.0.1:${(breaking.address() as AddressInfo).port}` },
  })
  t.match(broken, { code: 1, err: /broke before the end/ })
  t.notOk(existsSync(join(directory, 'broken.zip')))
  t.same(
    readdirSync(directory).filter((name) => name.includes('part')),
    [],
  )
  t.match(readFileSync(file).subarray(0, 2).toString(), 'PK')
})

async function made(title: string, input: { folder_id: number; content?: string }) {
  const { content: markdown, ...place } = input
  const body = {
    title,
    ...place,
    ...(markdown !== undefined && { content: { format: 'markdown', content: markdown } }),
  }
  return (await ada.post('/documents', body)).body.data as { id: string; version: string }
}
