import type { LabelledQuery } from './queries.ts'

/** How well a list of documents answers a query; each figure is between 0 and 1. */
export type Relevance = {
  /** Normalised discounted cumulative gain of the first ten documents (Järvelin and Kekäläinen 2002). */
  ndcg: number
  /** The share of the labelled documents that is among the first twenty documents. */
  recall: number
  /** Whether a document that the person wants most is among the first ten documents, as 1 or 0. */
  firstPage: number
}

/** Measures the documents that a system returned for a query, the best first. */
export function relevanceOf({ grades }: LabelledQuery, documents: readonly string[]): Relevance {
  const gains = documents.slice(0, 10).map((name) => gainOf(grades.get(name) ?? 0))
  const ideal = [...grades.values()].map(gainOf).sort((a, b) => b - a)
  const best = Math.max(...grades.values())
  const found = documents.slice(0, 20).filter((name) => grades.has(name))
  return {
    ndcg: discounted(gains) / discounted(ideal.slice(0, 10)),
    recall: found.length / grades.size,
    firstPage: documents.slice(0, 10).some((name) => grades.get(name) === best) ? 1 : 0,
  }
}

/** The mean of each figure. */
export function meanOf(figures: readonly Relevance[]): Relevance {
  const mean = (of: (figure: Relevance) => number) => figures.reduce((sum, one) => sum + of(one), 0) / figures.length
  return { ndcg: mean(({ ndcg }) => ndcg), recall: mean((one) => one.recall), firstPage: mean((one) => one.firstPage) }
}

function gainOf(grade: number): number {
  return 2 ** grade - 1
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, index) => sum + gain / Math.log2(index + 2), 0)
}
