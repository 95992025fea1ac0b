import { type SearchDatabase, searchTopK } from '../search/search.ts'
import { type Container, documentIdsBelow, documentsAmong, knowledgeBaseOf, sizeBelow } from './container-queries.ts'
import type { DerivedSummary } from './deterministic.ts'
import { firstBodies } from './digest-queries.ts'
import { type QueriedBody, queryAnswer } from './query-answer.ts'
import type { SummarySource } from './source.ts'
import type { SummaryTarget } from './target.ts'

// What is read as a whole; of more, search says which documents to read.
const readable = { documents: 200, characters: 500_000 }
const searchedDocuments = 20
// Of a body not only the text counts, but addresses and attributes as well.
const mostBytes = 4 * 2 ** 20

/**
 * A summary for one query, which is not stored: see `answerQuery`. Rejects as `compute` does when the bodies take too
 * much time or too much waits already.
 */
export async function summariseQuery(
  db: SearchDatabase,
  input: { target: SummaryTarget; source: SummarySource; q: string },
): Promise<DerivedSummary> {
  const { target, source, q } = input
  const bodies = 'lines' in source ? [{ id: String(target.id), lines: source.lines }] : await bodiesFor(db, input)
  const documentCount = 'lines' in source ? 1 : source.documentCount
  return queryAnswer({ title: source.title, bodies, documentCount, q })
}

async function bodiesFor(db: SearchDatabase, input: { target: SummaryTarget; q: string }): Promise<QueriedBody[]> {
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
