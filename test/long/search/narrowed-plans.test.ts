import { sql } from '../../../shared/database/database.ts'
import { indexStatistics } from '../../../shared/search/ranking/selectivity.ts'
import { searchExhaustive, searchTopK } from '../../../shared/search/search.ts'
import type { DocumentFilters } from '../../../shared/search/statement/request.ts'
import { scoresOf, textOf } from '../../support/ranked-texts.ts'
import { writeBlocks } from '../../support/search-blocks.ts'
import { sharedService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'

// Enough blocks that PostgreSQL's statistics decide how a search reads them.
const documents = 60
const texts = Array.from({ length: 12_000 }, (_, index) => textOf(index))
const service = await sharedService()
const { scope, ids } = await writeBlocks(service, { texts, documents })
const { averageLength } = await indexStatistics(service.database)
const results = new Map<string, { scores: number[]; matching: number[] }>()
// The documents have been changed one minute after the other, the last document first.
for (const [index, id] of ids.entries()) {
  await service.database.query(sql.unsafe`
    UPDATE documents SET updated_at = now() - ${index} * interval '1 minute', node_count = ${12_000 / documents}
    WHERE id = ${id}`)
}

const all: { name: string; filters: DocumentFilters; passes: (document: number) => boolean }[] = [
  { name: 'one document', filters: { documentId: ids[7] ?? '' }, passes: (document) => document === 7 },
  { name: 'the newest ten', filters: { updatedAfter: minutesAgo(9.5) }, passes: (document) => document < 10 },
  { name: 'the oldest half', filters: { updatedBefore: minutesAgo(29.5) }, passes: (document) => document >= 30 },
  { name: 'all', filters: { updatedAfter: 0 }, passes: () => true },
  { name: 'none', filters: { updatedBefore: 0 }, passes: () => false },
]
const queries = [
  ...['kernel', 'memory', 'kernel memory', 'ouverture', 'word7x', 'word7x kernel', 'absent', '"kernel memory"'],
]

t.test('however many blocks match, a narrowed search returns the best hits of its documents', async (t) => {
  for (const { name, filters, passes } of all) {
    for (const q of queries) {
      const { scores: ofAll, matching } = resultOf(q)
      const passing = matching.filter((ord) => passes(documentOf(ord)))
      const scores = passing.map((ord) => ofAll[ord - 1] ?? 0).sort((a, b) => b - a)
      const { hits, projection } = await searchTopK(service.database, search(q, filters))
      t.equal(hits.length, Math.min(10, scores.length), `${q} in ${name}`)
      t.equal(projection.document_count, ids.filter((_, document) => passes(document)).length)
      const tenth = scores[9] ?? 0
      const among = hits.filter(({ hit }) => (ofAll[hit.ord - 1] ?? 0) >= tenth - 1e-6)
      t.ok(among.length >= 0.9 * hits.length, `${among.length} of the ten best for ${q} in ${name}`)
      if (hits[0]?.explanation.exact) t.equal(among.length, hits.length, `${q} in ${name} says that it is exact`)
    }
  }
})

t.test('however many blocks match, the newest documents come first', async (t) => {
  for (const { name, filters, passes } of all) {
    for (const q of queries) {
      const { hits } = await searchTopK(service.database, { ...search(q, filters), sort: 'updated_at' })
      const matching = resultOf(q).matching.filter((ord) => passes(documentOf(ord)))
      const newestFirst = matching.map((ord) => documentOf(ord)).sort((a, b) => a - b)
      t.strictSame(
        hits.map(({ hit }) => documentOf(hit.ord)),
        newestFirst.slice(0, 10),
        `${q} in ${name}`,
      )
    }
  }
})

t.test('however many blocks match, all matches of a document are counted', async (t) => {
  for (const { name, filters, passes } of all) {
    for (const q of queries) {
      for (const sort of ['relevance', 'updated_at'] as const) {
        const { hits } = await searchTopK(service.database, { ...search(q, filters), sort, perDocument: 2 })
        const counts = Map.groupBy(
          resultOf(q).matching.filter((ord) => passes(documentOf(ord))),
          (ord) => documentOf(ord),
        )
        const shown = Map.groupBy(hits, ({ hit }) => documentOf(hit.ord))
        const most = [...counts.values()].reduce((sum, { length }) => sum + Math.min(2, length), 0)
        t.equal(hits.length, Math.min(10, most), `${q} in ${name} by ${sort}`)
        for (const [document, group] of shown) {
          const further = (counts.get(document)?.length ?? 0) - group.length
          t.ok(group.length <= 2 && group.every(({ moreInDocument }) => moreInDocument === further), `${q} in ${name}`)
        }
      }
    }
  }
})

t.test('pages of all hits in few documents are those of a search that reads the lists of the words', async (t) => {
  for (const { name, filters, passes } of all) {
    for (const q of ['kernel memory', 'word7x', 'memory']) {
      const found: number[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await searchExhaustive(service.database, { ...search(q, filters), limit: 100, cursor })
        found.push(...page.hits.map(({ hit }) => hit.ord))
        cursor = page.nextCursor
      }
      const expected = resultOf(q).matching.filter((ord) => passes(documentOf(ord)))
      t.strictSame(
        found.toSorted((a, b) => a - b),
        expected,
        `${q} in ${name}`,
      )
    }
  }
})

/** The number of the document with a block. */
function documentOf(ord: number): number {
  return (ord - 1) % documents
}

function search(q: string, filters: DocumentFilters) {
  return { q, scope: { ...scope, filters }, limit: 10, relax: false }
}

function minutesAgo(minutes: number): number {
  return Date.now() - minutes * 60_000
}

/** The scores of all blocks for a query, and the numbers of the blocks that match, from 1. */
function resultOf(q: string): { scores: number[]; matching: number[] } {
  const known = results.get(q)
  if (known !== undefined) return known
  const scores = scoresOf(texts, { q, averageLength })
  const result = { scores, matching: scores.flatMap((score, index) => (score > 0 ? [index + 1] : [])) }
  results.set(q, result)
  return result
}
