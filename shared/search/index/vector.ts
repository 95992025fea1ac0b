import { impact } from '../ranking/bm25.ts'
import { fieldWeights, referenceLength, tierThresholds, titleTiers } from '../ranking/tuning.ts'
import { isIndexable, quoteLexeme, tierLexeme, unmarked } from '../text/lexemes.ts'
import { type Token, tokenise } from '../text/tokenise.ts'
import { isVocabulary } from '../text/vocabulary.ts'

/** The last position that a tsvector can hold; tokens behind it are indexed without a position. */
export const maxPosition = 16_383

// The most positions that PostgreSQL keeps of a lexeme.
const maxPositions = 255
// The largest value of the column that holds the length of a block.
const maxLength = 32_767
// The most bytes of lexemes and positions in a vector. PostgreSQL allows 2^20 bytes; the margin is for the padding
// between the lexemes.
const maxBytes = 1_000_000

/** A block or title from which a row of the index is made. */
export type BlockInput = {
  text: string
  /** The language in which the text is stemmed. */
  language: string
  isTitle: boolean
  isHeading: boolean
  /** Lexemes that narrow a search down to the scope of the block. */
  scopes: readonly string[]
}

/**
 * Makes what the index holds of a block: a literal for `::tsvector`, the number of its words, at most 32,767, as the
 * length for BM25, and its words for the vocabulary. Beside the tokens and their stems the vector has lexemes without
 * positions: the scopes and the impact tiers. A repeated word has weight A, so that `ts_rank` can leave it out.
 *
 * Whatever exceeds PostgreSQL's limits is left out. Positions after 16,383, and after the 255th of a lexeme, are left
 * out, so phrases are not found there. Lexemes are left out once the vector has 1 MB.
 */
export function blockVector({ text, language, isTitle, isHeading, scopes }: BlockInput): {
  tsv: string
  length: number
  words: ReadonlySet<string>
} {
  const tokens = tokenise(text, [language])
  const length = Math.min(tokens.filter(({ kind, repeated }) => kind !== 'whole' && !repeated).length, maxLength)
  const weight = fieldWeights[isTitle ? 'title' : isHeading ? 'heading' : 'body']
  const sureTiers = isTitle ? titleTiers : 0
  const literal = new Literal()
  for (const scope of scopes) literal.add(scope, [])
  for (const [lexeme, positions] of postingsOf(tokens)) literal.add(lexeme, positions)
  for (const [lexeme, occurrences] of wordCounts(tokens)) {
    const weighted = weight * impact({ occurrences, length, averageLength: referenceLength })
    tierThresholds.forEach((threshold, index) => {
      if (weighted >= threshold || index < sureTiers) literal.add(tierLexeme(index + 1, lexeme), [])
    })
  }
  return { tsv: literal.text(), length, words: new Set(tokens.filter(isVocabulary).map(({ lexeme }) => lexeme)) }
}

/** The positions of each lexeme as a tsvector literal writes them. */
type Postings = Map<string, string[]>

function postingsOf(tokens: readonly Token[]): Postings {
  const postings: Postings = new Map()
  for (const { lexeme, stems, position, repeated } of tokens) {
    const entry = position > maxPosition ? null : `${position}${repeated ? 'A' : ''}`
    post(postings, lexeme, entry)
    for (const stem of stems) post(postings, stem, entry)
  }
  return postings
}

function post(postings: Postings, lexeme: string, entry: string | null): void {
  let entries = postings.get(lexeme)
  if (!entries) {
    entries = []
    postings.set(lexeme, entries)
  }
  if (entry !== null && entries.length < maxPositions && entries.at(-1) !== entry) entries.push(entry)
}

/**
 * Counts the occurrences of each word in all its forms. The key is the stem of the word, or the word itself where no
 * stem is known.
 */
function wordCounts(tokens: readonly Token[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { lexeme, stems, repeated } of tokens) {
    if (repeated) continue
    for (const word of stems.length > 0 ? stems : [lexeme]) {
      const name = unmarked(word)
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return counts
}

/** A tsvector literal that grows until it reaches PostgreSQL's limit. */
class Literal {
  readonly #entries: string[] = []
  #bytes = 0

  /** Adds a lexeme. Leaves out a lexeme that is too long, and every lexeme once the vector is full. */
  add(lexeme: string, positions: readonly string[]): void {
    if (!isIndexable(lexeme)) return
    this.#bytes += Buffer.byteLength(lexeme) + 2 * positions.length + 4
    if (this.#bytes > maxBytes) return
    const quoted = quoteLexeme(lexeme)
    this.#entries.push(positions.length === 0 ? quoted : `${quoted}:${positions.join(',')}`)
  }

  text(): string {
    return this.#entries.join(' ')
  }
}
