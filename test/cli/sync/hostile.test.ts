import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { LocalWriter } from '../../../shared/cli/sync/local-write.ts'
import type { Entry } from '../../../shared/cli/sync/sides.ts'
import { hashOf } from '../../../shared/cli/sync/state.ts'
import { Client } from '../../support/client.ts'
import { sharedService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { Machine } from './machine.ts'

const service = await sharedService()

async function newBase() {
  const workspace = `ws ${Math.random()}`
  const ada = await service.signUp({ workspace })
  const base: number = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  const make = async (title: string, folder_id: number | null = null): Promise<string> => {
    const content = { format: 'markdown', content: 'Text' }
    const { status, body } = await ada.post('/documents', { title, knowledge_base_id: base, folder_id, content })
    if (status !== 201) throw new Error(JSON.stringify(body))
    return body.data.id
  }
  return { ada, base, workspace, make, machine: (client: Client = ada) => new Machine(t, client, { base }) }
}

t.test('no title and no name of a folder leads out of the folder, hides a file or meets another file', async (t) => {
  const { ada, base, make, machine } = await newBase()
  const titles = [
    '../../evil',
    '..',
    '.',
    '.env',
    'CON',
    'a/b\\c',
    'x'.repeat(500),
    'node_modules',
    'dot.',
    'Case',
    'case',
  ]
  titles.push('x.conflict-12345678', 'Aux--doc_1', 'right\u202eleft', '日本'.repeat(200), '`$(rm -rf)`', '-rf', 'a:b')
  for (const title of titles) await make(title)
  for (const name of ['..', '.git', 'CON', 'node_modules', 'Case', 'case', 'x--doc_1.md']) {
    const { body } = await ada.post('/folders', { name, knowledge_base_id: base })
    await make('inside', body.data.id)
  }
  const [one, two] = [machine(), machine()]
  t.match(await one.sync(), { actions: { length: titles.length + 7 }, failed: [] })
  t.equal(one.files().length, titles.length + 7, 'every document has a visible file in the folder')
  const keys = one.files().map((path) => path.toLowerCase())
  t.equal(new Set(keys).size, keys.length, 'also where case does not count')
  for (const part of one.files().flatMap((path) => path.split('/'))) {
    t.notMatch(part, /^\.|[\\:*?"<>|\u202e]|^(con|aux|nul)(\.|$)|[. ]$/i)
    t.ok(Buffer.byteLength(part) <= 255)
  }
  t.strictSame((await one.sync()).actions, [])
  await two.sync()
  t.strictSame(
    two.files().map((path) => two.read(path)),
    one.files().map((path) => one.read(path)),
  )
  const list = await ada.get(`/documents?knowledge_base_id=${base}&limit=100`)
  t.strictSame(
    list.body.data
      .map(({ title }: { title: string }) => title)
      .filter((title: string) => title !== 'inside')
      .sort(),
    titles.toSorted(),
  )
})

t.test('symbolic links are never followed, and what they hide does not count as deleted', async (t) => {
  const { ada, base, make, machine } = await newBase()
  const outside = t.testdir({ 'secret.md': 'secret', folder: {} })
  const one = machine()
  one.write('A.md', 'Text')
  one.write('Folder/B.md', 'Text')
  await one.sync()
  const documents = async () => (await ada.get(`/documents?knowledge_base_id=${base}`)).body.data
  const { folder_id } = (await documents()).find(({ title }: { title: string }) => title === 'B')
  symlinkSync(join(outside, 'secret.md'), join(one.root, 'link.md'))
  one.remove('A.md')
  symlinkSync(join(outside, 'secret.md'), join(one.root, 'A.md'))
  await make('C', folder_id)
  one.remove('Folder')
  symlinkSync(join(outside, 'folder'), join(one.root, 'Folder'))
  const report = await one.sync().catch(String)
  t.notOk(existsSync(join(outside, 'folder', 'C.md')), 'nothing is written outside')
  t.equal(readFileSync(join(outside, 'secret.md'), 'utf8'), 'secret')
  t.same(
    (await documents()).map(({ title }: { title: string }) => title).sort(),
    ['A', 'B', 'C'],
    'a link in place of a file or directory deletes nothing',
  )
  t.notMatch(JSON.stringify(report), /secret/)
  t.match(report, { failed: [{ path: 'Folder/C.md', code: 'not_in_step' }] }, 'and nobody is told that it was written')
  for (const { id } of await documents()) {
    t.notMatch((await ada.get(`/documents/${id}/content?format=markdown`)).text, /secret/)
  }
})

t.test('a file that is no text is left alone with its document, and so are hidden files', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  for (const name of ['A', 'B', 'C']) one.write(`${name}.md`, 'Text')
  await one.sync()
  writeFileSync(join(one.root, 'A.md'), Buffer.from([0x66, 0xff, 0xfe]))
  writeFileSync(join(one.root, 'B.md'), 'a\u0000b')
  one.write('.hidden/D.md', 'hidden')
  one.write('node_modules/E.md', 'installed')
  one.write('F.txt', 'no Markdown')
  const report = await one.sync()
  t.match(report, {
    actions: [],
    left_alone: [
      { path: 'A.md', reason: 'not_utf8' },
      { path: 'B.md', reason: 'has_null' },
    ],
  })
  t.equal((await ada.get(`/documents?knowledge_base_id=${base}`)).body.data.length, 3)
  t.equal(one.read('B.md'), 'a\u0000b')
})

t.test('a file that is empty for a moment takes no text away', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  one.write('A.md', 'Text')
  await one.sync()
  const text = one.read('A.md')
  one.write('A.md', '')
  t.match(await one.sync(), { actions: [], withheld: [], left_alone: [{ path: 'A.md', reason: 'empty' }] })
  const [{ id }] = (await ada.get(`/documents?knowledge_base_id=${base}`)).body.data
  t.equal((await ada.get(`/documents/${id}/content?format=markdown`)).body.data.content, 'Text\n')
  one.write('A.md', text.replace('Text', 'More'))
  await one.sync()
  t.equal((await ada.get(`/documents/${id}/content?format=markdown`)).body.data.content, 'More\n')
})

t.test('a directory that cannot be renamed in the service does not stop the other files', async (t) => {
  const { ada, base, workspace, machine } = await newBase()
  const one = machine()
  one.write('Birds/A.md', 'Text')
  await one.sync()
  const two = machine(await service.signUp({ role: 'viewer', workspace }))
  await two.sync()
  two.move('Birds', 'Big birds')
  const content = { format: 'markdown', content: 'New' }
  await ada.post('/documents', { title: 'New', knowledge_base_id: base, content })
  t.match(await two.sync(), { failed: [{ path: 'Big birds', code: 'forbidden' }] })
  t.match(two.files(), ['Big birds/A.md', 'New.md'])
})

t.test('front matter that was broken for a moment takes no tags away', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  one.write('A.md', '---\ntags: [x]\nowner: Ada\n---\nText\n')
  await one.sync()
  one.edit('A.md', 'owner: Ada', 'owner: [Ada')
  t.match(await one.sync(), { failed: [{ path: 'A.md', code: 'invalid_front_matter' }] })
  t.match((await ada.get(`/documents?knowledge_base_id=${base}`)).body.data, [
    { tags: ['x'], properties: { owner: 'Ada' } },
  ])
  one.edit('A.md', 'owner: [Ada', 'owner: Bob')
  await one.sync()
  t.match((await ada.get(`/documents?knowledge_base_id=${base}`)).body.data, [
    { tags: ['x'], properties: { owner: 'Bob' } },
  ])
})

t.test('whoever may only read keeps what was written, and learns why it was not stored', async (t) => {
  const { workspace, machine } = await newBase()
  const one = machine()
  one.write('A.md', 'Text')
  await one.sync()
  const viewer = await service.signUp({ role: 'viewer', workspace })
  const two = machine(viewer)
  await two.sync()
  two.edit('A.md', 'Text', 'Text of a reader')
  t.match(await two.sync(), { failed: [{ path: 'A.md', code: 'forbidden' }] })
  t.match(two.read('A.md'), 'Text of a reader')
})

t.test('a deleted knowledge base and a revoked token delete no file', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  one.write('A.md', 'Text')
  await one.sync()
  const stranger = new Client({ origin: service.origin, token: 'svc_tok_revoked' })
  one.signIn(stranger)
  t.equal(await one.sync().catch(({ status }) => status), 401)
  one.signIn(ada)
  t.strictSame(one.files(), ['A.md'])
  await ada.delete(`/knowledge-bases/${base}`, { confirm_id: base })
  t.equal(await one.sync().catch(({ status }) => status), 404)
  t.strictSame(one.files(), ['A.md'])
})

t.test('a service that asks to wait is waited for', async (t) => {
  const ada = await service.signUp()
  const base: number = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  let [refused, calls] = [0, 0]
  const fetch: typeof globalThis.fetch = async (input, init) => {
    calls += 1
    if (calls % 2 === 0) return globalThis.fetch(input, init)
    refused += 1
    const error = { type: 'rate_limit_error', code: 'rate_limited', message: 'Wait.', details: { retry_after: 0 } }
    const headers = { 'content-type': 'application/json', 'retry-after': '0' }
    return new Response(JSON.stringify({ error, request_id: 'req_1' }), { status: 429, headers })
  }
  const one = new Machine(t, ada, { base, fetch })
  one.write('A.md', 'Text')
  t.match(await one.sync(), { actions: { length: 1 }, failed: [] })
  t.ok(refused > 0)
})

t.test('what a program writes into a file after it was replaced is in the new file, or in a copy', async (t) => {
  const root = t.testdir({ 'A.md': 'before\n' })
  mkdirSync(join(root, '.knowledge-base'))
  const id = 'doc_1'
  const entry = { id, path: 'A.md' } as Entry
  const state = { entries: new Map([[id, entry]]), gone: new Map() }
  const settled = () => new LocalWriter(root).settle(state)
  const expected = (text: string) => ({ hash: hashOf(text), id })
  const [logger, editor] = [await open(join(root, 'A.md'), 'a'), await open(join(root, 'A.md'), 'r+')]
  await new LocalWriter(root).write('A.md', 'from the service\n', expected('before\n'))
  t.strictSame(await settled(), { rescued: [], copies: [] })
  for (const line of ['one\n', 'two\n', 'two\n']) {
    await logger.write(line)
    t.strictSame(await settled(), { rescued: ['A.md'], copies: [] }, 'also by a later sync')
  }
  t.strictSame(await settled(), { rescued: [], copies: [] })
  t.equal(readFileSync(join(root, 'A.md'), 'utf8'), 'from the service\none\ntwo\ntwo\n')
  await editor.write('typed!', 0)
  const [copy = ''] = (await settled()).copies
  t.match(copy, /^A\.conflict-/)
  t.equal(readFileSync(join(root, copy), 'utf8'), 'typed!\none\ntwo\ntwo\n')
  const writer = new LocalWriter(root)
  await t.rejects(writer.write('A.md', 'x', expected('before\n')), { message: 'A.md has changed' })
  const text = readFileSync(join(root, copy), 'utf8')
  t.equal(await writer.keepCopy('A.md', text), copy, 'the same text needs no second copy')
  writeFileSync(join(root, copy), 'edited by a person')
  await t.rejects(writer.keepCopy('A.md', text), { message: `${copy} exists` }, 'what is not kept is not replaced')
  const open2 = await open(join(root, 'A.md'), 'a')
  writer.remove('A.md', expected('from the service\none\ntwo\ntwo\n'))
  await open2.write('three\n')
  t.strictSame(await settled(), { rescued: ['A.md'], copies: [] }, 'a deleted file comes back')
  await open2.write('four\n')
  t.match(readFileSync(join(root, 'A.md'), 'utf8'), /two\nthree\nfour\n$/)
  for (const file of [logger, editor, open2]) await file.close()
})

t.test('what the service cannot keep stays in the file, and in a copy once the file is written again', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  const image = 'data:image/png;base64,iVBORw0KGgo='
  const texts = {
    'A.md': 'Text\n\n[//]: # (a note to myself)\n\nMore\n',
    'B.md': `Text\n\n![drawing](${image})\n\nMore\n`,
    'C.md': '* one\n* two\n',
  }
  for (const [path, text] of Object.entries(texts)) one.write(path, text)
  const first = await one.sync()
  t.match(first.losses.map(({ path, losses }) => [path, losses.length]).sort(), [
    ['A.md', 1],
    ['B.md', 1],
  ])
  one.edit('C.md', 'two', `two\n\n![another](${image}2)\n`)
  t.match((await one.sync()).losses, [{ path: 'C.md', losses: { length: 1 } }])
  t.equal(one.read('A.md'), texts['A.md'], 'as it was written')
  t.equal(one.read('B.md'), texts['B.md'])
  t.strictSame([one.copies(), first.conflicts], [[], []])
  one.edit('C.md', 'one', 'one here')
  const { data } = (await ada.get(`/documents?knowledge_base_id=${base}`)).body
  for (const { id } of data) {
    const { content, version } = (await ada.get(`/documents/${id}/content?format=markdown&annotate=anchors`)).body.data
    const more = { format: 'markdown', content: `${content}\n\nThere\n` }
    t.equal((await ada.put(`/documents/${id}/content`, more, { 'if-match': `"${version}"` })).status, 200)
  }
  const second = await one.sync()
  t.match(second.conflicts.map(({ path, losses }) => [path, losses.length]).sort(), [
    ['A.md', 1],
    ['B.md', 1],
    ['C.md', 1],
  ])
  for (const path of one.files()) t.match(one.read(path), /There/)
  const kept = one.copies().map((path) => one.read(path))
  for (const text of ['a note to myself', image, `${image}2`]) t.match(kept.join(), text)
  const third = await one.sync()
  t.strictSame([third.actions, third.conflicts, third.losses], [[], [], []])
})
