import type { RankedHit } from './rank.ts'

/** Leaves out hits of documents that already have the most hits. The hits keep their order. */
export function bestOfDocuments(hits: readonly RankedHit[], most: number): RankedHit[] {
  const counts = new Map<string, number>()
  return hits.filter(({ hit }) => {
    const count = (counts.get(hit.document_id) ?? 0) + 1
    counts.set(hit.document_id, count)
    return count <= most
  })
}

/** Adds to each hit how many matches of its document are not among the hits. */
export function withFurtherMatches(hits: readonly RankedHit[]): RankedHit[] {
  const shown = Map.groupBy(hits, ({ hit }) => hit.document_id)
  return hits.map((ranked) => {
    const { document_id, matches_in_document = 0 } = ranked.hit
    return { ...ranked, moreInDocument: Math.max(0, matches_in_document - (shown.get(document_id)?.length ?? 0)) }
  })
}
