import { beginningsOf, type Term } from '../matching/term.ts'
import { type IndexStatistics, sumOf, termSelectivity } from './selectivity.ts'
import { checkedRowCost } from './tuning.ts'

type Narrowing = {
  /** The share of all blocks that the condition names apart from the terms. */
  share: number
  /** Whether the condition names anything apart from the terms. */
  isNarrowed: boolean
  statistics: IndexStatistics
}

/**
 * Chooses the required terms that the index is asked for. The others are checked in the rows that the index names. For
 * the beginning of a word, the index reads the lists of all words that begin so. That takes longer than checking rows,
 * unless the rest of the condition names far more rows.
 */
export function indexedTerms<T extends Term>(terms: readonly T[], narrowing: Narrowing): readonly T[] {
  const { statistics, share, isNarrowed } = narrowing
  const rare = terms
    .filter((term) => beginningsOf(term).length > 0)
    .map((term) => ({ term, share: termSelectivity(term, statistics) }))
    .sort((a, b) => a.share - b.share)
  const others = terms.filter((term) => beginningsOf(term).length === 0)
  const sure = others.length > 0 || isNarrowed ? others : rare.splice(0, 1).map(({ term }) => term)
  const rows = sure.reduce((product, term) => product * termSelectivity(term, statistics), share)
  const isChecked = checkedRowCost * rows < sumOf(rare.map((term) => term.share))
  return isChecked ? sure : terms
}
