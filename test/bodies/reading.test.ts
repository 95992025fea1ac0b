import fc from 'fast-check'
import { blockId, h, node, p, text, ul } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, type Made, make, put, refused } from '../support/documents.ts'
import { runsTimes } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp } = await sharedService()

t.test('the outline lists headings as flat sections that reach to the next one as high', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [
    p('intro'),
    p('more'),
    h(1, 'A'),
    p('a'),
    h(3, ''),
    h(2, 'A'),
    p('deep'),
    h(1, text('Bold', 'bold'), ' B'),
    node('blockquote', {}, h(1, 'quoted')),
  ])
  const id = (position: number) => made.blocks[position]?.attrs.id
  const section = (at: number, to: number, rest: object) => ({
    block_id: id(at),
    start_position: at,
    end_position: to,
    start_block_id: id(at),
    end_block_id: id(to),
    block_count: to - at + 1,
    ...rest,
  })
  const sections = [
    section(2, 6, { level: 1, title: 'A', heading_path: ['A'], parent_block_id: null }),
    section(4, 4, { level: 3, title: '', heading_path: ['A', ''], parent_block_id: id(2) }),
    section(5, 6, { level: 2, title: 'A', heading_path: ['A', 'A'], parent_block_id: id(2) }),
    section(7, 8, { level: 1, title: 'Bold B', heading_path: ['Bold B'], parent_block_id: null }),
  ]
  const outline = await ada.get(`/documents/${made.id}/outline`)
  t.equal(outline.headers.get('etag'), made.etag)
  t.same(outline.body.data, {
    document_id: made.id,
    version: made.version,
    block_count: 9,
    heading_count: 4,
    preamble: { start_position: 0, end_position: 1, start_block_id: id(0), end_block_id: id(1), block_count: 2 },
    sections,
  })
  t.same((await ada.get(`/documents/${made.id}/read?view=outline&max_tokens=64`)).body.data, {
    document_id: made.id,
    document_uri: `svc://doc/${made.id}`,
    version: made.version,
    view: 'outline',
    sections,
  })
  const bare = await make(ada, [h(1, 'x')])
  t.match((await ada.get(`/documents/${bare.id}/outline`)).body.data, { preamble: null, block_count: 1 })
  const flat = await make(ada, [p('x')])
  t.match((await ada.get(`/documents/${flat.id}/outline`)).body.data, {
    heading_count: 0,
    sections: [],
    preamble: { block_count: 1 },
  })
})

t.test('titles as long as chapters do not make an answer many times as large as its document', async (t) => {
  const ada = await signUp()
  const chapters = [1, 2, 3, 4, 5].map((level) => h(level, `${level}é`.padEnd(5000, '😀x')))
  const sections = Array.from({ length: 500 }, (_, index) => h(6, `section ${index}`))
  const made = await make(ada, [...chapters, ...sections, p('end')])
  const path = `/documents/${made.id}`
  const whole = chapters.map((chapter) => String(chapter.content?.[0]?.text))
  const cut = whole.map((title) => `${[...title].slice(0, 200).join('')}…`)
  const limit = 16 * (await ada.get(`${path}/content`)).text.length
  for (const view of ['/outline', '/read?view=outline']) {
    const { text: answer, body } = await ada.get(path + view)
    t.ok(answer.length < limit, `${answer.length} characters of ${view}`)
    t.strictSame(
      body.data.sections.slice(0, 5).map(({ title }: { title: string }) => title),
      whole,
      'the title of a section is whole',
    )
    t.strictSame(body.data.sections.at(-1).heading_path, [...cut, 'section 499'])
  }
  const blocks = await ada.get(`${path}/blocks`)
  t.ok(blocks.text.length < limit)
  t.strictSame(blocks.body.data.at(-1).heading_path, [...cut, 'section 499'])
  const last = blocks.body.data.at(-1).block_id
  t.strictSame((await ada.get(`${path}/blocks/${last}`)).body.data.heading_path, [...cut, 'section 499'])
  const exact = await make(ada, [h(1, '😀'.repeat(200)), h(2, '😀'.repeat(201))])
  t.strictSame((await ada.get(`/documents/${exact.id}/outline`)).body.data.sections[1].heading_path, [
    '😀'.repeat(200),
    `${'😀'.repeat(200)}…`,
  ])
})

t.test('a small document is read whole, in each view', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [h(1, 'Title'), ul(p('one'), p('two')), p('é')])
  const [first, , last] = made.blocks.map(({ attrs }) => attrs.id)
  const read = async (view: string) => (await ada.get(`/documents/${made.id}/read${view}`)).body.data
  const common = {
    document_id: made.id,
    document_uri: `svc://doc/${made.id}`,
    version: made.version,
    range: { from_position: 0, to_position: 2, start_block_id: first, end_block_id: last, block_count: 3 },
    max_tokens: 4000,
    budget_exceeded: false,
    truncated: false,
    omitted_ranges: [],
    has_more: false,
    next_cursor: null,
    warnings: [],
  }
  const markdown = (await ada.get(`/documents/${made.id}/content?format=markdown`)).body.data.content
  t.same(await read(''), { ...common, view: 'markdown', content: markdown, estimated_tokens: tokens(markdown) })
  const plain = 'Title\n\none\ntwo\n\né'
  t.same(await read('?view=plain-text&max_tokens=64'), {
    ...common,
    view: 'plain-text',
    content: plain,
    estimated_tokens: tokens(plain),
    max_tokens: 64,
  })
  const document = { type: 'doc', content: made.blocks }
  t.same(await read('?view=tiptap-json'), {
    ...common,
    view: 'tiptap-json',
    document,
    estimated_tokens: tokens(JSON.stringify(document)),
  })
})

t.test('a read walks a long document in parts that leave nothing out and repeat nothing', async (t) => {
  const ada = await signUp()
  const made = await make(
    ada,
    Array.from({ length: 30 }, (_, index) => p(`${index} `.padEnd(100, 'x'))),
  )
  for (const view of ['markdown', 'plain-text', 'tiptap-json']) {
    const parts = await walk(ada, made, `view=${view}&max_tokens=200`)
    t.ok(parts.length > 3, view)
    let next = 0
    for (const part of parts) {
      t.equal(part.range.from_position, next)
      next = part.range.to_position + 1
      t.ok(part.estimated_tokens <= 200)
      t.equal(part.budget_exceeded, false)
      t.equal(part.truncated, true)
      t.equal(part.has_more, next < 30)
      t.same(part.omitted_ranges, complement(part.range, 30))
      t.equal(part.range.start_block_id, made.blocks[part.range.from_position]?.attrs.id)
      t.equal(part.range.end_block_id, made.blocks[part.range.to_position]?.attrs.id)
    }
    t.equal(next, 30)
  }
})

t.test('around a block the context comes with it, the nearest first', async (t) => {
  const ada = await signUp()
  const item = ul(p('deep'))
  const made = await make(ada, [...Array.from({ length: 10 }, (_, index) => p(`${index} `.padEnd(80, 'x'))), item])
  const id = (position: number) => made.blocks[position]?.attrs.id
  const read = async (query: string) => (await ada.get(`/documents/${made.id}/read?${query}`)).body.data
  const span = ({ range }: { range: { from_position: number; to_position: number } }) => [
    range.from_position,
    range.to_position,
  ]
  t.same(span(await read(`around=${id(5)}`)), [3, 9], '2 before and 4 after')
  t.same(span(await read(`around=${id(5)}&context_before=0&context_after=0`)), [5, 5])
  t.same(span(await read(`around=${id(0)}&context_before=5&context_after=1`)), [0, 1])
  const nested = made.blocks[10]?.content?.[0]?.content?.[0]?.attrs?.id
  t.same(span(await read(`around=${nested}&context_before=1`)), [9, 10], 'a nested block stands for its top-level one')
  t.same(span(await read('context_before=0&context_after=0')), [0, 10], 'without around the context means nothing')

  const tight = await read(`around=${id(5)}&max_tokens=64&context_before=3&context_after=3`)
  t.same(span(tight), [4, 6], 'the centre, then after and before in turn')
  t.match(tight, { truncated: true, has_more: true })
  t.same(tight.omitted_ranges, complement(tight.range, 11))
  const more = await read(`around=${id(5)}&max_tokens=64&context_before=3&context_after=3&cursor=${tight.next_cursor}`)
  t.same(span(more), [7, 8], 'on to the end of the window')
  t.match(more, { has_more: false, next_cursor: null, truncated: true })
  const whole = await read(`around=${id(5)}&context_before=3&context_after=3`)
  t.match(whole, { truncated: false, has_more: false })
})

t.test('one block larger than the budget is returned all the same, and said to be', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('x'.repeat(1000)), p('small')])
  const part = (await ada.get(`/documents/${made.id}/read?max_tokens=64`)).body.data
  t.match(part, { range: { from_position: 0, to_position: 0 }, budget_exceeded: true, truncated: true, has_more: true })
  t.equal(part.estimated_tokens, tokens(part.content))
  t.ok(part.content.includes('x'.repeat(1000)))
})

t.test('a read in Markdown tells what it could not say', async (t) => {
  const ada = await signUp()
  const coloured = text('red', { type: 'textStyle', attrs: { color: 'red' } })
  const made = await make(ada, [p('a'), p(coloured)])
  t.match((await ada.get(`/documents/${made.id}/read`)).body.data.warnings, [
    { code: 'marks_dropped', block_id: made.blocks[1]?.attrs.id },
  ])
  t.same((await ada.get(`/documents/${made.id}/read?view=tiptap-json`)).body.data.warnings, [])
})

t.test('a cursor is bound to the version of the body and to the parameters', async (t) => {
  const ada = await signUp()
  const made = await make(
    ada,
    Array.from({ length: 10 }, (_, index) => p(`${index} `.padEnd(100, 'x'))),
  )
  const other = await make(ada, made.blocks)
  const path = `/documents/${made.id}/read`
  const cursor = (await ada.get(`${path}?max_tokens=100`)).body.data.next_cursor
  t.equal((await ada.get(`${path}?max_tokens=100&view=markdown&cursor=${cursor}`)).status, 200, 'a default may be said')
  t.equal(
    (await ada.get(`${path}?max_tokens=100&context_before=7&cursor=${cursor}`)).status,
    200,
    'it means nothing here',
  )
  const foreign = [
    `${path}?max_tokens=101&cursor=${cursor}`,
    `${path}?max_tokens=100&view=plain-text&cursor=${cursor}`,
    `${path}?max_tokens=100&around=${made.blocks[0]?.attrs.id}&cursor=${cursor}`,
    `${path}?max_tokens=100&cursor=x`,
    `${path}?max_tokens=100&cursor=`,
    `${path}?max_tokens=100&view=outline&cursor=${cursor}`,
    `${path}?view=outline&cursor=zz`,
    `/documents/${other.id}/read?max_tokens=100&cursor=${cursor}`,
  ]
  for (const call of foreign) refused(t, await ada.get(call), { status: 400, code: 'invalid_cursor' })

  await ada.patch(`/documents/${made.id}`, { title: 'Other' })
  t.equal((await ada.get(`${path}?max_tokens=100&cursor=${cursor}`)).status, 200, 'metadata do not matter')
  const changed = await put(ada, made.id, [...made.blocks, p('more')])
  refused(t, await ada.get(`${path}?max_tokens=100&cursor=${cursor}`), {
    status: 409,
    code: 'read_cursor_stale',
    details: { cursor_version: made.version, current_version: changed.body.data.version },
  })
  refused(t, await ada.get(`${path}?max_tokens=101&cursor=${cursor}`), { status: 400, code: 'invalid_cursor' })
  await put(ada, made.id, made.blocks)
  t.equal((await ada.get(`${path}?max_tokens=100&cursor=${cursor}`)).status, 200, 'the same body again')
})

t.test('parameters are checked, never clamped', async (t) => {
  const ada = await signUp()
  const stranger = await signUp()
  const { id, blocks } = await make(ada, [p('x')])
  const block = blocks[0]?.attrs.id
  const path = `/documents/${id}/read`
  for (const query of [
    'view=html',
    'max_tokens=63',
    'max_tokens=50001',
    'max_tokens=x',
    'context_before=-1',
    'context_after=101',
    'around=x',
    `around=${blockId('I')}`,
    'view=markdown&view=markdown',
  ]) {
    const name = query.split('=')[0]
    const reply = await ada.get(`${path}?${query}`)
    t.match(reply, {
      status: 400,
      body: { error: { code: 'invalid_request', details: { fields: [{ path: `?${name}` }] } } },
    })
  }
  for (const query of ['max_tokens=64', 'max_tokens=50000', 'context_before=100&context_after=0']) {
    t.equal((await ada.get(`${path}?${query}`)).status, 200)
  }
  for (const view of ['markdown', 'outline']) {
    refused(t, await ada.get(`${path}?view=${view}&around=${blockId('A')}`), {
      status: 404,
      code: 'block_not_found',
      details: { id: blockId('A'), field: 'around' },
    })
    t.equal((await ada.get(`${path}?view=${view}&around=${block}`)).status, 200)
  }
  for (const part of ['read', 'outline']) {
    const reply = await stranger.get(`/documents/${id}/${part}`)
    refused(t, reply, { status: 404, code: 'document_not_found', details: { id } })
    refused(t, await ada.get(`/documents/nonsense/${part}`), { status: 404, code: 'document_not_found' })
  }
})

t.test('a locale of a document without languages falls back to the document itself', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  for (const part of ['', '/content', '/outline', '/read']) {
    t.match((await ada.get(`/documents/${id}${part}?locale=en-us`)).body.data, {
      requested_locale: 'en-US',
      resolved_locale: null,
      fallback_used: true,
    })
    t.notOk('requested_locale' in (await ada.get(`/documents/${id}${part}`)).body.data, 'only when asked for')
    refused(t, await ada.get(`/documents/${id}${part}?locale=en_US`), {
      status: 400,
      code: 'invalid_locale',
      details: { locale: 'en_US', field: 'locale' },
    })
  }
})

t.test('for any body and budget, parts are within it or single blocks, and together they are the window', async (t) => {
  const ada = await signUp()
  const block = fc.oneof(
    fc.integer({ min: 0, max: 400 }).map((length) => p('w '.repeat(length / 2))),
    fc.integer({ min: 0, max: 90 }).map((length) => p('é'.repeat(length))),
    fc.integer({ min: 1, max: 6 }).map((level) => h(level, 'heading')),
    fc
      .array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 })
      .map((items) => ul(...items.map((n) => p('i'.repeat(n))))),
  )
  const input = fc.record({
    blocks: fc.array(block, { minLength: 1, maxLength: 15 }),
    view: fc.constantFrom('markdown', 'plain-text', 'tiptap-json'),
    budget: fc.integer({ min: 64, max: 400 }),
    around: fc.option(fc.nat()),
    annotate: fc.constantFrom('', '&annotate=anchors', '&annotate=hashes'),
    context: fc.tuple(fc.nat(6), fc.nat(6)),
  })
  const { id } = await make(ada, [p('x')])
  await fc.assert(
    fc.asyncProperty(input, async ({ blocks, view, budget, around, annotate, context: [before, after] }) => {
      await put(ada, id, blocks)
      const made = await bodyOf(ada, id)
      const length = made.blocks.length
      const centre = around === null ? null : around % length
      const window = {
        from_position: centre === null ? 0 : Math.max(0, centre - before),
        to_position: centre === null ? length - 1 : Math.min(length - 1, centre + after),
      }
      const place = centre === null ? '' : `&around=${made.blocks[centre]?.attrs.id}`
      const query = `view=${view}&max_tokens=${budget}&context_before=${before}&context_after=${after}${place}${annotate}`
      const parts = await walk(ada, made, query)
      const [first] = parts
      let next = first?.range.from_position ?? -1
      for (const part of parts) {
        const size = part.range.to_position - part.range.from_position + 1
        if (part.range.from_position !== next || size < 1 || size !== part.range.block_count) return false
        if (part.estimated_tokens !== tokens(part.content ?? JSON.stringify(part.document))) return false
        if (part.budget_exceeded !== part.estimated_tokens > budget || (part.budget_exceeded && size > 1)) return false
        if (JSON.stringify(part.omitted_ranges) !== JSON.stringify(complement(part.range, length))) return false
        const isWhole =
          part.range.from_position === window.from_position && part.range.to_position === window.to_position
        if (part.truncated === isWhole) return false
        next = part.range.to_position + 1
      }
      const covered = centre === null ? first?.range.from_position === 0 : (first?.range.from_position ?? -1) <= centre
      return covered && next === window.to_position + 1 && (first?.range.from_position ?? -1) >= window.from_position
    }),
    runsTimes(1 / 3),
  )
  t.pass('for every body')
})

type Part = {
  range: {
    from_position: number
    to_position: number
    start_block_id: string
    end_block_id: string
    block_count: number
  }
  estimated_tokens: number
  budget_exceeded: boolean
  truncated: boolean
  has_more: boolean
  omitted_ranges: object[]
  next_cursor: string | null
  content?: string
  document?: object
}

/** Follows the cursors of a read to its end. */
async function walk(client: Client, { id }: Made, query: string): Promise<Part[]> {
  const parts: Part[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const {
      status,
      text: answer,
      body,
    } = await client.get(`/documents/${id}/read?${query}${cursor && `&cursor=${cursor}`}`)
    if (status !== 200) throw new Error(`${status} ${answer}`)
    const part: Part = body.data
    parts.push(part)
    if (parts.length > 100) throw new Error('The read does not end')
    cursor = part.next_cursor
  }
  return parts
}

/** The ranges of a document outside of a range that includes both ends. */
function complement({ from_position, to_position }: Part['range'], length: number): object[] {
  return [
    { from_position: 0, to_position: from_position - 1 },
    { from_position: to_position + 1, to_position: length - 1 },
  ].filter((range) => range.from_position <= range.to_position)
}

/** The estimate of tokens, computed independently. */
function tokens(value: string): number {
  const ascii = [...value].filter((character) => character.charCodeAt(0) < 128).length
  return Math.ceil(ascii / 4 + [...value].length - ascii)
}
