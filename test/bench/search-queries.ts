import type { Fts5 } from './fts5.ts'

/** Queries of one kind. */
export type QuerySet = { name: string; queries: string[] }

const queriesOfSet = 20

/** Makes queries of common, medium and rare words of a corpus. */
export function querySets({ words, blocks }: Fts5): QuerySet[] {
  const frequent = words.toSorted(([, a], [, b]) => b - a).map(([word]) => word)
  const between = (from: number, to: number) =>
    words.filter(([, matching]) => matching >= from && matching < to).map(([word]) => word)
  const common = frequent.slice(0, queriesOfSet)
  const medium = between(blocks / 500, blocks / 100).slice(0, queriesOfSet)
  const rare = between(3, 20).slice(0, queriesOfSet)
  const pairs = (left: string[], right: string[]) => left.map((word, index) => `${word} ${right.at(index)}`)
  return [
    { name: '1 common', queries: common },
    { name: '1 medium', queries: medium },
    { name: '1 rare', queries: rare },
    { name: '2 common', queries: pairs(common, common.toReversed()).filter((_, index) => index < queriesOfSet / 2) },
    { name: 'common + medium', queries: pairs(common, medium) },
    { name: '4 words, relaxed', queries: pairs(pairs(common, medium), pairs(rare, frequent.slice(queriesOfSet))) },
  ]
}
