import { h, node, p, text, ul } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)

t.test('a hit says in which place it stands, under which headings and in which words', async (t) => {
  const ada = await service.signUp()
  const base = await createBase(ada, 'Handbook')
  const guides = await createFolder(ada, { name: 'Guides', knowledge_base_id: base })
  const deep = await createFolder(ada, { name: 'Deep', parent_id: guides })
  const long = `${'😀'.repeat(90)} the Zebra and a zebra graze ${'é'.repeat(90)}`
  const blocks = [p('intro'), h(1, 'Install'), h(3, 'Old'), h(2, 'Linux'), ul(p('first'), p(long)), h(1, 'End')]
  const document = await write(ada, blocks, { title: 'Animals', folder_id: deep })
  await untilFresh(ada)

  const body = (await ada.get(`/documents/${document.id}/content`)).body.data.document
  const { results, page, query, mode, projection } = await searchV2(ada, { q: ' ｚebra ' })
  t.strictSame({ query, mode, page }, { query: 'zebra', mode: 'topk', page: { has_more: false, next_cursor: null } })
  t.strictSame({ ...projection, watermark: null }, currentProjection(1))
  t.equal(results.length, 1)
  const { score, score_explanation, indexed_at, ...hit } = results[0]
  t.strictSame(hit, {
    document_id: document.id,
    document_uri: `svc://doc/${document.id}`,
    title: 'Animals',
    knowledge_base_id: base,
    folder_id: deep,
    document_type: 'document',
    locale: null,
    document_set_id: null,
    document_set_uri: null,
    path: [
      { id: base, name: 'Handbook', type: 'knowledge_base' },
      { id: guides, name: 'Guides', type: 'folder' },
      { id: deep, name: 'Deep', type: 'folder' },
      { id: document.id, name: 'Animals', type: 'document' },
    ],
    path_text: 'Handbook / Guides / Deep / Animals',
    block_id: body.content[4].content[1].content[0].attrs.id,
    block_type: 'paragraph',
    position: 4,
    matched_in: 'content',
    heading_path: ['Install', 'Linux'],
    context: { before: `${'😀'.repeat(75)} the `, match: 'Zebra', after: ` and a zebra graze ${'é'.repeat(61)}` },
    match_count: 2,
    source_version: document.version,
    indexed_version: document.version,
    freshness: 'current',
    updated_at: document.updated_at,
  })
  t.ok(indexed_at >= document.updated_at)
  t.match(score_explanation, {
    model: 'bm25-1',
    field: 'body',
    field_weight: 1,
    relaxed: false,
    exact: true,
    terms: [{ term: 'zebra', occurrences: 2, weight: Number }],
  })
  t.equal(score, score_explanation.terms[0].weight)
  t.ok(score > 0)
})

t.test('title, headings and text of one document are hits of their own, weighed by where they stand', async (t) => {
  const ada = await service.signUp()
  const quote = node('blockquote', {}, h(2, 'Quoted walrus'), p('walrus inside'))
  const blocks = [p('walrus before'), h(2, 'A walrus'), node('codeBlock', {}, 'walrus()'), quote]
  const { id } = await write(ada, blocks, { title: 'The walrus' })
  await untilFresh(ada)

  const { results } = await searchV2(ada, { q: 'walrus', mode: 'exhaustive' })
  t.strictSame(
    results.map((hit: Hit) => [hit.matched_in, hit.block_type, hit.position, hit.heading_path]),
    [
      ['title', null, null, []],
      ['content', 'paragraph', 0, []],
      ['content', 'heading', 1, ['A walrus']],
      ['content', 'codeBlock', 2, ['A walrus']],
      ['content', 'heading', 3, ['A walrus']],
      ['content', 'paragraph', 3, ['A walrus']],
    ],
    'a heading belongs to its own path, one inside a quotation to none',
  )
  t.match(results[0], { document_id: id, block_id: null, context: { before: 'The ', match: 'walrus', after: null } })
  const weights = results.map((hit: Hit) => [hit.score_explanation.field, hit.score_explanation.field_weight])
  t.strictSame(weights.slice(0, 3), [
    ['title', 2],
    ['body', 1],
    ['heading', 1.3],
  ])
  const ranked = (await searchV2(ada, { q: 'walrus' })).results
  t.equal(ranked[0].matched_in, 'title')
  t.equal(ranked[1].block_type, 'heading')
  t.strictSame(
    ranked.map((hit: Hit) => hit.score),
    ranked.map((hit: Hit) => hit.score).sort((a: number, b: number) => b - a),
  )
})

t.test('a hit below headings of great length tells where it stands in few words', async (t) => {
  const ada = await service.signUp()
  await write(ada, [h(1, 'chapter '.repeat(1000)), h(2, 'short'), p('a lonely quokka')])
  await untilFresh(ada)
  const { results } = await searchV2(ada, { q: 'quokka' })
  t.strictSame(results[0].heading_path, [`${'chapter '.repeat(25)}…`, 'short'])
})

t.test('version 1 lists the same hits in its own form', async (t) => {
  const ada = await service.signUp()
  const blocks = [p('The quick ', text('otter', 'bold'), ' swims'), p('nothing')]
  const document = await write(ada, blocks, { title: 'Otter' })
  await untilFresh(ada)

  const { body } = await ada.get('/search?q=otter')
  t.strictSame(body.page, { cursor: null, next_cursor: null, has_more: false })
  const [{ results }] = [await searchV2(ada, { q: 'otter' })]
  const shared = {
    document_id: document.id,
    title: 'Otter',
    knowledge_base_id: document.knowledge_base_id,
    folder_id: null,
    document_type: 'document',
    updated_at: document.updated_at,
    locale: null,
    document_set_id: null,
    document_set_uri: null,
  }
  t.strictSame(body.data, [
    { ...shared, block_id: null, matched_in: 'title', snippet: null },
    { ...shared, block_id: results[1].block_id, matched_in: 'content', snippet: 'The quick otter swims' },
  ])
  t.equal((await ada.get('/search?q=otter&limit=1')).body.data.length, 1)
})

t.test('who remembers half of the words still finds the text, and is told so', async (t) => {
  const ada = await service.signUp()
  await write(ada, [p('alpha beta gamma'), p('alpha'), p('alpha delta')])
  await untilFresh(ada)

  const relaxed = (await searchV2(ada, { q: 'alpha beta omega psi' })).results
  t.strictSame(relaxed.map(matched), ['alpha beta gamma'], 'half of four are two')
  t.equal(relaxed[0].score_explanation.relaxed, true)
  t.strictSame(
    relaxed[0].score_explanation.terms.map(({ occurrences }: { occurrences: number }) => occurrences),
    [1, 1, 0, 0],
  )
  t.strictSame((await searchV2(ada, { q: 'alpha omega psi' })).results, [], 'one of three is less than half')
  t.strictSame((await searchV2(ada, { q: 'alpha omega' })).results, [], 'two words are never relaxed')
  const strict = (await searchV2(ada, { q: 'alpha beta gamma' })).results
  t.strictSame(strict.map(matched), ['alpha beta gamma'], 'nor is what all words are found in')
  t.equal(strict[0].score_explanation.relaxed, false)
  t.strictSame((await searchV2(ada, { q: 'alpha beta omega psi', mode: 'exhaustive' })).results, [])
  t.strictSame((await ada.get('/search?q=alpha+beta+omega+psi')).body.data, [])
})

t.test('of many words any half will do, also the common ones', async (t) => {
  const ada = await service.signUp()
  const words = Array.from({ length: 10 }, (_, index) => `lemur${index}`)
  const common = words.slice(0, 5).join(' ')
  await write(ada, [p(common), p(`${common} again`), p(words.slice(5, 9).join(' ')), p(words.slice(3, 8).join(' '))])
  await untilFresh(ada)

  const { results } = await searchV2(ada, { q: words.join(' ') })
  t.strictSame(results.map(matched).sort(), [common, `${common} again`, words.slice(3, 8).join(' ')])
})

t.test('a quoted phrase is found first where it stands as it was written', async (t) => {
  const ada = await service.signUp()
  const verbatim = `much later, and far behind many other words, there is a quick fox ${'and so on '.repeat(20).trim()}`
  await write(ada, [p('quick foxes, quick foxes'), p(verbatim)], { title: 'Quick foxes' })
  await untilFresh(ada)

  const { results } = await searchV2(ada, { q: '"quick fox"' })
  t.strictSame(
    results.map((hit: Hit) => hit.context.match),
    ['quick fox', 'Quick foxes', 'quick foxes'],
  )
})

t.test('a long path is found by all of its parts in their order', async (t) => {
  const ada = await service.signUp()
  await write(ada, [
    p('in one/two/three/four/five/six/seven/eight/nine/ten.ts'),
    p('ten nine eight seven six five four'),
  ])
  await untilFresh(ada)
  for (const mode of ['topk', 'exhaustive']) {
    const found = async (q: string) => (await searchV2(ada, { q, mode })).results.length
    t.equal(await found('one/two/three/four/five/six/seven/eight/nine/ten'), 1, mode)
    t.equal(await found('"one two three four five six seven eight nine ten"'), 1, mode)
    t.equal(await found('one/two/three/four/five/six/seven/eight/ten/nine'), 0, mode)
  }
})

t.test('hits that score the same always come in the same order', async (t) => {
  const ada = await service.signUp()
  const prefix = `doc_${Math.random().toString(36).slice(2)}`
  const wanted = ['B1', 'a1', 'a2'].map((end) => `${prefix}${end}`)
  for (const id of [...wanted].reverse()) await write(ada, [p('same heron'), p('same heron')], { id })
  await untilFresh(ada)

  const { results } = await searchV2(ada, { q: 'heron' })
  t.equal(new Set(results.map((hit: Hit) => hit.score)).size, 1)
  const expected = wanted.flatMap((id) => [`${id} 0`, `${id} 1`])
  t.strictSame(results.map(placeOf), expected)
  t.strictSame((await searchV2(ada, { q: 'heron', mode: 'exhaustive' })).results.map(placeOf), expected)
  t.strictSame(
    (await ada.get('/search?q=heron')).body.data.map((hit: Hit) => hit.block_id),
    results.map((hit: Hit) => hit.block_id),
  )
})

t.test('a limit bounds the hits and tells that there are more', async (t) => {
  const ada = await service.signUp()
  await write(ada, [p('ibis'), p('ibis'), p('ibis')])
  await untilFresh(ada)
  const page = async (query: object) => {
    const data = await searchV2(ada, { q: 'ibis', ...query })
    return [data.results.length, data.page.has_more, data.page.next_cursor === null]
  }
  t.strictSame(await page({ limit: 2 }), [2, true, true])
  t.strictSame(await page({ limit: 3 }), [3, false, true])
  t.strictSame(await page({}), [3, false, true])
  t.strictSame(await page({ limit: 2, mode: 'exhaustive' }), [2, true, false])
  t.strictSame(await page({ limit: 3, mode: 'exhaustive' }), [3, false, true])
})

type Hit = {
  document_id: string
  block_id: string | null
  block_type: string | null
  matched_in: string
  position: number | null
  heading_path: string[]
  context: { before: string | null; match: string; after: string | null }
  score: number
  score_explanation: { field: string; field_weight: number }
}

const placeOf = (hit: Hit) => `${hit.document_id} ${hit.position}`
const matched = ({ context }: Hit) => `${context.before ?? ''}${context.match}${context.after ?? ''}`

function currentProjection(count: number) {
  return {
    watermark: null,
    document_count: count,
    current_document_count: count,
    stale_document_count: 0,
    stale_document_ids: [],
    freshness: 'current',
    complete: true,
  }
}

async function createBase(client: Client, name: string): Promise<number> {
  return (await client.post('/knowledge-bases', { name })).body.data.id
}

async function createFolder(client: Client, members: object): Promise<number> {
  return (await client.post('/folders', members)).body.data.id
}
