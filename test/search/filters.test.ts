import fc from 'fast-check'
import type { BodyNode } from '../../shared/body/document.ts'
import { sql } from '../../shared/database/database.ts'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

type Block = { types: string[]; text: string }
type Written = {
  id: string
  title: string
  folders: number[]
  updated_by: string
  updated_at: number
  tags: string[]
  status: string
  blocks: Block[]
}
type Query = [string, string | number][]
type Hit = {
  document_id: string
  block_id: string | null
  score: number
  updated_at: number
  more_in_document?: number
}

const vocabulary = ['badger', 'gecko', 'heron', 'lynx']
const service = await startSearchService(t)
const ada = await service.signUp({ workspace: 'Filtered' })
const bob = await service.signUp({ workspace: 'Filtered', role: 'editor' })
const site = await writeDocuments()

t.test('every filter leaves exactly the hits of the documents and blocks that pass it', async (t) => {
  await fc.assert(
    fc.asyncProperty(searches(), async ({ words, filters }) => {
      const expected = site.documents.filter((document) => filters.every(({ passes }) => passes(document)))
      const matches = expected.flatMap((document) => matchesOf(document, { words, filters }))
      const query = [['q', words.join(' ')], ...filters.map(({ parameter }) => parameter)] as Query
      const all = await exhaustive(ada, query)
      t.strictSame(
        all.hits.map(({ document_id }) => document_id),
        matches.map(({ id }) => id).sort(),
      )
      const { results, projection } = await search(ada, [...query, ['limit', 100]])
      t.strictSame(results.map(idOf).sort(), matches.map(({ id }) => id).sort())
      for (const { document_count, complete } of [projection, all.projection]) {
        t.strictSame({ document_count, complete }, { document_count: expected.length, complete: true })
      }
      const v1 = await search(ada, [...query, ['limit', 100]], '/search')
      t.strictSame(v1.map(idOf), results.map(idOf))
    }),
    runsTimes(0.6),
  )
})

t.test('sorted by time, the newest documents come first, then the usual order', async (t) => {
  await fc.assert(
    fc.asyncProperty(searches(), fc.integer({ min: 1, max: 8 }), async ({ words, filters }, limit) => {
      const query = [['q', words.join(' ')], ...filters.map(({ parameter }) => parameter)] as Query
      const { results } = await search(ada, [...query, ['limit', 100]])
      const expected = results.toSorted((a: Hit, b: Hit) => b.updated_at - a.updated_at)
      const sorted = await search(ada, [...query, ['sort', 'updated_at'], ['limit', limit]])
      t.strictSame(sorted.results, expected.slice(0, limit))
      t.equal(sorted.page.has_more, expected.length > limit)
    }),
    runsTimes(0.3),
  )
})

t.test('grouped, a document has at most so many hits, and says how many more it has', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      searches(),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      async ({ words, filters }, most, byTime) => {
        const order: Query = byTime ? [['sort', 'updated_at']] : []
        const query = [['q', words.join(' ')], ...filters.map(({ parameter }) => parameter), ...order] as Query
        const { results } = await search(ada, [...query, ['limit', 100]])
        const counts = Map.groupBy(results, idOf)
        const expected = results.filter((hit: Hit) => (counts.get(idOf(hit)) ?? []).indexOf(hit) < most)
        const limit = 1 + (results.length % 7)
        for (const path of ['/search/v2', '/search'] as const) {
          const answer = await search(
            ada,
            [...query, ['group_by', 'document'], ['per_document', most], ['limit', limit]],
            path,
          )
          const hits: Hit[] = path === '/search' ? answer : answer.results
          const shown = expected.slice(0, limit)
          const inAnswer = Map.groupBy(shown, idOf)
          t.strictSame(
            hits.map((hit) => [idOf(hit), hit.block_id, hit.more_in_document]),
            shown.map((hit: Hit) => [
              idOf(hit),
              hit.block_id,
              (counts.get(idOf(hit))?.length ?? 0) - (inAnswer.get(idOf(hit))?.length ?? 0),
            ]),
          )
          if (path === '/search/v2') t.equal(answer.page.has_more, expected.length > limit)
        }
      },
    ),
    runsTimes(0.4),
  )
})

t.test('a search is complete while only documents outside its filters wait for the index', async (t) => {
  const client = await service.signUp()
  const { body } = await client.post('/folders', { name: 'Inside', knowledge_base_id: await baseOf(client) })
  const inside = await write(client, 'a puffin', { folder_id: body.data.id })
  const outside = await write(client, 'a puffin')
  await untilFresh(client)
  const since = Date.now() + 1
  // A mark without a job, which no worker removes.
  await service.database.query(sql.unsafe`
    INSERT INTO stale_projections (workspace_id, projection, document_id, event_row_no)
    SELECT workspace_id, 'search', id, 1 FROM documents WHERE id = ${outside.id}`)
  const asked: [Query, boolean][] = [
    [[['folder_id', body.data.id]], true],
    [[['document_id', inside.id]], true],
    [[['document_id', outside.id]], false],
    [[['updated_after', since]], true],
    [[['updated_before', since]], false],
    [[['updated_by', 'usr_nobody']], true],
    [[['block_type', 'heading']], false],
    [[], false],
  ]
  for (const [filter, complete] of asked) {
    for (const mode of ['topk', 'exhaustive']) {
      const { projection, results } = await search(client, [['q', 'puffin'], ['mode', mode], ...filter])
      t.match(projection, { complete, stale_document_ids: complete ? [] : [outside.id] }, `${mode} ${filter.join()}`)
      t.notOk(results.map(idOf).includes(outside.id), 'a stale document has no hits')
    }
  }
})

t.test('a cursor is refused by a search with other filters, and by a scope that has moved', async (t) => {
  const client = await service.signUp()
  const base = await baseOf(client)
  const { body } = await client.post('/folders', { name: 'Moving', knowledge_base_id: base })
  const folder = body.data.id
  const documents = [
    await write(client, [p('an otter'), p('two otters')], { folder_id: folder }),
    await write(client, 'otter'),
  ]
  await untilFresh(client)
  const query: Query = [
    ['q', 'otter'],
    ['mode', 'exhaustive'],
    ['limit', 1],
    ['folder_id', folder],
    ['block_type', 'paragraph'],
  ]
  const { page } = await search(client, query)
  const next = (change: Query) =>
    client.get(
      `/search/v2?${queryOf([...query.filter(([name]) => !change.some(([other]) => other === name)), ['cursor', page.next_cursor], ...change])}`,
    )
  t.equal((await next([])).status, 200)
  const others: Query[] = [
    [['folder_id', folder + 1]],
    [['document_id', documents[0]?.id ?? '']],
    [['updated_by', 'x']],
    [['tag', 'x']],
    [['property[x]', 'y']],
    [['updated_after', 1]],
    [['updated_before', 8e15]],
    [['block_type', 'heading']],
  ]
  for (const change of others) {
    t.match(await next(change), { status: 409, body: { error: { code: 'search_cursor_invalid' } } }, change.join())
  }
  await client.patch(`/documents/${documents[1]?.id}`, { folder_id: folder })
  await untilFresh(client)
  t.match(
    await next([]),
    { status: 409, body: { error: { code: 'search_cursor_stale' } } },
    'a document moved into the folder',
  )
})

t.test('what a search cannot be narrowed to is refused, and what nobody can see is empty', async (t) => {
  const eve = await service.signUp()
  const [document] = site.documents
  const unseen: Query[] = [
    [['folder_id', site.folders[0] ?? 0]],
    [['document_id', document?.id ?? '']],
    [['updated_by', document?.updated_by ?? '']],
  ]
  for (const filter of unseen) {
    const { results, projection } = await search(eve, [['q', 'badger'], ...filter])
    t.strictSame([results, projection.document_count, projection.complete], [[], 0, true])
  }
  const empty: Query[] = [
    [['folder_id', 987_654_321]],
    [['folder_id', '9999999999999999']],
    [['document_id', 'no id at all']],
    [['document_id', "'; DROP TABLE documents; --"]],
    [['updated_by', '']],
    [['updated_by', '\ue000'.repeat(500)]],
    [['tag', 'absent']],
    [['tag', "';--\\"]],
    [['property[absent]', 'x']],
    [['property[status]', '\\"{}']],
    [['updated_after', '9999999999999999']],
    [['updated_before', 0]],
    [
      ['updated_after', 5],
      ['updated_before', 5],
    ],
  ]
  for (const filter of empty) {
    for (const extra of [
      [],
      [['mode', 'exhaustive']],
      [['sort', 'updated_at']],
      [['group_by', 'document']],
    ] as Query[]) {
      const { results, projection } = await search(ada, [['q', 'badger'], ...filter, ...extra])
      t.strictSame([results, projection.document_count], [[], 0], JSON.stringify([filter, extra]))
    }
  }
  const refused: [Query, string, readonly string[]][] = [
    [[['folder_id', 'x']], '?folder_id', ['/search', '/search/v2']],
    [[['folder_id', 0]], '?folder_id', ['/search', '/search/v2']],
    [
      [
        ['document_id', 'a'],
        ['document_id', 'b'],
      ],
      '?document_id',
      ['/search', '/search/v2'],
    ],
    [[['updated_after', 'yesterday']], '?updated_after', ['/search', '/search/v2']],
    [[['updated_before', '2026-02-30']], '?updated_before', ['/search', '/search/v2']],
    [
      [
        ['block_type', 'title'],
        ['block_type', 'blockquote'],
      ],
      '?block_type[1]',
      ['/search', '/search/v2'],
    ],
    [[['tag', '']], '?tag[0]', ['/search', '/search/v2']],
    [[['property[1x]', 'y']], '?property[1x]', ['/search', '/search/v2']],
    [[['sort', 'title']], '?sort', ['/search', '/search/v2']],
    [[['group_by', 'folder']], '?group_by', ['/search', '/search/v2']],
    [
      [
        ['group_by', 'document'],
        ['per_document', 0],
      ],
      '?per_document',
      ['/search', '/search/v2'],
    ],
    [
      [
        ['group_by', 'document'],
        ['per_document', 6],
      ],
      '?per_document',
      ['/search', '/search/v2'],
    ],
    [
      [
        ['mode', 'exhaustive'],
        ['sort', 'updated_at'],
      ],
      '?sort',
      ['/search/v2'],
    ],
    [
      [
        ['mode', 'exhaustive'],
        ['group_by', 'document'],
      ],
      '?group_by',
      ['/search/v2'],
    ],
  ]
  for (const [query, path, paths] of refused) {
    for (const endpoint of paths) {
      const reply = await ada.get(`${endpoint}?${queryOf([['q', 'badger'], ...query])}`)
      const error = { code: 'invalid_request', details: { fields: [{ path }] } }
      t.match(reply, { status: 400, body: { error } }, `${endpoint} ${query.join(' ')}`)
    }
  }
})

type Filter = { parameter: [string, string | number]; passes: (document: Written) => boolean; types?: string[] }

/** Random words, of which each hit has all, and random filters. */
function searches(): fc.Arbitrary<{ words: string[]; filters: Filter[] }> {
  const { documents, folders } = site
  const time = fc.constantFrom(...documents.map(({ updated_at }) => updated_at))
  const iso = (at: number) => new Date(at).toISOString()
  const filter: fc.Arbitrary<Filter> = fc.oneof(
    fc
      .constantFrom(...folders)
      .map((id): Filter => ({ parameter: ['folder_id', id], passes: (d) => d.folders.includes(id) })),
    fc
      .constantFrom(...documents)
      .map(({ id }): Filter => ({ parameter: ['document_id', id], passes: (d) => d.id === id })),
    fc.constantFrom(...documents).map(
      ({ updated_by }): Filter => ({
        parameter: ['updated_by', updated_by],
        passes: (d) => d.updated_by === updated_by,
      }),
    ),
    time.map((at): Filter => ({ parameter: ['updated_after', iso(at)], passes: (d) => d.updated_at >= at })),
    time.map((at): Filter => ({ parameter: ['updated_before', at], passes: (d) => d.updated_at < at })),
    fc
      .constantFrom('Red', 'green')
      .map((tag): Filter => ({ parameter: ['tag', tag.toUpperCase()], passes: (d) => d.tags.includes(tag) })),
    fc
      .constantFrom('open', '5')
      .map((status): Filter => ({ parameter: ['property[status]', status], passes: (d) => d.status === status })),
    fc
      .constantFrom('title', 'heading', 'paragraph', 'codeBlock', 'table', 'listItem')
      .map((type): Filter => ({ parameter: ['block_type', type], passes: () => true, types: [type] })),
  )
  const differs = (f: Filter) =>
    f.types === undefined && f.parameter[0] !== 'tag' ? f.parameter[0] : f.parameter.join()
  return fc.record({
    words: fc.uniqueArray(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 2 }),
    filters: fc.uniqueArray(filter, { maxLength: 3, selector: differs }),
  })
}

function matchesOf(document: Written, { words, filters }: { words: string[]; filters: Filter[] }): Written[] {
  const types = filters.flatMap(({ types = [] }) => types)
  const blocks = [{ types: ['title'], text: document.title }, ...document.blocks]
  return blocks
    .filter((block) => types.length === 0 || block.types.some((type) => types.includes(type)))
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .map(() => document)
}

/** Documents of two authors in three folders, one below the other, and outside of them. */
async function writeDocuments(): Promise<{ documents: Written[]; folders: number[] }> {
  const base = await baseOf(ada)
  const folders: number[] = []
  for (const name of ['Outer', 'Middle', 'Inner']) {
    const parent = folders.at(-1)
    const { body } = await ada.post('/folders', {
      name,
      ...(parent === undefined ? { knowledge_base_id: base } : { parent_id: parent }),
    })
    folders.push(body.data.id)
  }
  const documents: Written[] = []
  for (let number = 0; number < 16; number += 1) {
    const text = (offset: number) =>
      vocabulary
        .filter((_, index) => ((number * 7 + offset * 5 + index * 3) * 2654435761) % 1000 < 600)
        .join(' and ') || 'none'
    const depth = number % 4
    const folder = folders[depth - 1]
    const content: BodyNode[] = [
      p(text(1)),
      { type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: text(2) }] },
      { type: 'codeBlock', content: [{ type: 'text', text: text(3) }] },
      { type: 'bulletList', content: [{ type: 'listItem', content: [p(text(4)), p(text(5))] }] },
      { type: 'taskList', content: [{ type: 'taskItem', attrs: { checked: false }, content: [p(text(6))] }] },
      { type: 'table', content: [{ type: 'tableRow', content: [{ type: 'tableCell', content: [p(text(7))] }] }] },
    ]
    const author = number % 3 === 0 ? bob : ada
    const title = text(8)
    const tags = ['Red', 'green'].filter((_, index) => number % (index + 2) === 0)
    const status = number % 5 === 0 ? '5' : 'open'
    const properties = { status: status === '5' ? 5 : number % 5 === 1 ? [status, 'new'] : status }
    const { id } = await write(author, content, {
      title,
      tags,
      properties,
      ...(folder === undefined ? { knowledge_base_id: base } : { folder_id: folder }),
    })
    const { body } = await ada.get(`/documents/${id}`)
    const { updated_at, updated_by } = body.data
    const types = [
      ...['paragraph', 'heading', 'codeBlock', 'paragraph listItem', 'paragraph listItem', 'paragraph listItem'],
      ...['paragraph table'],
    ]
    const blocks = types.map((of, index) => ({ types: of.split(' '), text: text(index + 1) }))
    documents.push({ id, title, folders: folders.slice(0, depth), updated_by, updated_at, tags, status, blocks })
  }
  await untilFresh(ada)
  return { documents, folders }
}

async function baseOf(client: Client): Promise<number> {
  return (await client.post('/knowledge-bases', { name: 'Base' })).body.data.id
}

/** All hits of an exhaustive search in pages of three, and the projection of the last page. */
async function exhaustive(client: Client, query: Query) {
  const hits: Hit[] = []
  for (let cursor: Query = []; ; ) {
    const { results, page, projection } = await search(client, [
      ...query,
      ['mode', 'exhaustive'],
      ['limit', 3],
      ...cursor,
    ])
    hits.push(...results)
    if (page.next_cursor === null) return { hits, projection }
    cursor = [['cursor', page.next_cursor]]
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of both versions
async function search(client: Client, query: Query, path = '/search/v2'): Promise<any> {
  const { status, text, body } = await client.get(`${path}?${queryOf(query)}`)
  if (status !== 200) throw new Error(`${path}?${queryOf(query)} answered ${status}: ${text}`)
  return body.data
}

function queryOf(query: Query): string {
  return new URLSearchParams(query.map(([name, value]): [string, string] => [name, String(value)])).toString()
}

function idOf({ document_id }: Hit): string {
  return document_id
}
