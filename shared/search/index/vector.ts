import { fieldWeights, impact, tierThresholds, titleTiers, usualLength } from '../ranking/bm25.ts'
import { isIndexable, quoteLexeme, tierLexeme, unmarked } from '../text/lexemes.ts'
import { type Token, tokenise } from '../text/tokenise.ts'

/** A row of the index to be: its text, the language it is stemmed in, its field, and lexemes that narrow its scope. */
export type BlockInput = {
  text: string
  language: string
  isTitle: boolean
  isHeading: boolean
  scopes: readonly string[]
}

/**
 * What the index holds of a block: a literal for `::tsvector` and the number of its words (at most 32767), which BM25
 * takes for its length. A word that is repeated has the weight A there, so that `ts_rank` can leave it out. Beside the tokens with their stems there are position-free lexemes: the scopes, and impact tiers
 * (search memo, section 1). What exceeds PostgreSQL's bounds is left out: positions after 16383 and after the 255th of a
 * lexeme, so that phrases are not found there, and lexemes after the first megabyte.
 */
export function blockVector({ text, language, isTitle, isHeading, scopes }: BlockInput): {
  tsv: string
  length: number
} {
  const tokens = tokenise(text, [language])
  const length = Math.min(tokens.filter(({ kind, repeated }) => kind !== 'whole' && !repeated).length, maxLength)
  const weight = fieldWeights[isTitle ? 'title' : isHeading ? 'heading' : 'body']
  const sureTiers = isTitle ? titleTiers : 0
  const literal = new Literal()
  for (const scope of scopes) literal.add(scope, [])
  for (const [lexeme, positions] of postingsOf(tokens)) literal.add(lexeme, positions)
  for (const [lexeme, occurrences] of wordCounts(tokens)) {
    const weighted = weight * impact({ occurrences, length, averageLength: usualLength })
    tierThresholds.forEach((threshold, index) => {
      if (weighted >= threshold || index < sureTiers) literal.add(tierLexeme(index + 1, lexeme), [])
    })
  }
  return { tsv: literal.text(), length }
}

const maxLength = 32_767
/** Behind this place in a text a tsvector has no positions. */
export const maxPosition = 16_383
const maxPositions = 255
// PostgreSQL allows 1 MB of lexemes and positions; the margin covers its alignment.
const maxBytes = 1_000_000

/** Positions as they are written in a tsvector, by lexeme. */
type Postings = Map<string, string[]>

function postingsOf(tokens: readonly Token[]): Postings {
  const postings: Postings = new Map()
  for (const { lexeme, stems, position, repeated } of tokens) {
    const place = position > maxPosition ? null : `${position}${repeated ? 'A' : ''}`
    post(postings, lexeme, place)
    for (const stem of stems) post(postings, stem, place)
  }
  return postings
}

function post(postings: Postings, lexeme: string, place: string | null): void {
  let places = postings.get(lexeme)
  if (!places) {
    places = []
    postings.set(lexeme, places)
  }
  if (place !== null && places.length < maxPositions && places.at(-1) !== place) places.push(place)
}

/** How often each word occurs in whatever form, by its stem where it has one. */
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

/** A tsvector literal that grows as long as PostgreSQL will take it. */
class Literal {
  readonly #entries: string[] = []
  #bytes = 0

  /** Adds a lexeme; one that is too long is passed over, as all are once the vector is full. */
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
