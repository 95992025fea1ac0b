import { sql } from '../../database/database.ts'
import { maxPosition } from '../index/vector.ts'
import type { Step } from '../matching/query.ts'
import { bm25, fieldWeights, verbatimImpact } from '../ranking/bm25.ts'
import { quoteLexeme, unmarked } from '../text/lexemes.ts'
import { formsOfEach } from './plan.ts'
import type { RankedTerm, SearchOrder } from './request.ts'

/**
 * BM25 of a block `b` from stock functions. Where each word has one form it is exact, else an estimate: the best rows
 * are scored again in Node. `counts.matching` holds the numbers of blocks with each term.
 */
export function blockScore({ terms, blocks, averageLength }: SearchOrder & { by: 'score' }) {
  if (terms.length === 0) return sql.fragment`0::float8`
  const { k1, b } = bm25
  const forms = formsOfEach(terms)
  const lengthFactor = sql.fragment`(${k1 * (1 - b)}::float8 + ${(k1 * b) / averageLength}::float8 * b.length)`
  const parts = terms.map((term, index) => {
    const saturation = sql.fragment`1 - ${lengthFactor} / (${termOccurrences(term, forms)} + ${lengthFactor})`
    return sql.fragment`${rarity(index, blocks)} * (${saturation} + ${verbatimBonus(term)})`
  })
  return sql.fragment`${bm25.k1 + 1}::float8 * ${fieldWeight} * (${sql.join(parts, sql.fragment` + `)})`
}

const fieldWeight = sql.fragment`
  (CASE b.type WHEN 'title' THEN ${fieldWeights.title}::float8 WHEN 'heading' THEN ${fieldWeights.heading}::float8
   ELSE ${fieldWeights.body}::float8 END)`

// Words of a phrase that are looked at, likewise.
const maxSteps = 3

// Same formula as `idf`.
function rarity(index: number, blocks: number) {
  return sql.fragment`(
    SELECT ln(1 + (${blocks}::float8 - found + 0.5) / (found + 0.5))
    FROM (SELECT least(matching[${index + 1}::int], ${blocks}::float8) AS found FROM counts) AS term)`
}

function verbatimBonus({ verbatim }: RankedTerm) {
  if (verbatim === null) return sql.fragment`0`
  return sql.fragment`
    CASE WHEN b.tsv @@ ${verbatim}::tsquery THEN ${verbatimImpact / (bm25.k1 + 1)}::float8 ELSE 0 END`
}

// Readings of one term cover the same text, and a phrase cannot occur more often than its rarest word.
function termOccurrences({ alternatives }: RankedTerm, forms: number) {
  const readings = alternatives.map((steps) =>
    smallest(steps.slice(0, maxSteps).map((step) => stepOccurrences(step, forms))),
  )
  return readings.length === 1 ? sql.fragment`${sql.join(readings, sql.fragment``)}` : greatest(readings)
}

// A stemmed word stands in the index as itself and as its stem, which must not be added up; its stem alone, in a text,
// stands there only as itself.
function stepOccurrences({ lexemes, prefix }: Step, forms: number) {
  const [surface = null, ...others] = Array.from({ length: forms }, (_, index) => lexemes[index] ?? null)
  const isStem = others.some((form) => form !== null && unmarked(form) === surface)
  const ofSurface = formOccurrences(surface, prefix)
  const ofOthers = sql.join(
    others.map((form) => formOccurrences(form, prefix)),
    sql.fragment` + `,
  )
  return sql.fragment`
    (CASE WHEN ${isStem} THEN ${ofSurface} + ${ofOthers} ELSE greatest(${ofSurface}, ${ofOthers}) END)`
}

// With equal weights ts_rank depends on the number n of occurrences alone: it is the sum of 1/i² up to n, divided by that
// of all i. This is its inverse, within 0.04 below 25 occurrences, so that rounding makes it exact. Repeated words have
// weight A and do not count. Of a long block the index may not hold all occurrences of a word: then it may be every word.
function formOccurrences(lexeme: string | null, prefix: boolean) {
  const tsquery = lexeme === null ? null : `${quoteLexeme(lexeme)}${prefix ? ':*' : ''}`
  const rank = sql.fragment`ts_rank('{1,1,1,0}', b.tsv, ${tsquery}::tsquery)`
  return sql.fragment`
    CASE WHEN b.length > ${countable} AND ${rank} > CASE WHEN b.length > ${maxPosition} THEN 0::float8 ELSE ${countableRank}::float8 END
    THEN b.length ELSE round(0.613::float8 / (1.0001 - least(coalesce(${rank}, 0), 1)) - 0.58) END`
}

// Of 255 positions that a lexeme may have, and the rank of so many.
const countable = 230
const countableRank = 0.9973

type Fragment = ReturnType<typeof sql.fragment>

function greatest(values: Fragment[]) {
  return sql.fragment`greatest(${sql.join(values, sql.fragment`, `)})`
}

function smallest(values: Fragment[]) {
  return values.length === 1
    ? sql.fragment`${sql.join(values, sql.fragment``)}`
    : sql.fragment`least(${sql.join(values, sql.fragment`, `)})`
}
