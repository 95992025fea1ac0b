import { type SearchDatabase, searchTopK } from '../search/search.ts'
import { type Container, documentIdsBelow, documentsAmong, knowledgeBaseOf, sizeBelow } from './container-queries.ts'
import { type Derived, ratioOf } from './deterministic.ts'
import { firstBodies } from './digest-queries.ts'
import { type Answer, type Passage, passagesOf, rankPassages } from './passages.ts'
import { cut, oneLine } from './plain.ts'
import { textLimits } from './schema.ts'
import type { Source } from './source.ts'
import type { Target } from './target.ts'

// What is read as a whole; of more, search says which documents to read.
const readable = { documents: 200, characters: 500_000 }
const searchedDocuments = 20
// Of a body not only the text counts, but addresses and attributes as well.
const mostBytes = 4 * 2 ** 20

const passageLimit = 20
const passageLength = 400
// How much of a long passage stands before its first match.
const leadLength = 120

/** A summary for one query, which is not stored: see `answerQuery`. */
export async function summariseQuery(
  db: SearchDatabase,
  input: { target: Target; source: Source; q: string },
): Promise<Derived> {
  const { target, source, q } = input
  const bodies = 'lines' in source ? [{ id: String(target.id), lines: source.lines }] : await bodiesFor(db, input)
  const documentCount = 'lines' in source ? 1 : source.documentCount
  return answerQuery({ title: source.title, bodies, documentCount, q })
}

/** What a query is answered from: bodies as their stored lines, of so many documents below the title. */
type QueriedBodies = { title: string; bodies: readonly Body[]; documentCount: number; q: string }

/**
 * The passages of some bodies that answer a query best, by the tokeniser and the weights of search, in the order in which
 * they stand. Without any, it is the title alone and names no source. The time it takes is in proportion to the bodies;
 * input and answer are plain data, so that a thread can be asked for it.
 */
function answerQuery({ title, bodies, documentCount, q }: QueriedBodies): Derived {
  const passages = bodies.flatMap(({ id, lines }) => passagesOf(id, lines))
  const answers = rankPassages(passages, q)
  const chosen = choose(answers, passages)
  const blocks = chosen.map(({ blockId }) => blockId)
  const documents = [...new Set(chosen.map(({ documentId }) => documentId))]
  return {
    text: chosen.length === 0 ? cut(oneLine(title), textLimits.deterministic) : chosen.map(excerpt).join('\n\n'),
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

/** The best answers that fit, in the order of the passages. */
function choose(answers: readonly Answer[], passages: readonly Passage[]): Answer[] {
  let room = textLimits.deterministic
  const chosen: Answer[] = []
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

function excerpt({ text, first }: Answer): string {
  if (first.end <= passageLength) return cut(text, passageLength)
  // Not inside a surrogate pair, and from the beginning of a word where there is one.
  const start = text.indexOf(' ', first.start - leadLength)
  const from = start < 0 || start > first.start ? first.start : start + 1
  return `…${cut(text.slice(from), passageLength - 1)}`
}

type Body = { id: string; lines: readonly string[] }

async function bodiesFor(db: SearchDatabase, input: { target: Target; q: string }): Promise<Body[]> {
  const container = input.target as Container
  const ids = await documentsFor(db, { container, q: input.q })
  const bodies = await firstBodies(db, { workspaceId: container.workspaceId, ids, mostBytes })
  return bodies.map(({ id, body }) => ({ id, lines: body.split('\n') }))
}

async function documentsFor(
  db: SearchDatabase,
  { container, q }: { container: Container; q: string },
): Promise<readonly string[]> {
  const size = await sizeBelow(db, container)
  if (size.documents <= readable.documents && size.characters <= readable.characters) {
    return documentIdsBelow(db, { container, limit: readable.documents })
  }
  const { workspaceId } = container
  const knowledgeBaseId = await knowledgeBaseOf(db, container)
  const scope = { workspaceIds: [workspaceId], knowledgeBaseId, locale: 'all' } as const
  const { hits } = await searchTopK(db, { q, scope, limit: 100, relax: true })
  const ids = [...new Set(hits.map(({ hit }) => hit.document_id))]
  const below = new Set(await documentsAmong(db, { container, ids }))
  return ids.filter((id) => below.has(id)).slice(0, searchedDocuments)
}
