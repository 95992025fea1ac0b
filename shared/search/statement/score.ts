import { sql } from '../../database/database.ts'
import { maxPosition } from '../index/vector.ts'
import type { Step } from '../matching/term.ts'
import { verbatimImpact } from '../ranking/bm25.ts'
import {
  bm25,
  countable,
  fieldWeights,
  rankInverse,
  scoredForms,
  scoredSteps,
  wholeWordsFirst,
} from '../ranking/tuning.ts'
import { quoteLexeme, unmarked } from '../text/lexemes.ts'
import { fragmentOf, joined, Piece, piece } from './pieces.ts'
import type { ByScore, RankedTerm } from './request.ts'

/**
 * BM25 of a block `b`, computed by stock functions of PostgreSQL. The score is exact where each word has one form, else
 * an estimate; the best rows are scored again in Node. Blocks with the whole of a word that is being typed come
 * first. `counts.matching` holds the numbers of blocks with each term.
 */
export function blockScore({ terms, blocks, averageLength, minimumShouldMatch }: ByScore) {
  if (terms.length === 0) return sql.fragment`0::float8`
  const { k1, b } = bm25
  const forms = formsOfEach(terms)
  const lengthFactor = piece`(${k1 * (1 - b)}::float8 + ${(k1 * b) / averageLength}::float8 * b.length)`
  const parts = terms.map((term, index) => {
    const saturation = piece`1 - ${lengthFactor} / (${termOccurrences(term, forms)} + ${lengthFactor})`
    return piece`${rarity(index, blocks)} * (${saturation} + ${verbatimBonus(term)})`
  })
  const isRelaxed = minimumShouldMatch < terms.length
  return fragmentOf(
    piece`${bm25.k1 + 1}::float8 * ${fieldWeight} * (${joined(parts, ' + ')})${isRelaxed ? piece`` : wholeWordsBonus(terms)}`,
  )
}

// These numbers are constants of the statement, not parameters, since PostgreSQL uses them for each form in each
// candidate.
const inverse = {
  scale: constant(rankInverse.scale),
  one: constant(rankInverse.one),
  shift: constant(rankInverse.shift),
}

const fieldWeight = piece`
  (CASE b.type WHEN 'title' THEN ${fieldWeights.title}::float8 WHEN 'heading' THEN ${fieldWeights.heading}::float8
   ELSE ${fieldWeights.body}::float8 END)`

/**
 * How many forms of each word stand in the statement: an even number, at least two, with null for a missing form. So
 * queries for words with other numbers of forms share a statement, and its plan.
 */
function formsOfEach(terms: readonly RankedTerm[]): number {
  const most = Math.max(
    0,
    ...terms.flatMap(({ alternatives }) => alternatives.flat().map(({ lexemes }) => lexemes.length)),
  )
  return Math.min(scoredForms, Math.max(2, most + (most % 2)))
}

function constant(value: number): Piece {
  return new Piece([`'${value}'::float8`], [])
}

// The rarity of a term as SQL, by the formula of `idf`.
function rarity(index: number, blocks: number) {
  return piece`(
    SELECT ln(1 + (${blocks}::float8 - found + 0.5) / (found + 0.5))
    FROM (SELECT least(matching[${index + 1}::int], ${blocks}::float8) AS found FROM counts) AS term)`
}

function verbatimBonus({ verbatim }: RankedTerm) {
  if (verbatim === null) return piece`0`
  return piece`
    CASE WHEN b.tsv @@ ${verbatim}::tsquery THEN ${verbatimImpact / (bm25.k1 + 1)}::float8 ELSE 0 END`
}

function wholeWordsBonus(terms: readonly RankedTerm[]): Piece {
  const whole = terms.flatMap(({ wholeWords }) => (wholeWords === null ? [] : [wholeWords]))
  if (whole.length === 0) return piece``
  const stands = whole.map((tsquery) => piece`b.tsv @@ ${tsquery}::tsquery`)
  return piece` + CASE WHEN ${joined(stands, ' AND ')} THEN ${wholeWordsFirst}::float8 ELSE 0 END`
}

// The readings of a term cover the same text, so the reading with the most occurrences counts. A phrase occurs at most
// as often as its rarest word, so the word with the fewest occurrences counts.
function termOccurrences({ alternatives }: RankedTerm, forms: number) {
  const readings = alternatives.map((steps) =>
    extreme(
      'least',
      steps.slice(0, scoredSteps).map((step) => stepOccurrences(step, forms)),
    ),
  )
  return extreme('greatest', readings)
}

// A stemmed word stands in the index as itself and as its stem, and the occurrences of these two forms must not be
// added up. A word that equals its stem stands in the index only as itself. The occurrences of such a word are added to
// the occurrences of the stem.
function stepOccurrences({ lexemes, prefix }: Step, forms: number) {
  const [surface = null, ...others] = Array.from({ length: forms }, (_, index) => lexemes[index] ?? null)
  const isStem = others.some((form) => form !== null && unmarked(form) === surface)
  const ofSurface = formOccurrences(surface, prefix)
  const ofOthers = joined(
    others.map((form) => formOccurrences(form, prefix)),
    ' + ',
  )
  return piece`
    (CASE WHEN ${isStem} THEN ${ofSurface} + ${ofOthers} ELSE greatest(${ofSurface}, ${ofOthers}) END)`
}

// The number of occurrences of a form, from the inverse of ts_rank (`rankInverse`). Tokens that only repeat a word
// (`repeated` in the type `Token`) have weight A, which the rank leaves out. The index may not hold all occurrences of
// a word in a long block. Then every word of the block is counted as an occurrence.
function formOccurrences(lexeme: string | null, prefix: boolean) {
  const tsquery = lexeme === null ? null : `${quoteLexeme(lexeme)}${prefix ? ':*' : ''}`
  const rank = piece`ts_rank('{1,1,1,0}', b.tsv, ${tsquery}::tsquery)`
  return piece`
    CASE WHEN b.length > ${countable.occurrences}
      AND ${rank} > CASE WHEN b.length > ${maxPosition} THEN 0::float8 ELSE ${countable.rank}::float8 END
    THEN b.length
    ELSE round(${inverse.scale} / (${inverse.one} - least(coalesce(${rank}, 0), 1)) - ${inverse.shift}) END`
}

function extreme(of: 'greatest' | 'least', values: readonly Piece[]): Piece {
  const [only, ...others] = values
  if (only !== undefined && others.length === 0) return only
  return joined([new Piece([`${of}(`], []), joined(values, ', '), new Piece([')'], [])], '')
}
