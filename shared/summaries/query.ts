import type { Queryable } from '../database.ts'
import { searchTopK } from '../search/search.ts'
import { type Container, documentIdsBelow, documentsAmong, knowledgeBaseOf, sizeBelow } from './container-queries.ts'
import { type Derived, ratioOf } from './deterministic.ts'
import { bodiesOf } from './digest-queries.ts'
import { type Answer, type Passage, passagesOf, rankPassages } from './passages.ts'
import { cut, oneLine } from './plain.ts'
import { textLimits } from './schema.ts'
import type { Source } from './source.ts'
import type { Target } from './target.ts'

// What is read as a whole; of more, search says which documents to read.
const readable = { documents: 200, characters: 1_000_000 }
const searchedDocuments = 20

const passageLimit = 20
const passageLength = 400
// How much of a long passage stands before its first match.
const leadLength = 120

/**
 * A summary for one query, which is not stored: the passages that answer it best, by the tokeniser and the weights of
 * search, in the order in which they stand. Without any, it is the title alone and names no source.
 */
export async function summariseQuery(
  db: Queryable,
  input: { target: Target; source: Source; q: string },
): Promise<Derived> {
  const { target, source, q } = input
  const bodies = 'lines' in source ? [{ id: String(target.id), lines: source.lines }] : await bodiesFor(db, input)
  const passages = bodies.flatMap(({ id, lines }) => passagesOf(id, lines))
  const answers = rankPassages(passages, q)
  const chosen = choose(answers, passages)
  const blocks = chosen.map(({ blockId }) => blockId)
  const documents = [...new Set(chosen.map(({ documentId }) => documentId))]
  const total = 'lines' in source ? 1 : source.documentCount
  return {
    text: chosen.length === 0 ? cut(oneLine(source.title), textLimits.deterministic) : chosen.map(excerpt).join('\n\n'),
    source_block_ids: blocks,
    source_document_ids: documents,
    coverage: {
      ratio: ratioOf(blocks.length, passages.length),
      covered_blocks: blocks.length,
      total_blocks: passages.length,
      covered_documents: documents.length,
      total_documents: total,
      truncated: chosen.length < answers.length || bodies.length < total,
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

async function bodiesFor(db: Queryable, input: { target: Target; q: string }): Promise<Body[]> {
  const container = input.target as Container
  const ids = await documentsFor(db, { container, q: input.q })
  const bodies = await bodiesOf(db, { workspaceIds: [container.workspaceId], ids })
  const found = new Map(bodies.map(({ id, body }) => [id, body]))
  return ids.flatMap((id) => {
    const body = found.get(id)
    return body === undefined ? [] : [{ id, lines: body.split('\n') }]
  })
}

async function documentsFor(
  db: Queryable,
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
