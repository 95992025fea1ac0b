import { setImmediate } from 'node:timers/promises'
import type { Queryable } from '../database/database.ts'
import { codePoints } from '../schema/code-points.ts'
import type { Clause, Query } from './matching/grammar.ts'
import { inScopes, type TermQuery, termQueries } from './matching/query.ts'
import type { Term } from './matching/term.ts'
import { inTier } from './ranking/cuts.ts'
import type { IndexStatistics } from './ranking/selectivity.ts'
import { titleTiers } from './ranking/tuning.ts'
import type { SearchScope } from './statement/request.ts'
import { countInScope, probeVocabulary } from './statement/vocabulary.ts'
import { quoteLexeme, type ScopeLexemes } from './text/lexemes.ts'
import { editDistance, mostEdits, probesOf } from './text/spelling.ts'
import { type Token, tokenise } from './text/tokenise.ts'
import { isVocabulary } from './text/vocabulary.ts'
import { allOf, workspacesOf } from './workspaces.ts'

// A query has at most so many words that are corrected, and each of them so many words to choose from.
const mostUnknown = 4
const mostCandidates = 12
// Blocks are counted up to this number: whether a word is still more frequent does not matter.
const countedBlocks = 50
// Known words that a candidate should stand beside.
const mostNeighbours = 6

type Suggestible = {
  query: Query
  scope: SearchScope
  /** The scope lexemes, which each match carries. */
  scopes: ScopeLexemes
  languages: readonly string[]
  /** Blocks of the documents that filters leave, where these are few; otherwise null. */
  blocksInList: number | null
  statistics: IndexStatistics
}

/**
 * The query with its unknown words replaced by the nearest words of the searched scope; null where no word can be
 * replaced. Unknown is a word that no block in scope contains. A word of which not all blocks could be looked at counts
 * as known (`countInScope`). An unknown word is replaced only if it has at least four characters, by a word at most one
 * edit away, or two from eight characters on. Of equally near words, the word is taken that stands in the same blocks
 * as the known words, and then the more frequent word. The vocabulary is that of the workspaces, so each word of it is
 * confirmed in the scope. Pass a snapshot as `db`. The work is bounded: the first four unknown words are replaced.
 */
export async function suggestionFor(db: Queryable, { query, languages, ...searched }: Suggestible) {
  const words = query.required.flat().flatMap((clause) => wordsOf(clause, languages))
  if (words.every(({ most }) => most === 0)) return null
  const absent = await absentWords(db, { words, searched })
  const known = words.filter((word) => !absent.has(word)).map(({ term }) => inScopeOf(searched, term.tsquery))
  const unknown = words.filter((word) => word.most > 0 && absent.has(word))
  const distinct = [...new Map(unknown.map((word) => [word.lexeme, word])).values()].slice(0, mostUnknown)
  const candidates = await nearestWords(db, { words: distinct, scope: searched.scope })
  const counts = await countsOf(db, { ...searched, candidates: candidates.flat(), known })
  const replacements = new Map(
    distinct.flatMap(({ lexeme }, index) => {
      const best = bestOf(candidates[index] ?? [], counts)
      return best === undefined ? [] : [[lexeme, best] as const]
    }),
  )
  return replacements.size === 0 ? null : replaced(query.text, unknown, replacements)
}

// The short lists of the blocks with much impact are read first. Most words that are known stand in such a block.
async function absentWords(
  db: Queryable,
  { words, searched }: { words: readonly QueryWord[]; searched: Searched },
): Promise<ReadonlySet<QueryWord>> {
  const counted = async (some: readonly QueryWord[], tsqueryOf: (word: QueryWord) => string) => {
    const tsqueries = some.map((word) => inScopeOf(searched, tsqueryOf(word)))
    const counts = some.length === 0 ? [] : await countInScope(db, { ...searched, tsqueries, most: 1 })
    return new Map(some.map((word, index) => [word, counts[index] ?? 0]))
  }
  const inTitles = await counted(words, ({ term }) => inTier(term, titleTiers))
  const others = words.filter((word) => inTitles.get(word) === 0 || inTitles.get(word) === 'unknown')
  const counts = await counted(others, ({ term }) => term.tsquery)
  return new Set(others.filter((word) => counts.get(word) === 0))
}

// The lists of the words hold the blocks of all workspaces. The index leaves out the others where the searched
// workspaces are small.
function inScopeOf({ scope, scopes, statistics }: Searched, tsquery: string): string {
  return allOf([inScopes(tsquery, scopes), workspacesOf(scope, statistics)])
}

type Searched = Pick<Suggestible, 'scope' | 'scopes' | 'statistics' | 'blocksInList'>

/** A word of a query, at UTF-16 offsets of its text. `most` is the number of edits that may be corrected. */
type QueryWord = { lexeme: string; start: number; end: number; most: 0 | 1 | 2; term: Term & TermQuery }

function wordsOf(clause: Clause, languages: readonly string[]): QueryWord[] {
  if (clause.prefix === 'only') return []
  const tokens = tokenise(clause.text, []).filter(({ kind }) => kind === 'word')
  return tokens.flatMap((token, index) => {
    const { start, end, lexeme } = token
    const text = clause.text.slice(start, end)
    const prefix = index === tokens.length - 1 ? clause.prefix : 'no'
    const required = [[{ text, phrase: false, prefix, inTitle: false, start: 0 }]]
    const [term] = termQueries({ text, required, excluded: [], exclusionsAlone: null }, languages)
    if (term === undefined || term.stop) return []
    const most = isVocabulary(token) ? mostEdits(lengthOf(token, text)) : 0
    return [{ lexeme, start: clause.start + start, end: clause.start + end, most, term }]
  })
}

// The length of a word as it was typed. Neither accents nor letters that fold to two letters make a word longer.
function lengthOf({ lexeme }: Token, text: string): number {
  return Math.min(codePoints(text), codePoints(lexeme))
}

type Candidate = { word: string; edits: number }

/** For each word its nearest words of the vocabulary, the nearest first. */
async function nearestWords(db: Queryable, of: { words: readonly QueryWord[]; scope: SearchScope }) {
  if (of.words.length === 0) return []
  const probes = of.words.map(({ lexeme, most }) => {
    const length = codePoints(lexeme)
    return { ...probesOf(lexeme, most === 2 ? 2 : 1), shortest: length - most, longest: length + most }
  })
  const found = await probeVocabulary(db, { probes, workspaceIds: of.scope.workspaceIds })
  const nearest: Candidate[][] = []
  for (const [index, { lexeme, most }] of of.words.entries()) {
    // Comparing some thousand words takes a few milliseconds, so other work of the process may run in between.
    await setImmediate()
    const characters = Array.from(lexeme)
    const near = (found[index] ?? [])
      .map((word) => ({ word, edits: editDistance(characters, Array.from(word), most) }))
      .filter(({ word, edits }) => edits <= most && word !== lexeme)
    const first = characters[0] ?? ''
    const begins = ({ word }: Candidate) => Number(word.startsWith(first))
    near.sort((a, b) => a.edits - b.edits || begins(b) - begins(a) || compare(a.word, b.word))
    nearest.push(near.slice(0, mostCandidates))
  }
  return nearest
}

/** How many blocks in scope hold a word, and how many of them hold the known words, too. */
type Counts = { alone: number; together: number }

async function countsOf(
  db: Queryable,
  of: Searched & { candidates: readonly Candidate[]; known: readonly string[] },
): Promise<ReadonlyMap<string, Counts>> {
  const words = [...new Set(of.candidates.map(({ word }) => word))]
  if (words.length === 0) return new Map()
  const alone = words.map((word) => inScopeOf(of, quoteLexeme(word)))
  const neighbours = of.known.slice(0, mostNeighbours).map((tsquery) => `(${tsquery})`)
  const together = neighbours.length === 0 ? [] : alone.map((tsquery) => [tsquery, ...neighbours].join(' & '))
  const counts = await countInScope(db, { ...of, tsqueries: [...alone, ...together], most: countedBlocks })
  const countAt = (index: number) => (counts[index] === 'unknown' ? 0 : (counts[index] ?? 0))
  return new Map(words.map((word, index) => [word, { alone: countAt(index), together: countAt(words.length + index) }]))
}

function bestOf(candidates: readonly Candidate[], counts: ReadonlyMap<string, Counts>): string | undefined {
  const confirmed = candidates.flatMap(({ word, edits }) => {
    const { alone = 0, together = 0 } = counts.get(word) ?? {}
    return alone === 0 ? [] : [{ word, edits, alone, together }]
  })
  // Equal words stay in the order of `nearestWords`.
  confirmed.sort((a, b) => a.edits - b.edits || b.together - a.together || b.alone - a.alone)
  return confirmed[0]?.word
}

function replaced(text: string, words: readonly QueryWord[], replacements: ReadonlyMap<string, string>): string {
  let result = ''
  let end = 0
  for (const word of words) {
    result += text.slice(end, word.start) + (replacements.get(word.lexeme) ?? text.slice(word.start, word.end))
    end = word.end
  }
  return result + text.slice(end)
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
