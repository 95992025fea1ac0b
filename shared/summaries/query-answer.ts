import type { BlockNode, BodyNode } from '../body/document.ts'
import { isTextblock } from '../body/nodes.ts'
import { plainText } from '../body/text.ts'
import { computation } from '../computations/computation.ts'
import { compute } from '../computations/compute.ts'
import { matchTerms, type Span } from '../search/matching/match.ts'
import { parseQuery } from '../search/matching/query.ts'
import { idf, impact } from '../search/ranking/bm25.ts'
import { fieldWeights } from '../search/ranking/tuning.ts'
import { detectLanguage } from '../search/text/detect-language.ts'
import { type DerivedSummary, ratioOf } from './deterministic.ts'
import { oneLine, truncate } from './plain.ts'
import { textLimits } from './schema.ts'

/** A body as its stored lines. */
export type QueriedBody = { id: string; lines: readonly string[] }

/** What a query is answered from: bodies as their stored lines, of so many documents below the title. */
type QueriedBodies = { title: string; bodies: readonly QueriedBody[]; documentCount: number; q: string }

const passageLimit = 20
const passageLength = 400
// How much of a long passage stands before its first match.
const leadLength = 120

/** What `answerQuery` answers, worked out in a thread where the bodies are large. */
export function queryAnswer(queried: QueriedBodies): Promise<DerivedSummary> {
  return compute(answering, queried)
}

/**
 * The passages of some bodies that answer a query best, by the tokeniser and the weights of search, in the order in which
 * they stand. Without any, it is the title alone and names no source. The time it takes is in proportion to the bodies.
 * A thread calls it by its name. @public
 */
export function answerQuery({ title, bodies, documentCount, q }: QueriedBodies): DerivedSummary {
  const passages = bodies.flatMap(({ id, lines }) => passagesOf(id, lines))
  const answers = rankPassages(passages, q)
  const chosen = choose(answers, passages)
  const blocks = chosen.map(({ blockId }) => blockId)
  const documents = [...new Set(chosen.map(({ documentId }) => documentId))]
  return {
    text: chosen.length === 0 ? truncate(oneLine(title), textLimits.deterministic) : chosen.map(excerpt).join('\n\n'),
    source_block_ids: blocks,
    source_document_ids: documents,
    coverage: {
      ratio: ratioOf(blocks.length, passages.length),
      covered_blocks: blocks.length,
      total_blocks: passages.length,
      covered_documents: documents.length,
      total_documents: documentCount,
      truncated: chosen.length < answers.length || bodies.length < documentCount,
    },
  }
}

const answering = computation({
  module: import.meta.url,
  run: answerQuery,
  isSmall: ({ bodies }) => lengthOf(bodies) <= 32 * 1024,
  // Ordinary text takes 1 µs a character.
  cpuMs: ({ bodies }) => 2000 + lengthOf(bodies) * 0.01,
})

function lengthOf(bodies: readonly QueriedBody[]): number {
  return bodies.reduce((sum, { lines }) => lines.reduce((length, line) => length + line.length, sum), 0)
}

/** The best answers that fit, in the order of the passages. */
function choose(answers: readonly RankedPassage[], passages: readonly Passage[]): RankedPassage[] {
  let room = textLimits.deterministic
  const chosen: RankedPassage[] = []
  for (const answer of answers.slice(0, passageLimit)) {
    const length = excerpt(answer).length + 2
    if (length > room) break
    room -= length
    chosen.push(answer)
  }
  const places = new Map(passages.map((passage, index) => [keyOf(passage), index]))
  return chosen.sort((a, b) => (places.get(keyOf(a)) ?? 0) - (places.get(keyOf(b)) ?? 0))
}

// Copies of a document may share block ids.
function keyOf({ documentId, blockId }: Passage): string {
  return `${documentId} ${blockId}`
}

function excerpt({ text, first }: RankedPassage): string {
  if (first.end <= passageLength) return truncate(text, passageLength)
  // Not inside a surrogate pair, and from the beginning of a word where there is one.
  const start = text.indexOf(' ', first.start - leadLength)
  const from = start < 0 || start > first.start ? first.start : start + 1
  return `…${truncate(text.slice(from), passageLength - 1)}`
}

/** A text block of a body: what a search hit points at. */
export type Passage = { documentId: string; blockId: string; isHeading: boolean; text: string }

/** A passage that answers a query, and where in its text. */
type RankedPassage = Passage & { score: number; first: Span }

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
