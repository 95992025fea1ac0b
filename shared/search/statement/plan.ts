import { sql } from '../../database/database.ts'
import type { RankedTerm, SearchRequest } from './request.ts'

/*
 * To parse and plan a ranked search takes as long as to run it, and its best plan is the same for all words: the rows
 * that the index of lexemes names, sorted, then their documents one by one. So PostgreSQL is to keep the plan. It keeps
 * that of a prepared statement where one for the values at hand would seem no cheaper.
 */

/** A value that the planner does not see: it takes no plan of its own, nor a look at the statistics of all lexemes. */
export function hidden(value: string | number | null, type: 'tsquery' | 'int8') {
  return type === 'tsquery' ? sql.fragment`(SELECT ${value}::tsquery)` : sql.fragment`(SELECT ${value}::int8)`
}

/**
 * Whether the statement of a search is one of few, so that each connection can keep the plans of all: it has up to four
 * single words and is no second look. Of a small index a plan is not kept, since it would be that of a small one when
 * the index has grown.
 */
export function keepsPlan({ order }: SearchRequest): boolean {
  if (order.by === 'document' || order.first !== null || order.within) return false
  return order.blocks >= manyBlocks && order.terms.length <= fewTerms && order.terms.every(isWord)
}

/** So many forms stand in the statement for each word, those that are missing as null: an even number, at least two. */
export function formsOfEach(terms: readonly RankedTerm[]): number {
  const most = Math.max(
    0,
    ...terms.flatMap(({ alternatives }) => alternatives.flat().map(({ lexemes }) => lexemes.length)),
  )
  return Math.min(maxForms, Math.max(2, most + (most % 2)))
}

/** So many forms of a word are looked at; more do not change the order enough for what they cost in each candidate. */
export const maxForms = 6

const manyBlocks = 10_000
const fewTerms = 4

function isWord({ alternatives, verbatim }: RankedTerm): boolean {
  return verbatim === null && alternatives.length === 1 && alternatives[0]?.length === 1
}
