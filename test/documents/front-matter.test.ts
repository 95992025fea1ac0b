import fc from 'fast-check'
import { parse } from 'yaml'
import { mergedFrontMatter, readFrontMatter } from '../../shared/documents/front-matter.ts'
import type { Properties } from '../../shared/documents/metadata.ts'
import { p } from '../document/build.ts'
import { anyCharacter } from '../support/any-character.ts'
import type { Client } from '../support/client.ts'
import { make, refused } from '../support/documents.ts'
import { onlyLong } from '../support/run-options.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp } = await sharedService()

t.test('a reading as Markdown has tags and properties in its front matter when it is asked for', async (t) => {
  const ada = await signUp()
  const metadata = {
    tags: ['Water', '1.10', 'a: b #'],
    properties: { n: 2.5, text: '1.10', yes: true, list: ['x', '007'], tags: 'hidden', title: 'hidden', empty: [] },
  }
  const { id } = await make(ada, [p('text')], metadata)
  const reply = await read(ada, id)
  t.equal(reply.headers.get('etag'), null, 'the version of the body is no version of its metadata')
  const { yaml, rest } = parted(reply.body.data.content)
  const { tags: _tags, title: _title, ...shown } = metadata.properties
  t.same(parse(yaml), { tags: metadata.tags, ...shown })
  t.equal(rest, '\ntext\n')
  t.match(reply.body.data.version, /^sha256:/)
  t.equal((await ada.get(`/documents/${id}/content?format=markdown`)).body.data.content, 'text\n')
  const json = await ada.get(`/documents/${id}/content?front_matter=true`)
  t.equal(json.headers.get('etag'), `"${reply.body.data.version}"`, 'other formats are as they are')
  await ada.patch(`/documents/${id}`, { tags: [], properties: {} })
  t.equal((await read(ada, id)).body.data.content, 'text\n', 'a document without both has no front matter')
  refused(t, await read(await signUp(), id), { status: 404, code: 'document_not_found' })
})

t.test('front matter of the body and tags and properties become one, and the document wins', async (t) => {
  const ada = await signUp()
  const markdown = '---\n# kept\ntitle: A\ntags: [old]\nowner: Bob\nnested: {a: [1, 2]}\n---\n\ntext\n'
  const id = await written(ada, markdown, { tags: ['new'], properties: { owner: 'Ada', size: 3 } })
  const { yaml, rest } = parted((await read(ada, id)).body.data.content)
  t.match(yaml, /^# kept\n/)
  t.same(parse(yaml), { title: 'A', tags: ['new'], owner: 'Ada', nested: { a: [1, 2] }, size: 3 })
  t.equal(rest, '\ntext\n')
  await ada.patch(`/documents/${id}`, { tags: [], properties: {} })
  t.equal((await read(ada, id)).body.data.content, markdown, 'without both the text is as it was')
  t.same((await ada.get(`/documents/${id}`)).body.data.tags, [], 'a PUT or POST of Markdown sets no tags')
})

t.test('front matter that is no mapping is not lost', async (t) => {
  const ada = await signUp()
  const bomb = `a: &a [x]\nb: &b [${'*a, '.repeat(50)}]\nc: &c [${'*b, '.repeat(50)}]\nd: [${'*c, '.repeat(50)}]`
  for (const yaml of [
    ...['- a\n- b', 'just text', 'a: 1\nb: 2\na: 3', 'a: [', `x: ${'['.repeat(20_000)}`, `big: ${'x'.repeat(70_000)}`],
  ]) {
    const id = await written(ada, `---\n${yaml}\n---\n\ntext\n`, { tags: ['tag'] })
    const { content, warnings } = (await read(ada, id)).body.data
    const { yaml: above, rest } = parted(content)
    t.same(parse(above), { tags: ['tag'] })
    t.ok(rest.includes(yaml), yaml.slice(0, 40))
    t.match(warnings, [{ code: 'node_simplified' }])
  }
  const id = await written(ada, `---\n${bomb}\n---\n\ntext\n`, { properties: { own: 1 } })
  const { content } = (await read(ada, id)).body.data
  t.ok(content.length < 3000, 'aliases are not expanded')
  t.match(content, /own: 1/)
})

t.test('what is written as front matter is read back as the same tags and properties', async (t) => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    fc.constantFrom(
      ...['true', '1', '1.0', '~', 'null', '- a', 'a: b', '#x', '*a', '&a', '!x', '"', "'", '2024-01-01', '---', '{}'],
    ),
  )
  const storable = (text: string) => text.isWellFormed() && !text.includes('\u0000')
  const tags = fc.uniqueArray(
    word.filter((text) => storable(text) && text.trim() === text && text !== ''),
    { maxLength: 8, selector: (tag) => tag.normalize('NFC').toUpperCase().toLowerCase() },
  )
  const text = fc.string({ maxLength: 60, unit: anyCharacter }).filter(storable)
  const value = fc.oneof(
    text,
    word.filter(storable),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.array(text),
  )
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,10}$/).filter((key) => key !== 'tags' && key !== 'title')
  fc.assert(
    fc.property(tags, fc.dictionary(name, value, { maxKeys: 8 }), (tags, given) => {
      const properties = JSON.parse(JSON.stringify(given)) as Properties
      const yaml = mergedFrontMatter('', { tags, properties }) ?? 'none'
      t.same(readFrontMatter(yaml), { tags, properties: { ...properties }, rest: null })
    }),
  )
})

t.test('what does not fit into tags or properties stays in the front matter', async (t) => {
  const read = readFrontMatter(
    [
      ...['# about this note', 'title: Note', `tags: "one, Two, two,, ${'x'.repeat(65)}"`, 'id: 007', 'version: 1.10'],
      ...['count: 3', 'done: yes', 'flag: true', 'date: 2024-05-01', 'empty:', 'not a name: 1', 'numbers: [1, 2]'],
      ...['nested: {a: 1}', 'anchored: &x text', 'alias: *x', `long: ${'y'.repeat(1001)}`, 'list: [a, b]'],
    ].join('\n'),
  )
  t.same(read?.tags, ['one', 'Two'])
  t.same(read?.properties, {
    id: '007',
    version: '1.10',
    count: 3,
    done: 'yes',
    flag: true,
    date: '2024-05-01',
    list: ['a', 'b'],
  })
  const rest = read?.rest ?? ''
  t.match(rest, /^# about this note\n/)
  t.same(Object.keys(parse(rest)), [
    ...['title', 'tags', 'empty', 'not a name', 'numbers', 'nested', 'anchored', 'alias', 'long'],
  ])
  t.same(readFrontMatter('tags: [a]\nb: 1'), { tags: ['a'], properties: { b: 1 }, rest: null })
  t.equal(readFrontMatter('- a'), null)
  const many = Array.from({ length: 60 }, (_, n) => `t${n}`)
  const full = readFrontMatter(`tags: [${many}]\n${many.map((name) => `${name}: 1`).join('\n')}`)
  t.same([full?.tags.length, Object.keys(full?.properties ?? {}).length], [50, 50])
  t.same(Object.keys(parse(full?.rest ?? '')), ['tags', ...many.slice(50)])
  t.same(parse(full?.rest ?? '').tags, many.slice(50))
})

t.test('ten thousand entries are kept beside the tags of the document, unless a key comes twice', (t) => {
  const keys = Array.from({ length: 10_000 }, (_, n) => `k${n}`)
  const yaml = mergedFrontMatter(`{${keys.join(',')}}`, { tags: ['tag'], properties: {} })
  t.strictSame(parse(yaml ?? '', { uniqueKeys: false }), {
    ...Object.fromEntries(keys.map((key) => [key, null])),
    tags: ['tag'],
  })
  t.equal(mergedFrontMatter(`{${[...keys, 'k7'].join(',')}}`, { tags: ['tag'], properties: {} }), null)
  t.equal(readFrontMatter('tags: [a]\n"tags": [b]'), null, 'none of two lists of tags is dropped')
  t.end()
})

t.test('hostile front matter is read in time that grows with its length alone', onlyLong, async (t) => {
  const shapes: Record<string, (size: number) => string> = {
    sequences: (size) => `a: ${'['.repeat(size)}`,
    dashes: (size) => '- '.repeat(size / 2),
    mappings: (size) => Array.from({ length: size / 8 }, (_, n) => `k${n}: 1`).join('\n'),
    indents: (size) => Array.from({ length: Math.sqrt(size) }, (_, n) => `${' '.repeat(n)}a:`).join('\n'),
    anchors: (size) => Array.from({ length: size / 16 }, (_, n) => `k${n}: &a${n} x`).join('\n'),
    aliases: (size) => `k: &a x\nl: [${'*a,'.repeat(size / 3)}]`,
    quotes: (size) => `a: "${'\\n'.repeat(size / 2)}"`,
    'keys alone': (size) => `{${Array.from({ length: size / 6 }, (_, n) => `${n}`.padStart(5, 'k')).join(',')}}`,
    comments: (size) => '#\n'.repeat(size / 2),
    keys: (size) => '? '.repeat(size / 2),
  }
  for (const [name, shape] of Object.entries(shapes)) {
    const timed = (size: number) => {
      const yaml = shape(size)
      const start = process.cpuUsage()
      readFrontMatter(yaml)
      const { user, system } = process.cpuUsage(start)
      return user + system
    }
    timed(15_000)
    const [small, large] = [timed(15_000), timed(60_000)]
    t.ok(large < Math.max(small * 12, 200_000), `${name}: ${small} µs, then ${large} µs`)
  }
})

function read(client: Client, id: string) {
  return client.get(`/documents/${id}/content?format=markdown&front_matter=true`)
}

async function written(client: Client, markdown: string, metadata: object): Promise<string> {
  const content = { format: 'markdown', content: markdown }
  const { status, body, text } = await client.post('/documents', { title: 'Written', content, ...metadata })
  if (status !== 201) throw new Error(text)
  return body.data.id
}

function parted(markdown: string): { yaml: string; rest: string } {
  const [, yaml = '', rest = ''] = /^---\n(.*?\n)---\n(.*)$/s.exec(markdown) ?? []
  return { yaml, rest }
}
