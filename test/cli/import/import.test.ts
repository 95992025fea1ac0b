import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { BodyNode } from '../../../shared/body/document.ts'
import { planOf } from '../../../shared/import/run.ts'
import { openFolder, openZip, SourceError } from '../../../shared/import/source.ts'
import { h, node, p, text } from '../../document/build.ts'
import { samples, uploaded } from '../../support/attachments.ts'
import type { Client } from '../../support/client.ts'
import { bodyOf, make, put } from '../../support/documents.ts'
import { type ServiceProcess, type Settings, startProcess } from '../../support/processes.ts'
import { onlyLong } from '../../support/run-options.ts'
import { startTestService } from '../../support/service.ts'
import { type Test, t } from '../../support/tap.ts'
import { exported, zip } from '../../support/zips.ts'

const [home, abroad] = await Promise.all([startTestService(t), startTestService(t)])

const letters = Array.from({ length: 14 }, (_, index) => String.fromCharCode(97 + index))
const next = (letter: string) => letters[(letters.indexOf(letter) + 1) % letters.length] ?? ''

t.test('an export comes back elsewhere as it was: ids, bodies, folders, links and files', async (t) => {
  const ada = await home.signUp()
  const { base, documents } = await library(ada)
  const archive = join(t.testdir(), 'library.zip')
  await writeFile(archive, (await exported(ada, base)).bytes)

  const bob = await abroad.signUp()
  const { code, result } = await runImport([archive], bob)
  t.equal(code, 0)
  t.match(result, { folders: 2, documents: documents.length, attachments: 1, renamed: 0, failed: [] })
  t.ok(existsSync(`${archive}.import-state`), 'so that the next import knows what it has imported')

  const [before, after] = [await exported(ada, base), await exported(bob, result.knowledge_base_id)]
  t.strictSame(after.manifest['documents'].map(lasting), before.manifest['documents'].map(lasting))
  t.strictSame(await treeOf(bob, result.knowledge_base_id), await treeOf(ada, base))
  const [attachment] = after.manifest['attachments']
  t.ok(after.files.get(attachment.path)?.equals(samples.png))
  for (const id of documents) {
    const [original, copy] = [await bodyOf(ada, id), await bodyOf(bob, id)]
    const [picture] = before.manifest['attachments']
    t.strictSame(copy.blocks, JSON.parse(JSON.stringify(original.blocks).replaceAll(picture.id, attachment.id)))
  }
})

t.test('a copy beside the original has ids of its own, and its links stay in the copy', async (t) => {
  const ada = await home.signUp()
  const { base, documents } = await library(ada)
  const archive = join(t.testdir(), 'library.zip')
  await writeFile(archive, (await exported(ada, base)).bytes)
  const { code, result } = await runImport([archive], ada)
  t.equal(code, 0)
  t.match(result, { documents: documents.length, renamed: documents.length, failed: [] })
  t.strictSame(await treeOf(ada, result.knowledge_base_id), await treeOf(ada, base))

  const { manifest, files } = await exported(ada, result.knowledge_base_id)
  const copies = new Map<string, string>(manifest['documents'].map(({ id, title }: Named) => [title, id]))
  for (const id of documents)
    t.notOk(
      [...files.values()].some((file) => file.includes(id)),
      'nothing names the original',
    )
  const { blocks } = await bodyOf(ada, copies.get('Links') ?? '')
  const original = await bodyOf(ada, documents[1] ?? '')
  t.strictSame(
    blocks.map(({ attrs }) => attrs.id),
    original.blocks.map(({ attrs }) => attrs.id),
    'blocks keep their ids, which are unique within a document',
  )
  t.match(JSON.stringify(blocks), `svc://doc/${copies.get('Target')}#block=`)
})

t.test('a folder of Markdown becomes documents that link to each other and show their images', async (t) => {
  const files = {
    'notes.txt': 'no Markdown',
    'README.md':
      '# Start\n\n[guide](guides/first%20steps.md#x "t"), [up][ref], <https://example.com>\n\n[ref]: ./guides/Other.md\n',
    guides: {
      'first steps.md':
        '---\ntitle: "First: steps"\n---\n![pic](../img/a.png) [home](/README.md) [out](../../etc/passwd) `[c](Other.md)`\n',
      'Other.md': 'no heading, [missing](nowhere.md)\n',
    },
    empty: {},
    '.hidden': { 'x.md': 'secret' },
  }
  const folder = join(t.testdir({ docs: files }), 'docs')
  await mkdir(join(folder, 'img'))
  await writeFile(join(folder, 'img', 'a.png'), samples.png)
  await writeFile(join(folder, 'img', 'unused.png'), samples.png)
  await writeFile(join(folder, 'broken.md'), Buffer.from([0xff, 0xfe, 0x00]))
  await symlink('/etc/hostname', join(folder, 'link.md'))
  const ada = await home.signUp()
  const { code, result, output } = await runImport([folder], ada)
  t.equal(code, 1, 'one file could not be read')
  t.match(output, 'broken.md is not UTF-8')
  t.match(result, { folders: 1, documents: 3, attachments: 1, failed: [{ name: 'broken.md' }] })
  t.ok(existsSync(`${folder}.import-state`), 'so that it can be tried again')

  t.strictSame(result.skipped, { hidden: 1, symbolic_link: 1, other_type: 1, unnamed_image: 1 })
  const titles = ['guides/', 'guides/First: steps', 'guides/Other', 'README']
  t.strictSame(await treeOf(ada, result.knowledge_base_id), titles, 'whoever knows the file finds the document')
  const { manifest } = await exported(ada, result.knowledge_base_id)
  const ids = new Map<string, string>(manifest['documents'].map(({ id, title }: Named) => [title, id]))
  const written = async (title: string) =>
    (await ada.get(`/documents/${ids.get(title)}/content?format=markdown`)).body.data.content
  const start = await written('README')
  t.match(start, `[guide](svc://doc/${ids.get('First: steps')} "t")`)
  t.match(start, `[up](svc://doc/${ids.get('Other')})`)
  t.match(start, 'https://example.com')
  const steps = await written('First: steps')
  t.match(steps, `![pic](/api/v1/attachments/${manifest['attachments'][0].id})`)
  t.match(steps, `[home](svc://doc/${ids.get('README')})`)
  t.match(steps, '[out](../../etc/passwd) `[c](Other.md)`')
  t.match(await written('Other'), '[missing](nowhere.md)')

  await writeFile(join(folder, 'broken.md'), 'whole again')
  const again = await runImport([folder, '--list-skipped'], ada)
  t.match(again.output, /going on with an import that began 20.*: 1 folders and 3 documents exist/)
  t.match(again.output, 'skipped: "notes.txt": neither Markdown nor an image')
  t.match(again.output, 'skipped: ".hidden/": its name begins with a dot')
  t.match(again, { code: 0, result: { documents: 4, knowledge_base_id: result.knowledge_base_id, failed: [] } })
})

t.test('a source that was imported before changes what it has changed, and makes nothing twice', async (t) => {
  const folder = join(t.testdir({ docs: {} }), 'docs')
  const write = (name: string, text: string | Buffer) => writeFile(join(folder, name), text)
  await write('a.md', '[b](b.md), [new](new.md) ![p](p.png)')
  await write('b.md', 'b')
  await write('c.md', 'c')
  await write('gone.md', 'gone')
  await write('p.png', samples.png)
  const ada = await home.signUp()
  const { result } = await runImport([folder], ada)
  t.match(result, { documents: 4, attachments: 1, updated: 0, unchanged: 0, leads_nowhere: [{ address: 'new.md' }] })
  const base = result.knowledge_base_id
  const documents = () => imported(ada, base)
  const markdownOf = async (title: string) => {
    const id = (await documents()).get(title)?.id
    return (await ada.get(`/documents/${id}/content?format=markdown`)).body.data.content
  }
  const first = await documents()
  const second = await runImport([folder], ada)
  t.match(second.output, /imported before, on 20/)
  t.match(second.result, { knowledge_base_id: base, documents: 4, attachments: 1, updated: 0, unchanged: 4 })

  await write('b.md', '---\ntags: [big]\n---\nB!')
  await write('c.md', 'C!')
  await write('new.md', 'new')
  await write('p.png', Buffer.concat([samples.png, Buffer.from('more')]))
  await rm(join(folder, 'gone.md'))
  await put(ada, first.get('c')?.id ?? '', [p('of Ada')])
  const third = await runImport([folder], ada)
  t.match(third.result, { documents: 5, attachments: 1, updated: 2, unchanged: 0, failed: [], leads_nowhere: [] })
  t.match(third.output, 'updated: "b.md"')
  const reasons = new Map(
    third.result.left_alone.map(({ name, reason }: { name: string; reason: string }) => [name, reason]),
  )
  t.match(Object.fromEntries(reasons), {
    'c.md': /changed or deleted in the service/,
    'gone.md': /no longer in the source/,
  })
  const after = await documents()
  for (const title of ['a', 'b', 'c', 'gone']) t.equal(after.get(title)?.id, first.get(title)?.id)
  t.same([await markdownOf('b'), after.get('b')?.tags, await markdownOf('c')], ['B!\n', ['big'], 'of Ada\n'])
  t.match(await markdownOf('a'), `[new](svc://doc/${after.get('new')?.id})`, 'a link that led nowhere')
  t.equal((await ada.get('/knowledge-bases')).body.data.length, 1)

  const again = await runImport([folder, '--again'], ada)
  t.match(again.result, { documents: 4, updated: 0, left_alone: [] })
  t.not(again.result.knowledge_base_id, base)
  const elsewhere = await runImport([folder], await abroad.signUp())
  t.match(elsewhere.result, { documents: 4, updated: 0 }, 'another service has none of it')
})

t.test('files that texts name come along, however they are named, and what leads nowhere is told', async (t) => {
  const cases: [string, (id: (name: string) => string) => string][] = [
    ['<img src="img/paw.png" width="50">', (id) => `<img src="${id('paw.png')}" width="50">`],
    ["x <img alt='' SRC=paw.png> y", (id) => `x <img alt='' SRC="${id('paw.png')}"> y`],
    ['see <a href="B.md">B</a>', (id) => `see <a href="${id('B')}">B</a>`],
    ['see <a href="sub/../B.md#sec-ond">B</a>', (id) => `see <a href="${id('B')}#block=${id('#')}">B</a>`],
    ['[x](B.md#sec-ond)', (id) => `[x](${id('B')}#block=${id('#')})`],
    ['[x](B#Sec%20ond "t")', (id) => `[x](${id('B')}#block=${id('#')} "t")`],
    ['[x](B.md#nowhere)', (id) => `[x](${id('B')})`],
    ['![](tail.png)', (id) => `![](${id('tail.png')})`],
    ['![](old/TAIL.png " =320x240")', (id) => `![](${id('tail.png')})`],
    ['[r](assets/r.pdf)', (id) => `[r](${id('r.pdf')})`],
    ['[![a](img/paw.png)](r.pdf)', (id) => `[![a](${id('paw.png')})](${id('r.pdf')})`],
    ['[deep](Deep.md), [x]\n\n[x]: Deep.md', (id) => `[deep](${id('Deep')}), [x](${id('Deep')})`],
    ['![](two.png) [x](#none) `![](img/paw.png)`', () => '![](two.png) [x](#none) `![](img/paw.png)`'],
    ['<!-- <img src="img/paw.png"> -->', () => '<!-- <img src="img/paw.png"> -->'],
    ['[x](none.pdf) [y](https://example.com/B.md)', () => '[x](none.pdf) [y](https://example.com/B.md)'],
  ]
  const root = t.testdir({ docs: { img: {}, assets: {}, sub: { 'Deep.md': 'deep' } } })
  const folder = join(root, 'docs')
  for (const name of ['img/paw.png', 'img/two.png', 'assets/tail.png', 'assets/two.png'])
    await writeFile(join(folder, name), samples.png)
  await writeFile(join(folder, 'assets/r.pdf'), '%PDF-1.7\n%%EOF\n')
  await writeFile(join(folder, 'B.md'), 'text\n\n# First\n\n## Sec *ond*\n\nmore\n')
  await writeFile(join(folder, 'A.md'), cases.map(([written]) => written).join('\n\n'))
  const ada = await home.signUp()
  const { code, result, output } = await runImport([folder], ada)
  t.match({ code, ...result }, { code: 0, documents: 3, attachments: 3, failed: [], changed: [] })
  const nowhere = ['two.png', 'none.pdf']
  t.same(
    result.leads_nowhere,
    nowhere.map((address) => ({ name: 'A.md', address })),
  )
  t.match(output, 'leads nowhere: "none.pdf" in "A.md"')
  const documents = await imported(ada, result.knowledge_base_id)
  const { manifest } = await exported(ada, result.knowledge_base_id)
  const [heading] = (await bodyOf(ada, documents.get('B')?.id ?? '')).blocks.filter(({ attrs }) => attrs['level'] === 2)
  const files = new Map<string, string>(
    manifest['attachments'].map(({ filename, id }: { filename: string; id: string }) => [filename, id]),
  )
  const id = (name: string) => {
    if (name === '#') return String(heading?.attrs.id)
    return files.has(name) ? `/api/v1/attachments/${files.get(name)}` : `svc://doc/${documents.get(name)?.id}`
  }
  const { content } = (await ada.get(`/documents/${documents.get('A')?.id}/content?format=markdown`)).body.data
  t.strictSame(
    content.trimEnd().split('\n\n'),
    cases.map(([, wanted]) => wanted(id)),
  )
})

t.test('an export whose texts name attachments by links and HTML names the new files', async (t) => {
  const ada = await home.signUp()
  const base = (await created(ada, '/knowledge-bases', { name: 'Files' })).id
  const made = await make(ada, [], { title: 'A', knowledge_base_id: base })
  const own = uploaded(ada, { documentId: made.id, bytes: samples.png })
  const [one, two] = [await own, await uploaded(ada, { documentId: made.id, bytes: samples.png, filename: 'b.png' })]
  const at = (id: string) => `/api/v1/attachments/${id}`
  const content = [
    `[the report](${at(one)})`,
    `[![a](${at(one)})](${at(two)})`,
    `<img src="${at(one)}"> and <a href='${at(two)}' title="x">b</a>`,
    `<p>\n<a href="svc://doc/${made.id}">me</a> <img alt="" src=${at(two)}>\n</p>`,
    `![a](${at(two)})`,
  ].join('\n\n')
  await ada.put(`/documents/${made.id}/content`, { format: 'markdown', content }, { 'if-match': '*' })
  const archive = join(t.testdir(), 'files.zip')
  await writeFile(archive, (await exported(ada, base)).bytes)
  for (const someone of [ada, await abroad.signUp()]) {
    const { result } = await runImport([archive, '--state', `${archive}.${someone.origin.slice(-5)}`], someone)
    const [copy] = (await imported(someone, result.knowledge_base_id)).values()
    const { manifest } = await exported(someone, result.knowledge_base_id)
    const ids = new Map<string, string>(
      manifest['attachments'].map(({ filename, id }: { filename: string; id: string }) => [filename, id]),
    )
    const names: Record<string, string> = {
      [one]: ids.get('a.png') ?? '',
      [two]: ids.get('b.png') ?? '',
      [made.id]: copy?.id ?? '',
    }
    const wanted = content.replace(/(att|doc)_[0-9A-Z]{26}/g, (id) => names[id] ?? '')
    const body = (await someone.get(`/documents/${copy?.id}/content?format=markdown`)).body.data
    const plain = (text: string) =>
      text
        .replaceAll("'", '"')
        .replace(/src=(\/[^>]*)/, 'src="$1"')
        .trimEnd()
    t.equal(plain(body.content), plain(wanted))
  }
})

t.test('the ids that Notion puts behind all names are no part of titles and folders', async (t) => {
  const id = (letter: string) => letter.repeat(32)
  const notion = {
    [`Projects ${id('a')}.md`]: `[Sub](Projects%20${id('a')}/Sub%20${id('b')}.md)`,
    [`Projects ${id('a')}/Sub ${id('b')}.md`]: 'sub',
    'Plain/Über 日本 0123456789abcdef0123456789abcdef.md': 'x',
  }
  const ada = await home.signUp()
  const archive = join(t.testdir(), 'notion.zip')
  await writeFile(archive, await zip(notion))
  const { result } = await runImport([archive], ada)
  t.strictSame(await treeOf(ada, result.knowledge_base_id), [
    'Plain/',
    'Plain/Über 日本',
    'Projects/',
    'Projects/Sub',
    'Projects',
  ])
  await writeFile(archive, await zip({ ...notion, 'Other.md': 'x' }))
  const mixed = await runImport([archive, '--again'], ada)
  t.ok((await treeOf(ada, mixed.result.knowledge_base_id)).includes(`Projects ${id('a')}`), 'one name without an id')
})

t.test('a damaged file of an archive is named, and hidden files are left out', async (t) => {
  const bytes = await zip({ 'good.md': 'good', 'bad.md': 'bad', '.secret.md': 'secret', 'img/.x/y.md': 'secret' })
  // The checksum of a file stands 16 bytes behind the start of its entry in the directory of the archive.
  const entry = bytes.indexOf('bad.md', bytes.indexOf(Buffer.from([0x50, 0x4b, 1, 2]))) - 46
  bytes.writeUInt32LE((bytes.readUInt32LE(entry + 16) ^ 1) >>> 0, entry + 16)
  const archive = join(t.testdir(), 'notes.zip')
  await writeFile(archive, bytes)
  const ada = await home.signUp()
  const { code, result } = await runImport([archive], ada)
  t.equal(code, 1)
  t.match(result, { documents: 1, failed: [{ name: 'bad.md' }], skipped: { hidden: 2 } })
})

t.test('front matter becomes tags and properties, and leaves again with the Markdown of an export', async (t) => {
  const front = [
    '# a comment',
    'title: Cows',
    'tags: [Milk, "1.0"]',
    'status: done',
    'size: 2.5',
    'links: ["[x](y.md)"]',
    'nested: {deep: [1, 2]}',
  ].join('\n')
  const files = {
    'cows.md': `---\n${front}\n---\n\n[next](y.md)\n`,
    'y.md': '---\ntags: one, milk\n---\ntext\n',
    'broken.md': '---\nstatus: [\n---\n\ntext\n',
  }
  const ada = await home.signUp()
  const { code, result } = await runImport([join(t.testdir({ docs: files }), 'docs')], ada)
  t.equal(code, 0)
  const first = await imported(ada, result.knowledge_base_id)
  const milk = first.get('Cows')?.tags[0] ?? ''
  t.match(milk, /^milk$/i, 'as the file spells it that was imported first')
  t.same(first.get('Cows')?.tags, [milk, '1.0'])
  t.same(first.get('Cows')?.properties, { status: 'done', size: 2.5, links: ['[x](y.md)'] })
  t.same(first.get('y')?.tags, ['one', milk], 'in the spelling of the knowledge base')
  t.same([first.get('broken')?.tags, first.get('broken')?.properties], [[], {}])
  const plain = (id = '') => ada.get(`/documents/${id}/content?format=markdown`)
  const { content } = (await plain(first.get('Cows')?.id)).body.data
  t.match(content, '---\n# a comment\ntitle: Cows\nnested: {deep: [1, 2]}\n---\n')
  t.match(content, `[next](svc://doc/${first.get('y')?.id})`)
  t.equal(
    (await plain(first.get('y')?.id)).body.data.content,
    'text\n',
    'nothing is left of front matter that became tags',
  )
  t.match((await plain(first.get('broken')?.id)).body.data.content, '---\nstatus: [\n---\n')

  const archive = await exported(ada, result.knowledge_base_id)
  const markdown = [...archive.files].filter(([name]) => name.endsWith('.md'))
  const folder = t.testdir(Object.fromEntries(markdown.map(([name, bytes]) => [name.split('/').at(-1) ?? '', bytes])))
  const again = await runImport([folder], ada)
  const second = await imported(ada, again.result.knowledge_base_id)
  const labels = (documents: typeof first) =>
    [...documents.values()].map(({ tags, properties }) => ({ tags, properties }))
  t.same(labels(second), labels(first))
})

type Imported = { id: string; title: string; tags: string[]; properties: object }

// The documents of a knowledge base by title, in the order of their titles.
async function imported(client: Client, base: number): Promise<Map<string, Imported>> {
  const documents: Imported[] = (await client.get(`/documents?knowledge_base_id=${base}`)).body.data
  documents.sort((a, b) => (a.title < b.title ? -1 : 1))
  return new Map(documents.map((document) => [document.title, document]))
}

t.test('a file that cannot be read does not keep the others from being imported', async (t) => {
  const folder = t.testdir({ 'here.md': 'here', 'gone.md': 'gone' })
  const source = await openFolder(folder)
  await rm(join(folder, 'gone.md'))
  await t.rejects(source.read('gone.md', 1000), new SourceError('gone.md cannot be read (ENOENT)'))
  t.equal((await source.read('here.md', 1000)).toString(), 'here')
  await t.rejects(openFolder(join(folder, 'nowhere')), new SourceError('the folder cannot be read (ENOENT)'))

  // root, who may run this test, can read every file.
  const forbidden = t.testdir({ 'here.md': 'here', 'secret.md': 'secret' })
  await chmod(join(forbidden, 'secret.md'), 0)
  const { code, result } = await runImport([forbidden], await home.signUp())
  const isRoot = process.getuid?.() === 0
  t.equal(code, isRoot ? 0 : 1)
  t.match(result, { documents: isRoot ? 2 : 1, failed: isRoot ? [] : [{ name: 'secret.md', reason: /EACCES/ }] })
})

t.test('an import that is killed at the worst moment goes on and makes everything once', onlyLong, async (t) => {
  const folder = t.testdir(Object.fromEntries(letters.map((name) => [`${name}.md`, `[next](${next(name)}.md)`])))
  const ada = await home.signUp()
  let victim: ServiceProcess | undefined
  let documents = 0
  // The service has made the tenth document when the importer dies, so the importer never hears of it.
  let isDying = false
  const proxy = await startProxy(t, home.origin, (incoming) => {
    if (isDying) return 'drop'
    if (incoming.method !== 'POST' || incoming.url !== '/api/v1/documents') return 'pass'
    documents += 1
    if (documents !== 10) return 'pass'
    isDying = true
    victim?.signal('SIGKILL')
    return 'swallow'
  })
  const args = [folder, '--url', proxy, '--state', join(folder, 'state')]
  victim = startImport(args, ada)
  t.equal(await victim.ended, null, 'killed')
  isDying = false

  const { code, result, output } = await runImport(args, ada)
  t.equal(code, 0)
  t.match(output, 'going on with an import')
  t.match(result, { documents: letters.length, failed: [] })
  const { manifest } = await exported(ada, result.knowledge_base_id)
  const titles = manifest['documents'].map(({ title }: Named) => title)
  t.strictSame(titles.sort(), letters)
  t.equal((await ada.get('/knowledge-bases')).body.data.length, 1)
  const ids = new Map<string, string>(manifest['documents'].map(({ id, title }: Named) => [title, id]))
  for (const letter of letters) {
    const { blocks } = await bodyOf(ada, ids.get(letter) ?? '')
    t.match(JSON.stringify(blocks), `svc://doc/${ids.get(next(letter))}`)
  }
})

t.test('an import waits when it is told to and tries again when the way breaks', onlyLong, async (t) => {
  const folder = t.testdir(Object.fromEntries(letters.map((name) => [`${name}.md`, `text of ${name}`])))
  const ada = await home.signUp()
  let calls = 0
  const proxy = await startProxy(t, home.origin, () => {
    calls += 1
    return calls % 5 === 0 ? 'limit' : calls % 7 === 0 ? 'drop' : calls % 11 === 0 ? 'swallow' : 'pass'
  })
  const { code, result } = await runImport([folder, '--url', proxy, '--state', join(folder, 'state')], ada)
  t.equal(code, 0)
  t.match(result, { documents: letters.length, failed: [] })
  t.equal((await exported(ada, result.knowledge_base_id)).manifest['documents'].length, letters.length)
})

t.test('an archive that is out to do harm is refused before anything is written', async (t) => {
  const ada = await home.signUp()
  const folder = t.testdir()
  const refusals: [string, Buffer, RegExp][] = [
    ['traversal', await renamedZip('xx/x.md', '../x.md'), /invalid relative path/],
    ['absolute', await renamedZip('xx/x.md', '/xx/x.m'), /absolute path/],
    ['drive', await renamedZip('xx/x.md', 'C:/xx.m'), /absolute path/],
    ['backslash', await renamedZip('xx/x.md', '..\\x.md'), /invalid characters/],
    ['twice', await renamedZip('xx/x.md', 'yy/y.md'), /has yy\/y\.md twice/],
    ['symlink', await symlinkZip(), /symbolic link/],
    ['no zip', Buffer.from('PK but no zip'), /cannot be read/],
    ['cut', (await zip({ 'a.md': 'x', 'b.md': 'y' })).subarray(0, 60), /cannot be read/],
    ['empty', await zip({ 'a.txt': 'x' }), /no Markdown/],
    ['other manifest', await zip({ 'manifest.json': '{"format":"x"}' }), /not that of an export/],
  ]
  for (const [name, bytes, reason] of refusals) {
    const path = join(folder, `${name}.zip`)
    await writeFile(path, bytes)
    const plan = openZip(path).then((source) => planOf(source).finally(source.close))
    await t.rejects(plan, { constructor: SourceError, message: reason }, name)
  }
  const bomb = join(folder, 'bomb.zip')
  await writeFile(bomb, await zip({ 'a.md': 'x'.repeat(10_000), 'b.md': 'y' }))
  await t.rejects(openZip(bomb, { files: 1, bytes: 1e9 }), /more than 1 files/)
  await t.rejects(openZip(bomb, { files: 9, bytes: 1e4 }), /unpacks to more than/)
  const source = await openZip(bomb)
  await t.rejects(source.read('a.md', 9999), /more than 9999 bytes/)
  await source.close()

  const { code, output } = await runImport([join(folder, 'traversal.zip')], ada)
  t.equal(code, 1)
  t.match(output, 'invalid relative path')
  t.notMatch(output, /^ +at /m, 'without a stack')
  t.strictSame((await ada.get('/knowledge-bases')).body.data, [])
})

t.test('an import that may not write, or is aimed wrong, says so at once', async (t) => {
  const folder = join(t.testdir({ docs: { 'a.md': 'x' } }), 'docs')
  const reader = await home.signUp({ scopes: 'read_only' })
  const state = `${folder}.state`
  t.match(await runImport([folder, '--state', state], reader), { code: 1, output: /403 insufficient_scope/ })
  t.notOk(existsSync(state), 'nothing was made, so nothing is left behind')
  const ada = await home.signUp()
  const elsewhere = [folder, '--state', state, '--knowledge-base', '99999']
  t.match(await runImport(elsewhere, ada), { code: 1, output: /knowledge_base_not_found/ })
  t.notOk(existsSync(state))
  const stranger = { origin: ada.origin, bearer: 'svc_tok_none' }
  t.match(await runImport([folder, '--state', state], stranger), { code: 1, output: /401/ })
  t.notOk(existsSync(state))
})

t.test('the token of the owner is not sent to another machine', async (t) => {
  const directory = t.testdir({ docs: { 'a.md': 'x' }, data: { 'bootstrap.json': JSON.stringify({ token: 'svc_t' }) } })
  const words = [join(directory, 'docs'), '--url', 'https://documents.example']
  const { code, output } = await runImport(
    words,
    { origin: '', bearer: '' },
    { DATA_DIR: join(directory, 'data'), TOKEN: '' },
  )
  t.equal(code, 2)
  t.match(output, 'a token for https://documents.example is needed')
})

t.test('the state of another import is not mistaken for this one, and the difference is named', async (t) => {
  const folder = join(t.testdir({ docs: { 'a.md': 'x', 'b.md': Buffer.from([0xff]) } }), 'docs')
  const state = `${folder}.state`
  const ada = await home.signUp()
  t.match(await runImport([folder, '--state', state], ada), { code: 1, result: { documents: 1, failed: [{}] } })
  const { code, output } = await runImport([folder, '--state', state, '--knowledge-base', '12'], ada)
  t.equal(code, 1)
  t.match(output, /is the state of another import, into a knowledge base of its own: remove that file/)
})

t.test('a command line that makes no sense exits with 2 and shows what would', async (t) => {
  const ada = await home.signUp()
  for (const words of [
    [],
    ['a', 'b'],
    ['.', '--nonsense'],
    ['.', '--knowledge-base', 'x'],
    ['.', '--url', 'ftp://x'],
  ]) {
    t.match(await runImport(words, ada), { code: 2, output: /usage: npm run --silent import/ }, words.join(' '))
  }
})

type Named = { id: string; title: string }

/** A knowledge base with folders, links between documents and to a block, and an image. */
async function library(client: Client): Promise<{ base: number; documents: string[] }> {
  const base = (await created(client, '/knowledge-bases', { name: 'Library' })).id
  const outer = (await created(client, '/folders', { name: 'Outer', knowledge_base_id: base })).id
  const inner = (await created(client, '/folders', { name: 'Inner', parent_id: outer })).id
  const target = await make(client, [h(1, 'Target'), p('text')], {
    title: 'Target',
    knowledge_base_id: base,
    folder_id: inner,
    heading_numbered: true,
    background_color: 'red',
    tags: ['Tag', 'other'],
    properties: { status: 'done', size: 2.5, flag: true, list: ['a', 'b'] },
  })
  const links = await make(client, [], { title: 'Links', knowledge_base_id: base, folder_id: outer })
  const picture = await uploaded(client, { documentId: links.id, bytes: samples.png, filename: 'a.png' })
  const to = (href: string): BodyNode => text('link', { type: 'link', attrs: { href } })
  const block = target.blocks[0]?.attrs.id
  const body = [
    p(to(`svc://doc/${target.id}#block=${block}`), to('svc://doc/doc_elsewhere'), to('https://example.com')),
    node('image', { attachmentId: picture, alt: 'A' }),
  ]
  const reply = await put(client, links.id, body)
  if (reply.status !== 200) throw new Error(reply.text)
  const table = await make(client, [p('plain')], {
    title: 'Plain',
    document_type: 'spreadsheet',
    knowledge_base_id: base,
  })
  return { base, documents: [target.id, links.id, table.id] }
}

/** The members of a document that do not depend on the place and time of its import. */
function lasting(document: Record<string, unknown>): object {
  const { id, title, document_type, heading_numbered, background_color, collapsed_block_ids, json_path } = document
  const { markdown_path, character_count, tags, properties } = document
  const own = { id, title, document_type, heading_numbered, background_color, collapsed_block_ids, json_path }
  return { ...own, markdown_path, character_count, tags, properties }
}

/** The paths of everything in a knowledge base, folders with a slash. */
async function treeOf(client: Client, id: number): Promise<string[]> {
  type Node = { type: string; name: string; title: string; children?: Node[] }
  const walk = (nodes: Node[], above: string): string[] =>
    nodes.flatMap(({ type, name, title, children = [] }) =>
      type === 'folder' ? [`${above}${name}/`, ...walk(children, `${above}${name}/`)] : [`${above}${title}`],
    )
  return walk((await client.get(`/knowledge-bases/${id}/tree`)).body.data.children, '')
}

type Importer = Pick<Client, 'origin' | 'bearer'>

function startImport(args: string[], client: Importer, settings: Settings = {}): ServiceProcess {
  const env = { ORIGIN: client.origin, TOKEN: client.bearer ?? '', ...settings }
  return startProcess('shared/import/import-command.ts', { words: args, env })
}

async function runImport(args: string[], client: Importer, settings: Settings = {}) {
  const running = startImport(args, client, settings)
  const code = await running.ended
  const result = /^\{.*\}$/m.exec(running.output())?.[0]
  return { code, output: running.output(), result: result === undefined ? {} : JSON.parse(result) }
}

type Fate = 'pass' | 'limit' | 'drop' | 'swallow'

/** Starts a proxy to a service that fails as told: it answers 429, drops a call, or drops an answer. */
async function startProxy(t: Test, origin: string, fate: (incoming: IncomingMessage) => Fate): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const decided = fate(incoming)
    if (decided === 'limit') outgoing.writeHead(429, { 'retry-after': '0' }).end()
    else if (decided === 'drop') incoming.socket.destroy()
    else forward({ origin, incoming, outgoing, swallow: decided === 'swallow' })
  })
  server.listen(0)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function forward(way: { origin: string; incoming: IncomingMessage; outgoing: ServerResponse; swallow: boolean }): void {
  const { incoming, outgoing } = way
  const { method, headers, url } = incoming
  const onward = request(way.origin + url, { method, headers }, (answer) => {
    if (way.swallow) answer.resume().once('end', () => incoming.socket.destroy())
    else answer.pipe(outgoing.writeHead(answer.statusCode ?? 500, answer.headers))
  })
  onward.on('error', () => incoming.socket.destroy())
  incoming.on('error', () => {})
  incoming.pipe(onward)
}

/** A zip in which a name is replaced by another name of the same length, as no honest program would write it. */
async function renamedZip(name: string, other: string): Promise<Buffer> {
  const bytes = await zip({ 'yy/y.md': 'y', [name]: 'x' })
  return Buffer.from(bytes.toString('latin1').replaceAll(name, other), 'latin1')
}

async function symlinkZip(): Promise<Buffer> {
  const bytes = await zip({ 'a.md': '/etc/passwd' })
  const record = bytes.indexOf('PK\x01\x02', 0, 'latin1')
  bytes.writeUInt32LE((0o120777 << 16) >>> 0, record + 38)
  return bytes
}

// biome-ignore lint/suspicious/noExplicitAny: records of every shape
async function created(client: Client, path: string, body: object): Promise<any> {
  const reply = await client.post(path, body)
  if (reply.status !== 201) throw new Error(`POST ${path} answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}
