import fc from 'fast-check'
import { queryString, searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

/*
 * Random queries with operators, each answered as a plain reading of the guide says, over a small corpus of invented
 * words.
 */

const words = ['kaxil', 'kaxom', 'brumt', 'brudt', 'zelk', 'vint']
const documents = Array.from({ length: 24 }, (_, index) => ({
  title: wordsAt(index, 2).join(' '),
  blocks: Array.from({ length: 1 + (index % 3) }, (_, block) =>
    wordsAt(index * 7 + block * 5 + 1, 1 + ((index + block) % 4)),
  ),
}))

const service = await startSearchService(t)
const ada = await service.signUp()
const titles = new Map<string, string>()
for (const [index, { title, blocks }] of documents.entries()) {
  const text = blocks.map((block) => block.join(' ')).join('\n\n')
  const { id } = await write(ada, text, { title: `${title} n${index}` })
  titles.set(id, `${title} n${index}`)
}
await untilFresh(ada)

type Clause = { inTitle: boolean; words: string[]; form: 'word' | 'phrase' | 'prefix' }
type Group = { excluded: boolean; clauses: Clause[] }

const word = fc.constantFrom(...words)
const clause: fc.Arbitrary<Clause> = fc.oneof(
  word.map((text) => ({ inTitle: false, words: [text], form: 'word' as const })),
  fc.tuple(word, word).map((pair) => ({ inTitle: false, words: pair, form: 'phrase' as const })),
  fc
    .constantFrom('ka', 'bru', 'brum', 'vi')
    .map((text) => ({ inTitle: false, words: [text], form: 'prefix' as const })),
)
const anywhere = fc.tuple(clause, fc.boolean(), fc.boolean()).map(([one, a, b]) => ({ ...one, inTitle: a && b }))
const group: fc.Arbitrary<Group> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(anywhere, { minLength: 1, maxLength: 3 }).map((clauses) => ({ excluded: false, clauses })),
  },
  { weight: 1, arbitrary: anywhere.map((one) => ({ excluded: true, clauses: [one] })) },
)

t.test('operators find exactly what a plain reading of them finds', async (t) => {
  let found = 0
  await fc.assert(
    fc.asyncProperty(fc.array(group, { minLength: 1, maxLength: 4 }), async (groups) => {
      const q = groups.map(writtenGroup).join(' ')
      const query = { q, syntax: 'operators', mode: 'exhaustive', limit: 100 }
      if (groups.every(({ excluded }) => excluded)) {
        const { status, body } = await ada.get(`/search/v2?${queryString(query)}`)
        if (status !== 400 || body.error.code !== 'invalid_query') throw new Error(`${q} was answered ${status}`)
        return
      }
      const { results } = await searchV2(ada, query)
      const expected = expectedHits(groups)
      found += expected.length
      const actual = results.map(labelOf).sort()
      if (JSON.stringify(actual) !== JSON.stringify(expected.sort())) {
        throw new Error(`${q} found ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`)
      }
      const ranked = (await searchV2(ada, { ...query, mode: 'topk' })).results
      const strict = ranked.filter((hit: { score_explanation: { relaxed: boolean } }) => !hit.score_explanation.relaxed)
      if (JSON.stringify(strict.map(labelOf).sort()) !== JSON.stringify(actual))
        throw new Error(`${q} is ranked otherwise`)
    }),
  )
  t.ok(found > 100)
})

function expectedHits(groups: readonly Group[]): string[] {
  const required = groups.filter(({ excluded }) => !excluded)
  const excluded = groups.filter((one) => one.excluded).flatMap(({ clauses }) => clauses)
  const isText = ({ inTitle }: Clause) => !inTitle
  const ofText = required.filter(({ clauses }) => clauses.every(isText))
  const alternatives = required.flatMap(({ clauses }) => clauses.filter(isText))
  return documents.flatMap(({ title, blocks }, index) => {
    const name = [...title.split(' '), `n${index}`]
    const rows = [{ isTitle: true, text: name }, ...blocks.map((text) => ({ isTitle: false, text }))]
    const matching = rows.filter(({ isTitle, text }) => {
      const holds = (one: Clause) => stands(one, one.inTitle ? name : text)
      if (!required.every(({ clauses }) => clauses.some(holds)) || excluded.some(holds)) return false
      return ofText.length > 0 || isTitle || alternatives.some(holds)
    })
    return matching.map(({ isTitle, text }) => `${isTitle ? 'title' : text.join(' ')} of ${name.join(' ')}`)
  })
}

function stands({ words: sought, form }: Clause, text: readonly string[]): boolean {
  return text.some((_, at) =>
    sought.every((one, offset) => (form === 'prefix' ? text[at + offset]?.startsWith(one) : text[at + offset] === one)),
  )
}

function writtenGroup({ excluded, clauses }: Group): string {
  const written = clauses.map(({ inTitle, words: sought, form }) => {
    const text = form === 'phrase' ? `"${sought.join(' ')}"` : `${sought.join(' ')}${form === 'prefix' ? '*' : ''}`
    return `${excluded ? '-' : ''}${inTitle ? 'title:' : ''}${text}`
  })
  return written.join(' OR ')
}

type Result = {
  document_id: string
  block_id: string | null
  context: { before: string | null; match: string; after: string | null }
}

function labelOf({ document_id, block_id, context }: Result): string {
  const text = `${context.before ?? ''}${context.match}${context.after ?? ''}`
  return `${block_id === null ? 'title' : text} of ${titles.get(document_id)}`
}

function wordsAt(seed: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => words[(seed * 5 + index * index * 3 + index) % words.length] ?? '')
}
