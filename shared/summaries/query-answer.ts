import type { BlockNode, BodyNode } from '../body/document.ts'
import { isTextblock } from '../body/nodes.ts'
import { plainText } from '../body/text.ts'
import { computation } from '../computations/computation.ts'
import { compute } from '../computations/compute.ts'
import { matchTerms, type Span } from '../search/matching/match.ts'
import { parseQuery } from '../search/matching/grammar.ts'
import { idf, impact } from '../search/ranking/bm25.ts'
import { fieldWeights } from '../search/ranking/tuning.ts'
import { detectLanguage } from '../search/text/detect-language.ts'
import { type DerivedSummary, ratioOf } from './deterministic.ts'
import { oneLine, truncate } from './plain.ts'
import { textLimits } from './schema.ts'

// The number of characters from which a language is detected.
const sampleLength = 4000

/** A body as its stored lines. */
export type QueriedBody = { id: string; lines: readonly string[] }

/**
 * A query and the bodies that may answer it. `title` is the title of the target, and `documentCount` the number of
 * documents below the target.
 */
type QueriedBodies = { title: string; bodies: readonly QueriedBody[]; documentCount: number; q: string }

// Limits of an answer: the number of passages, and the characters of a passage.
const passageLimit = 20
const passageLength = 400
// The most characters that an excerpt of a long passage shows before the first match.
const leadLength = 120

/** Returns the passages that answer a query best, as a summary. Large bodies are searched in a thread. */
export function queryAnswer(queried: QueriedBodies): Promise<DerivedSummary> {
  return compute(answering, queried)
}

/**
 * Returns the passages that answer a query best, in their order in the documents. Words are split and weighted as in
 * search. Without a matching passage, the text is the title alone and there are no sources. The time is proportional to
 * the length of the bodies. A thread calls this function by its name. @public
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
  // Ordinary text takes 1 µs a character, so the limit is ten times as high.
  cpuMs: ({ bodies }) => 2000 + lengthOf(bodies) * 0.01,
})

function lengthOf(bodies: readonly QueriedBody[]): number {
  return bodies.reduce((sum, { lines }) => lines.reduce((length, line) => length + line.length, sum), 0)
}

// Chooses the best passages that fit together into the limit, and returns them in document order.
function choose(answers: readonly RankedPassage[], passages: readonly Passage[]): RankedPassage[] {
  let room = textLimits.deterministic
  const chosen: RankedPassage[] = []
  for (const answer of answers.slice(0, passageLimit)) {
    const length = excerpt(answer).length + 2
    if (length > room) break
    room -= length
    chosen.push(answer)
  }
  const positions = new Map(passages.map((passage, index) => [keyOf(passage), index]))
  return chosen.sort((a, b) => (positions.get(keyOf(a)) ?? 0) - (positions.get(keyOf(b)) ?? 0))
}

// The key of a passage. The key has both ids, because copies of a document may share block ids.
function keyOf({ documentId, blockId }: Passage): string {
  return `${documentId} ${blockId}`
}

function excerpt({ text, first }: RankedPassage): string {
  if (first.end <= passageLength) return truncate(text, passageLength)
  // The excerpt starts at the beginning of a word where possible, and never inside a surrogate pair.
  const start = text.indexOf(' ', first.start - leadLength)
  const from = start < 0 || start > first.start ? first.start : start + 1
  return `…${truncate(text.slice(from), passageLength - 1)}`
}

/** A textblock (a block that holds text) of a body, with its text on one line. Search hits point at the same blocks. */
export type Passage = { documentId: string; blockId: string; isHeading: boolean; text: string }

/** A passage that answers a query, with its score and the first match in its text. */
type RankedPassage = Passage & { score: number; first: Span }

/** Returns the textblocks (blocks that hold text) of stored lines, in document order. @internal */
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
 * Returns the passages that contain any term of the query, best first, ties in document order. The score is the score
 * of search over a corpus that consists of the given passages. @internal
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
      // The length of a passage only damps its score, so characters may be counted in place of tokens.
      const { length } = passage.text
      const sum = counts.reduce((total, occurrences, term) => {
        return total + (rarity[term] ?? 0) * (occurrences === 0 ? 0 : impact({ occurrences, length, averageLength }))
      }, 0)
      return { ...passage, first, score: sum * weight }
    })
    .sort((a, b) => b.score - a.score)
}

// Detects the languages of the documents from the words at their beginnings.
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
