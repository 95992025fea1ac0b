import pg from 'pg'
import { sql } from '../../../shared/database/database.ts'
import { searchExhaustive, searchTopK } from '../../../shared/search/search.ts'
import { rowsReadBy, statementsOf } from '../../support/plans.ts'
import { textOf } from '../../support/ranked-texts.ts'
import { writeBlocks } from '../../support/search-blocks.ts'
import { startTestService } from '../../support/service.ts'
import { type Test, t } from '../../support/tap.ts'

// The word `always` stands in every block, and in every fifth title. `kernel` stands in many blocks and in six titles.
const documents = 300
const texts = Array.from({ length: 12_000 }, (_, index) => textOf(index))
const titles = Array.from({ length: documents }, (_, index) =>
  [`text${index}x`, ...(index % 5 === 0 ? ['always'] : []), ...(index % 50 === 3 ? ['kernel'] : [])].join(' '),
)
const service = await startTestService(t)
const { scope, ids } = await writeBlocks(service, { texts, documents, titles })
for (const [index, id] of ids.entries()) {
  await service.database.query(sql.unsafe`
    UPDATE documents SET title = ${titles[index] ?? ''}, node_count = ${12_000 / documents} WHERE id = ${id}`)
  await service.database.query(sql.unsafe`
    UPDATE search_documents s SET title = d.title, source_version = d.version
    FROM documents d WHERE d.id = s.document_id AND d.id = ${id}`)
}
await service.database.query(sql.unsafe`DELETE FROM stale_projections`)
for (const table of ['documents', 'search_documents', 'search_blocks']) {
  await service.database.query(sql.unsafe`VACUUM ANALYZE ${sql.identifier([table])}`)
}
const client = new pg.Client(service.url)
await client.connect()
t.teardown(() => client.end())

t.test('a title with a common word is found without reading the blocks with this word', async (t) => {
  const bounds: Record<string, number> = {
    'title:always kernel': 2000,
    'title:kernel memory': 600,
    'title:kernel always': 600,
    'title:always title:kernel memory': 600,
    'title:always': 600,
  }
  await readsAtMost(t, bounds)
})

t.test('a title or a rare word is found without reading the blocks with the word of the title', async (t) => {
  await readsAtMost(t, { 'title:always OR ouverture': 600 }, exhaustive)
})

t.test('blocks with either of two common words are not counted in each search', async (t) => {
  await readsAtMost(t, { 'kernel OR memory': 1800 })
})

t.test('a search in documents with a title finds all matches in them, and no others', async (t) => {
  for (const [q, title, word] of [
    ['title:always kernel', 'always', 'kernel'],
    ['title:kernel always', 'kernel', 'always'],
    ['title:kernel ouverture', 'kernel', 'ouverture'],
    ['title:absent kernel', 'absent', 'kernel'],
  ] as const) {
    const isAsked = (document: number) => titles[document]?.split(' ').includes(title) === true
    const expected = [
      ...texts.flatMap((text, index) => (isAsked(index % documents) && text.split(' ').includes(word) ? [text] : [])),
      ...titles.filter((text, document) => isAsked(document) && text.split(' ').includes(word)),
    ].sort()
    t.strictSame((await exhaustive(q)).sort(), expected, q)
    const best = await ranked(q)
    t.equal(best.length, Math.min(10, expected.length), q)
    t.ok(
      best.every((text) => expected.includes(text)),
      q,
    )
  }
})

t.test('of a title or a word, the titles with either and the blocks with the word are found', async (t) => {
  for (const word of ['ouverture', 'kernel']) {
    const q = `title:always OR ${word}`
    const expected = [
      ...texts.filter((text) => text.split(' ').includes(word)),
      ...titles.filter((text) => text.split(' ').some((part) => part === 'always' || part === word)),
    ].sort()
    t.strictSame((await exhaustive(q)).sort(), expected, q)
    const best = await ranked(q)
    t.equal(best.length, 10, q)
    t.ok(
      best.every((text) => expected.includes(text)),
      q,
    )
  }
})

/** Asserts how many rows each statement of some searches reads at most. */
async function readsAtMost(
  t: Test,
  bounds: Record<string, number>,
  search: (q: string) => Promise<unknown> = ranked,
): Promise<void> {
  for (const [q, most] of Object.entries(bounds)) {
    const sent = await statementsOf(async () => {
      await search(q)
    })
    const read = sent.filter(({ text }) => text.includes('FROM search_blocks'))
    t.ok(read.length > 0, q)
    for (const statement of read) {
      const { most: rows, plan } = await rowsReadBy(client, statement)
      t.ok(rows <= most, `${q} reads at most ${most} rows: ${rows} in\n${plan}`)
    }
  }
}

async function ranked(q: string): Promise<string[]> {
  const search = { q, scope, limit: 10, relax: false, syntax: 'operators' as const }
  const { hits } = await searchTopK(service.database, search)
  return hits.map(({ hit }) => hit.body)
}

async function exhaustive(q: string): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const search = { q, scope, limit: 1000, syntax: 'operators' as const, cursor }
    const page = await searchExhaustive(service.database, search)
    found.push(...page.hits.map(({ hit }) => hit.body))
    cursor = page.nextCursor
  }
  return found
}
