import type { BlockNode, BodyNode } from '../body/document.ts'
import { isTextblock } from '../body/nodes.ts'
import { plainText } from '../body/text.ts'
import { matchTerms, type Span } from '../search/matching/match.ts'
import { parseQuery } from '../search/matching/query.ts'
import { idf, impact } from '../search/ranking/bm25.ts'
import { fieldWeights } from '../search/ranking/tuning.ts'
import { detectLanguage } from '../search/text/detect-language.ts'

import { oneLine } from './plain.ts'

/** A text block of a body: what a search hit points at. */
export type Passage = { documentId: string; blockId: string; isHeading: boolean; text: string }

/** A passage that answers a query, and where in its text. */
export type RankedPassage = Passage & { score: number; first: Span }

/** The text blocks of stored lines, in document order. */
export function passagesOf(documentId: string, lines: readonly string[]): Passage[] {
  return lines
    .flatMap((line) => textblocks(JSON.parse(line) as BlockNode))
    .flatMap((block) => {
      const text = oneLine(plainText(block))
      const isHeading = block.type === 'heading'
      return text === '' ? [] : [{ documentId, blockId: block.attrs.id, isHeading, text }]
    })
}

/**
 * The passages that hold any of the query's terms, the best first and then in their own order. The score is that of
 * search, taking the given passages for all there are.
 */
export function rankPassages(passages: readonly Passage[], q: string): RankedPassage[] {
  const query = parseQuery(q)
  const languages = languagesOf(passages)
  const matched = passages.flatMap((passage) => {
    const { occurrences, first } = matchTerms(passage.text, { query, languages })
    return first === null ? [] : [{ passage, first, counts: occurrences.map(({ count }) => count) }]
  })
  const terms = matched[0]?.counts.length ?? 0
  const averageLength = Math.max(1, passages.reduce((sum, { text }) => sum + text.length, 0) / passages.length)
  const rarity = Array.from({ length: terms }, (_, term) => {
    const matching = matched.filter(({ counts }) => (counts[term] ?? 0) > 0).length
    return idf({ documents: passages.length, matching })
  })
  return matched
    .map(({ passage, first, counts }) => {
      const weight = passage.isHeading ? fieldWeights.heading : fieldWeights.body
      // Lengths only damp the score, so characters do instead of tokens.
      const { length } = passage.text
      const sum = counts.reduce((total, occurrences, term) => {
        return total + (rarity[term] ?? 0) * (occurrences === 0 ? 0 : impact({ occurrences, length, averageLength }))
      }, 0)
      return { ...passage, first, score: sum * weight }
    })
    .sort((a, b) => b.score - a.score)
}

const sampleLength = 4000

/** The languages of the documents, by the words at their beginnings. */
function languagesOf(passages: readonly Passage[]): string[] {
  const samples = new Map<string, string>()
  for (const { documentId, text } of passages) {
    const sample = samples.get(documentId) ?? ''
    if (sample.length < sampleLength) samples.set(documentId, `${sample} ${text}`)
  }
  return [...new Set([...samples.values()].map((sample) => detectLanguage(sample.slice(0, sampleLength))))]
}

function textblocks(node: BodyNode): BlockNode[] {
  if (isTextblock(node.type)) return [node as BlockNode]
  return (node.content ?? []).flatMap(textblocks)
}
