import { fieldWeights, impact, tierThresholds } from './bm25.ts'
import { isIndexable, quoteLexeme, tierLexeme, unmarked } from './lexemes.ts'
import { type Token, tokenise } from './tokenise.ts'

/** A row of the index to be: its text, the language it is stemmed in, its field, and lexemes that narrow its scope. */
export type BlockInput = {
  text: string
  language: string
  isTitle: boolean
  isHeading: boolean
  scopes: readonly string[]
}

/**
 * What the index holds of a block: a literal for `::tsvector` and the length in token positions (at most 32767) that
 * BM25 takes. Beside the tokens with their stems there are position-free lexemes: the scopes, and impact tiers
 * (search memo, section 1). What exceeds PostgreSQL's bounds is left out: positions after 16383 and after the 255th of a
 * lexeme, so that phrases are not found there, and lexemes after the first megabyte.
 */
export function blockVector({ text, language, isTitle, isHeading, scopes }: BlockInput): {
  tsv: string
  length: number
} {
  const tokens = tokenise(text, [language])
  const length = Math.min(tokens.findLast(({ kind }) => kind !== 'aside')?.position ?? 0, maxLength)
  const weight = fieldWeights[isTitle ? 'title' : isHeading ? 'heading' : 'body']
  const literal = new Literal()
  for (const scope of scopes) literal.add(scope, [])
  for (const [lexeme, positions] of postingsOf(tokens)) literal.add(lexeme, positions)
  for (const [lexeme, occurrences] of wordCounts(tokens)) {
    const weighted = weight * impact({ occurrences, length })
    tierThresholds.forEach((threshold, index) => {
      if (weighted >= threshold) literal.add(tierLexeme(index + 1, lexeme), [])
    })
  }
  return { tsv: literal.text(), length }
}

const maxLength = 32_767
const maxPosition = 16_383
const maxPositions = 255
// PostgreSQL allows 1 MB of lexemes and positions; the margin covers its alignment.
const maxBytes = 1_000_000

function postingsOf(tokens: readonly Token[]): Map<string, number[]> {
  const postings = new Map<string, number[]>()
  for (const { lexeme, stems, position } of tokens) {
    post(postings, lexeme, position)
    for (const stem of stems) post(postings, stem, position)
  }
  return postings
}

function post(postings: Map<string, number[]>, lexeme: string, position: number): void {
  let positions = postings.get(lexeme)
  if (!positions) {
    positions = []
    postings.set(lexeme, positions)
  }
  if (position <= maxPosition && positions.length < maxPositions && positions.at(-1) !== position) {
    positions.push(position)
  }
}

/** How often each word occurs in whatever form, by its stem where it has one. */
function wordCounts(tokens: readonly Token[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { lexeme, stems } of tokens) {
    for (const word of stems.length > 0 ? stems : [lexeme]) {
      const name = unmarked(word)
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return counts
}

/** A tsvector literal that grows as long as PostgreSQL will take it. */
class Literal {
  readonly #entries: string[] = []
  #bytes = 0

  /** Adds a lexeme; one that is too long is passed over, as all are once the vector is full. */
  add(lexeme: string, positions: readonly number[]): void {
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
