import type { Client } from '../../support/client.ts'
import { sharedService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { Crash, crashing } from './crashes.ts'
import { Machine } from './machine.ts'

const service = await sharedService()

async function newBase() {
  const ada = await service.signUp()
  const base: number = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  return { ada, base, machine: () => new Machine(t, ada, { base }) }
}

async function documents(client: Client, base: number) {
  const { data } = (await client.get(`/documents?knowledge_base_id=${base}&limit=100`)).body
  return (data as { id: string; title: string; folder_id: number | null; tags: string[] }[]).sort((a, b) =>
    a.title < b.title ? -1 : 1,
  )
}

async function markdown(client: Client, id: string): Promise<string> {
  const { body } = await client.get(`/documents/${id}/content?format=markdown`)
  return body.data.content
}

async function make(client: Client, base: number, input: object): Promise<string> {
  const { status, body } = await client.post('/documents', { knowledge_base_id: base, ...input })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.data.id
}

async function put(client: Client, id: string, edit: (text: string) => string) {
  const { body } = await client.get(`/documents/${id}/content?format=markdown&annotate=anchors`)
  const content = { format: 'markdown', content: edit(body.data.content) }
  const reply = await client.put(`/documents/${id}/content`, content, { 'if-match': `"${body.data.version}"` })
  if (reply.status !== 200 || reply.body.data.version === body.data.version) throw new Error(reply.text)
}

const text = (content: string) => ({ format: 'markdown', content })

t.test(
  'a new document that is renamed after its sync was killed is no conflict, and its file gets the name',
  async (t) => {
    for (let steps = 2; steps < 16; steps += 1) {
      const { ada, base, machine } = await newBase()
      const one = machine()
      one.write('Owls.md', 'They see.\n')
      await crashing(steps, (signal) => one.sync({ signal })).catch((error) => {
        if (!(error instanceof Crash)) throw error
      })
      const [made] = await documents(ada, base)
      await ada.patch(`/documents/${made?.id ?? ''}`, { title: 'Birds' })
      t.match(await one.sync(), { conflicts: [], failed: [] })
      t.strictSame([one.files(), one.copies()], [[made ? 'Birds.md' : 'Owls.md'], []], `killed at step ${steps}`)
    }
  },
)

t.test('a file keeps its line ends when it is written again', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  const hasReturns = (path: string) => !/(?<!\r)\n/.test(one.read(path))
  one.write('Owls.md', 'First.\r\n\r\nSecond.\r\n\r\n```\r\ncode\r\n```\r\n')
  one.write('Mixed.md', 'One.\r\n\nTwo.\n')
  await one.sync()
  t.ok(hasReturns('Owls.md'), one.read('Owls.md'))
  t.equal(one.read('Mixed.md'), 'One.\r\n\nTwo.\n', 'a file of a person stays as it is')
  t.strictSame((await one.sync()).actions, [])
  const owls = (await documents(ada, base)).find(({ title }) => title === 'Owls')?.id ?? ''
  t.equal(await markdown(ada, owls), 'First.\n\nSecond.\n\n```\ncode\n```\n')
  await put(ada, owls, (text) => text.replace('First', 'Changed first'))
  one.edit('Owls.md', 'Second', 'My second')
  t.match(await one.sync(), { conflicts: [] })
  t.ok(hasReturns('Owls.md'), one.read('Owls.md'))
  t.match(one.read('Owls.md'), /Changed first.*My second/s)
  await put(ada, owls, (text) => text.replace('My second', 'Theirs'))
  one.edit('Owls.md', 'My second', 'Mine')
  await one.sync()
  t.match(one.copies(), { length: 1 })
  t.ok([...one.files(), ...one.copies()].filter((path) => path !== 'Mixed.md').every(hasReturns), 'also in a copy')
})

t.test('a file that comes back brings its document back from the trash, with its id and its history', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  one.write('Birds/Owls.md', 'They see.\n')
  await make(ada, base, { title: 'Bees', content: text('They fly.') })
  await one.sync()
  const [owls, bees] = [one.read('Birds/Owls.md'), one.read('Bees.md')]
  const ids = async () => {
    const { data } = (await ada.get(`/documents?knowledge_base_id=${base}`)).body
    return Object.fromEntries(data.map(({ id, title }: { id: string; title: string }) => [title, id]))
  }
  const before = await ids()
  one.remove('Birds')
  one.remove('Bees.md')
  await one.sync()
  t.strictSame(await ids(), {})
  one.write('Birds/Owls.md', owls)
  one.write('Sub/Wasps.md', bees.replace('fly', 'sting'))
  t.match(await one.sync(), { actions: { length: 3 }, failed: [], conflicts: [] })
  t.strictSame(await ids(), { Owls: before.Owls, Wasps: before.Bees }, 'also under another name')
  t.equal(one.read('Birds/Owls.md'), owls)
  const { data } = (await ada.get(`/documents/${before.Bees}/content?format=markdown`)).body
  t.match(data.content, 'They sting.', 'what was changed meanwhile is in the document')
  t.strictSame((await one.sync()).actions, [])
  t.strictSame((await ada.get(`/trash?knowledge_base_id=${base}`)).body.data, [])
  // Whoever deletes the document for good leaves only a new document.
  one.remove('Birds/Owls.md')
  await one.sync()
  const [entry] = (await ada.get(`/trash?knowledge_base_id=${base}`)).body.data
  await ada.delete(`/trash/${entry.id}`)
  one.write('Birds/Owls.md', owls)
  t.match(await one.sync(), { failed: [], conflicts: [] })
  const { Owls: fresh } = await ids()
  t.ok(fresh)
  t.not(fresh, before.Owls)
  // Somebody else deletes the document, and the file is taken from a backup.
  await ada.delete(`/documents/${fresh}`)
  const kept = one.read('Birds/Owls.md')
  await one.sync()
  t.strictSame(one.files(), ['Sub/Wasps.md'])
  one.write('Birds/Owls.md', kept)
  await one.sync()
  t.equal((await ids()).Owls, fresh)
})

t.test('new files become documents in the same folders, and new documents become files', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  one.write('Elephants.md', '# Water\n\nA hundred litres.\n')
  one.write('Birds/Owls.md', '---\ntags: [night]\nweight: 3\nnested: {a: 1}\n---\nThey see.\n')
  one.write('notes.txt', 'left alone')
  await make(ada, base, { title: 'Whales: a/b', content: text('They sing.'), tags: ['sea'] })
  const report = await one.sync()
  t.match(report, { conflicts: [], failed: [], actions: { length: 3 } })

  t.strictSame(
    (await documents(ada, base)).map(({ title, tags }) => [title, tags]),
    [
      ['Elephants', []],
      ['Owls', ['night']],
      ['Whales: a/b', ['sea']],
    ],
  )
  t.strictSame(one.files(), ['Birds/Owls.md', 'Elephants.md', 'Whales_ a_b.md', 'notes.txt'])
  t.match(
    one.read('Whales_ a_b.md'),
    /^---\ndocument_id: doc_\w+\ntitle: "?Whales: a\/b"?\ntags:\n {2}- sea\n---\n\n<!-- block=/,
  )
  t.match(one.read('Birds/Owls.md'), '---\ntags: [night]\nweight: 3\nnested: {a: 1}\n---\nThey see.\n')
  t.equal(one.read('Elephants.md'), '# Water\n\nA hundred litres.\n', 'the file of a person stays as it is')
  t.strictSame((await one.sync()).actions, [], 'then nothing is left to do')

  const two = machine()
  await two.sync()
  t.strictSame(
    two.files(),
    one.files().filter((path) => path.endsWith('.md')),
  )
  t.match(
    two.read('Birds/Owls.md'),
    /^---\ndocument_id: doc_\w+\nnested: \{a: 1\}\ntags:\n {2}- night\nweight: 3\n---\n/,
  )
  t.match(two.read('Elephants.md'), /<!-- block=block_\w+ water -->\n# Water\n/)
})

t.test('changes of different blocks meet in the middle', async (t) => {
  const { ada, base, machine } = await newBase()
  const id = await make(ada, base, { title: 'Zoo', content: text('Ants\n\nBees\n\nCows') })
  const one = machine()
  await one.sync()
  one.edit('Zoo.md', 'Ants', 'Ants walk\n\nApes')
  await put(ada, id, (text) => text.replace('Cows', 'Cows eat\n\nDogs'))
  const { conflicts, actions } = await one.sync()
  t.strictSame(conflicts, [])
  t.match(actions, [{ action: 'merge', path: 'Zoo.md' }])
  t.equal(await markdown(ada, id), 'Ants walk\n\nApes\n\nBees\n\nCows eat\n\nDogs\n')
  t.equal(
    one
      .read('Zoo.md')
      .replace(/^(<!--|---|document).*\n/gm, '')
      .trim(),
    'Ants walk\n\nApes\n\nBees\n\nCows eat\n\nDogs',
  )
  t.strictSame((await one.sync()).actions, [])
})

t.test(
  'of a block that both have changed the file gets the version of the service and a copy keeps the other',
  async (t) => {
    const { ada, base, machine } = await newBase()
    const id = await make(ada, base, { title: 'Zoo', content: text('Ants\n\nBees') })
    const one = machine()
    await one.sync()
    one.edit('Zoo.md', 'Bees', 'Bees sing')
    one.edit('Zoo.md', 'Ants', 'Ants walk')
    await put(ada, id, (text) => text.replace('Bees', 'Bees fly'))
    const { conflicts } = await one.sync()
    t.match(conflicts, [
      { path: 'Zoo.md', copy: /^Zoo\.conflict-[0-9a-f]{8}\.md$/, document_id: id, blocks: { length: 1 } },
    ])
    t.equal(await markdown(ada, id), 'Ants walk\n\nBees fly\n')
    const [copy = ''] = one.copies()
    t.match(one.read(copy), /Ants walk\n\n.*\nBees sing/)
    t.strictSame((await one.sync()).conflicts, [], 'a conflict is reported once')
    t.equal((await documents(ada, base)).length, 1, 'the copy is no document')

    one.remove('Zoo.md')
    one.move(copy, 'Zoo.md')
    await one.sync()
    t.equal(await markdown(ada, id), 'Ants walk\n\nBees sing\n', 'the copy in place of the file is the own version')
  },
)

t.test('titles, moves, tags and properties are followed on both sides', async (t) => {
  const { ada, base, machine } = await newBase()
  const folder = (await ada.post('/folders', { name: 'Mammals', knowledge_base_id: base })).body.data.id
  const id = await make(ada, base, { title: 'Zoo', content: text('Ants'), tags: ['a', 'b'], properties: { x: 1 } })
  const one = machine()
  await one.sync()
  await ada.patch(`/documents/${id}`, { title: 'Big zoo', folder_id: folder, tags: ['a', 'b', 'c'] })
  one.edit('Zoo.md', '  - a\n  - b\nx: 1', '  - b\n  - d\nx: 2\ny: new')
  await one.sync()
  t.strictSame(one.files(), ['Mammals/Big zoo.md'])
  t.match((await ada.get(`/documents/${id}`)).body.data, { tags: ['b', 'c', 'd'], properties: { x: 2, y: 'new' } })
  t.match(one.read('Mammals/Big zoo.md'), 'tags:\n  - b\n  - c\n  - d\nx: 2\ny: new\n')

  one.move('Mammals/Big zoo.md', 'Insects/Small zoo.md')
  await one.sync()
  const { data } = (await ada.get(`/documents/${id}/path`)).body
  t.match(data.path_text, /\/ Insects \/ Small zoo$/)
  await ada.patch(`/folders/${folder}`, { name: 'Beasts' })
  await ada.patch(`/documents/${id}`, { folder_id: folder })
  await one.sync()
  t.strictSame(one.files(), ['Beasts/Small zoo.md'])
})

t.test('a renamed directory renames the folder, and a renamed folder the directory', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  for (const name of ['A', 'B', 'sub/C']) one.write(`Birds/${name}.md`, name)
  await one.sync()
  const folderOf = async (title: string) =>
    (await documents(ada, base)).find((document) => document.title === title)?.folder_id
  const [birds, sub] = [await folderOf('A'), await folderOf('C')]
  one.move('Birds', 'Big birds')
  await one.sync()
  t.equal((await ada.get(`/folders/${birds}`)).body.data.name, 'Big birds')
  t.strictSame([await folderOf('A'), await folderOf('C')], [birds, sub])
  await ada.patch(`/folders/${birds}`, { name: 'Small birds' })
  await one.sync()
  t.strictSame(one.files(), ['Small birds/A.md', 'Small birds/B.md', 'Small birds/sub/C.md'])
  t.strictSame((await one.sync()).actions, [])
})

t.test('deletions are followed, but never undo the change of the other side', async (t) => {
  const { ada, base, machine } = await newBase()
  const ids = new Map<string, string>()
  for (const title of ['A', 'B', 'C', 'D']) ids.set(title, await make(ada, base, { title, content: text(title) }))
  const one = machine()
  await one.sync()
  one.remove('A.md')
  one.remove('B.md')
  await put(ada, ids.get('B') ?? '', (text) => text.replace('\nB', '\nB two'))
  await ada.delete(`/documents/${ids.get('C')}`)
  await ada.delete(`/documents/${ids.get('D')}`)
  one.edit('D.md', '\nD', '\nD two')
  await one.sync()
  t.strictSame(one.files(), ['B.md', 'D.md'])
  t.match(one.read('B.md'), 'B two')
  t.strictSame(
    (await documents(ada, base)).map(({ title }) => title),
    ['B', 'D'],
  )
  t.equal((await ada.get('/trash')).body.data.length, 3, 'the document of a deleted file is in the trash')
})

t.test('more than a tenth is deleted only with permission', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  for (let n = 0; n < 20; n += 1) one.write(`${n}.md`, `Text ${n}`)
  await one.sync()
  one.remove('0.md')
  one.remove('1.md')
  t.match(await one.sync({ mayDelete: false }), { actions: { length: 2 }, withheld: [] })
  for (const n of [2, 3]) one.remove(`${n}.md`)
  one.edit('4.md', 'Text 4', 'Text four')
  const report = await one.sync({ mayDelete: false })
  t.match(report, { actions: { length: 1 }, withheld: { length: 2 } })
  t.equal((await documents(ada, base)).length, 18)
  await one.sync({ mayDelete: true })
  t.equal((await documents(ada, base)).length, 16)
})

t.test('a folder that empties little by little is no permission either', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  for (let n = 0; n < 20; n += 1) one.write(`${n}.md`, `Text ${n}`)
  await one.sync()
  const session = one.session({ mayDelete: false })
  for (const n of [0, 1, 2, 3]) {
    one.remove(`${n}.md`)
    await session.round()
  }
  t.equal((await documents(ada, base)).length, 18, 'a tenth in all rounds together')
})

t.test('what somebody changes after the documents were listed is no loss for them', async (t) => {
  const { ada, base } = await newBase()
  const id = await make(ada, base, { title: 'Zoo', content: text('Ants') })
  let meanwhile = async () => {}
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init)
    if (String(input instanceof Request ? input.url : input).includes('/documents?')) await meanwhile()
    return response
  }
  const one = new Machine(t, ada, { base, fetch })
  await one.sync()
  one.edit('Zoo.md', '\n---', '\ntags: [here]\n---')
  meanwhile = async () => {
    meanwhile = async () => {}
    await ada.patch(`/documents/${id}`, { tags: ['there'], title: 'Big zoo' })
  }
  await one.sync()
  t.match((await ada.get(`/documents/${id}`)).body.data, { title: 'Big zoo', tags: ['there', 'here'] })
})

t.test('a file copied with its id becomes a document of its own', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  await make(ada, base, { title: 'A', content: text('Text') })
  await one.sync()
  one.write('B.md', one.read('A.md'))
  await one.sync()
  t.strictSame(
    (await documents(ada, base)).map(({ title }) => title),
    ['A', 'B'],
  )
  t.not(one.read('A.md'), one.read('B.md'))
  t.strictSame((await one.sync()).actions, [])
})

t.test('a folder that was imported or lost its state meets its documents again', async (t) => {
  const { ada, base, machine } = await newBase()
  const one = machine()
  await make(ada, base, { title: 'Same', content: text('* one\n* two') })
  await make(ada, base, { title: 'Other', content: text('there') })
  one.write('Same.md', '* one\n* two\n')
  one.write('Other.md', 'here')
  const { conflicts } = await one.sync()
  t.match(conflicts, [{ path: 'Other.md' }])
  t.equal((await documents(ada, base)).length, 2)
  one.remove('.knowledge-base')
  one.edit('Same.md', 'two', 'two and a half')
  await one.sync()
  t.equal((await documents(ada, base)).length, 2, 'found by their ids')
})

t.test('files that were never synced move and rename nothing in the service', async (t) => {
  const { ada, base, machine } = await newBase()
  const folder = (await ada.post('/folders', { name: 'Birds', knowledge_base_id: base })).body.data.id
  await make(ada, base, { title: 'Owls: day/night', folder_id: folder, content: text('They see.') })
  await make(ada, base, { title: 'Whales', content: text('They sing.') })
  const before = (await documents(ada, base)).map(({ title, folder_id }) => ({ title, folder_id }))
  const [one, two] = [machine(), machine()]
  await one.sync()
  // An export has its files in a folder of their own, and a clone of a repository lacks the state of the sync.
  for (const path of one.files()) two.write(`markdown/${path}`, one.read(path).replace(/^title: .*\n/m, ''))
  t.match(await two.sync(), { conflicts: [], failed: [] })
  t.strictSame(
    (await documents(ada, base)).map(({ title, folder_id }) => ({ title, folder_id })),
    before,
  )
  const { data } = (await ada.get(`/knowledge-bases/${base}/tree`)).body
  t.equal(data.children.filter(({ type }: { type: string }) => type === 'folder').length, 1)
  t.strictSame(two.files(), one.files())
})

t.test('an imported folder finds its documents, whatever its directories are called', async (t) => {
  const { ada, base, machine } = await newBase()
  for (const name of ['What?', 'Über: a']) {
    const folder = (await ada.post('/folders', { name, knowledge_base_id: base })).body.data.id
    await make(ada, base, { title: `In ${name}`, folder_id: folder, content: text('Text.') })
  }
  const one = machine()
  one.write('What?/In What?.md', 'Text.\n')
  one.write(`${'Über: a'.normalize('NFD')}/In Über: a.md`, 'Text.\n')
  t.match(await one.sync(), { conflicts: [], failed: [] })
  t.equal((await documents(ada, base)).length, 2)
  t.equal(one.files().length, 2)
  const { data } = (await ada.get(`/knowledge-bases/${base}/tree`)).body
  t.equal(data.children.filter(({ type }: { type: string }) => type === 'folder').length, 2)
})

t.test('a paragraph that was copied with its anchor becomes a paragraph of its own', async (t) => {
  const { ada, base, machine } = await newBase()
  const id = await make(ada, base, { title: 'Zoo', content: text('Ants\n\nBees') })
  const one = machine()
  await one.sync()
  const [copied = ''] = /<!-- block=.*-->\nAnts\n/.exec(one.read('Zoo.md')) ?? []
  one.write('Zoo.md', `${one.read('Zoo.md')}${copied.replace('Ants', 'Apes')}`)
  t.match(await one.sync(), { failed: [], conflicts: [] })
  t.equal(await markdown(ada, id), 'Ants\n\nBees\n\nApes\n')
})
