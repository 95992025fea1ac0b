import { ownDocuments, packageDocuments } from '../../search/relevance/corpus.ts'
import { meanOf, relevanceOf } from '../../search/relevance/measures.ts'
import { type Kind, labelledQueries } from '../../search/relevance/queries.ts'
import { documentsFound, writeCorpus } from '../../search/relevance/service.ts'
import { t } from '../../support/tap.ts'
import { startSearchService, untilFresh } from '../../support/workers.ts'

// What a person would lose below the least nDCG@10 of each kind. `npm run bench -- relevance` measures the whole set.
const promises: readonly { kind: Kind; least: number; promise: string }[] = [
  { kind: 'plain', least: 0.95, promise: 'words lead to the document that has them' },
  { kind: 'inflected', least: 0.9, promise: 'other forms of a word lead to the same document, in many languages' },
  { kind: 'misspelt', least: 0.85, promise: 'a misspelt word leads to its document once the suggestion is followed' },
  { kind: 'prefix', least: 0.9, promise: 'a word that is still being typed leads to its document' },
  { kind: 'identifier', least: 0.95, promise: 'a name from code is found, whole and by its parts' },
  { kind: 'version', least: 0.9, promise: 'a version is found with its product, in full or abbreviated' },
  { kind: 'file name', least: 0.95, promise: 'a file name is found with its folders and without them' },
  { kind: 'phrase', least: 0.95, promise: 'quoted words are found in their order' },
  { kind: 'two subjects', least: 0.85, promise: 'words about two parts of a document lead to the document' },
  { kind: 'question', least: 0.85, promise: 'a question leads to the document that answers it' },
]

const service = await startSearchService(t)
const ada = await service.signUp()
const few = new Set([
  ...['helmet', 'cors', 'ws', 'yauzl', 'yazl', 'p-limit', 'ulid', 'eventsource', 'jsonc-parser/CHANGELOG'],
])
const documents = [...ownDocuments(), ...packageDocuments().filter(({ name }) => few.has(name))]
const names = await writeCorpus(ada, documents)
await untilFresh(ada)

for (const { kind, least, promise } of promises) {
  t.test(promise, async (t) => {
    const there = new Set(names.values())
    const queries = labelledQueries.filter(
      (query) => query.kind === kind && [...query.grades.keys()].every((name) => there.has(name)),
    )
    const found = await Promise.all(queries.map((query) => documentsFound(ada, { query, names })))
    const figures = queries.map((query, index) => relevanceOf(query, found[index] ?? []))
    const lost = queries.filter((_, index) => (figures[index]?.ndcg ?? 0) < 0.5).map(({ q }) => q)
    const { ndcg } = meanOf(figures)
    t.ok(
      ndcg >= least,
      `${ndcg.toFixed(3)} of at least ${least} for ${queries.length} queries; lost: ${lost.join(', ')}`,
    )
  })
}

t.test('every label names a document of the corpus, so that no query is wrongly counted as lost', async (t) => {
  const all = new Set([...ownDocuments(), ...packageDocuments()].map(({ name }) => name))
  const unknown = labelledQueries.flatMap(({ grades }) => [...grades.keys()]).filter((name) => !all.has(name))
  t.strictSame(unknown, [])
})
