import Type from 'typebox'
import type { Caller } from '../auth/caller.ts'
import { compute } from '../computations/compute.ts'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { type SearchDatabase, searchTopK } from '../search/search.ts'
import { type Container, documentIdsBelow, documentsAmong, knowledgeBaseOf, sizeBelow } from './container-queries.ts'
import type { DerivedSummary } from './deterministic.ts'
import { digestInThread } from './digests.ts'
import { pendingSummaryJob } from './job-queries.ts'
import { presentDerived, presentStored, summaryTag } from './present.ts'
import { storedSummary } from './queries.ts'
import { type QueriedBody, queryAnswer } from './query-answer.ts'
import type { Summary } from './schema.ts'
import { currentVersion, derive, findSource, requireHeading, requireThere, type SummarySource } from './source.ts'
import { findSummaryTarget, type SummaryTarget, type TargetRequest } from './target.ts'

// The most documents and characters below a target that are all read for a query. Below a larger target, search chooses
// `searchedDocuments` documents.
const readable = { documents: 200, characters: 500_000 }
const searchedDocuments = 20
// The most bytes of the stored bodies that are read for one query. Bytes count addresses and attributes, too, so this
// limit is larger than `readable.characters`.
const mostBytes = 4 * 2 ** 20

/** A summary as a read or write answers it; `tag` is the version of the stored summary. */
export type TaggedSummary = { summary: Summary; tag: string }

/**
 * Returns the summary of a target: the stored summary, or a deterministic summary that is made now. With `query` the
 * text consists of the passages that answer it best, and is never stored. Refuses with 404 when the target is not
 * visible, and with 422 `not_a_heading_block`.
 */
export async function readSummary(
  db: SearchDatabase,
  input: { caller: Caller; request: TargetRequest; query: string | undefined },
): Promise<TaggedSummary> {
  const target = await findSummaryTarget(db, input)
  const stored = await storedSummary(db, target)
  const pendingJobId = await pendingSummaryJob(db, target)
  const tag = summaryTag(stored)
  if (stored !== null && input.query === undefined) {
    const version = requireHeading(requireThere(await currentVersion(db, { target, computeText: compute }), target))
    return { summary: presentStored(stored, { target, currentVersion: version, pendingJobId }), tag }
  }
  const source = requireHeading(requireThere(await findSource(db, { target, computeText: compute }), target))
  const about = { target, currentVersion: source.version, pendingJobId }
  if (input.query === undefined)
    return {
      summary: presentDerived(
        await derive(db, { target, source, computeText: compute, makeDigests: digestInThread }),
        about,
      ),
      tag,
    }
  const derived = await summariseQuery(db, { target, source, q: input.query })
  return { summary: presentDerived(derived, { ...about, query: { text: input.query, stored } }), tag }
}

// Makes a summary of the passages that answer a query best. The summary is not stored. Rejects when the bodies take too
// much processor time or memory, and when too many computations wait already.
async function summariseQuery(
  db: SearchDatabase,
  input: { target: SummaryTarget; source: SummarySource; q: string },
): Promise<DerivedSummary> {
  const { target, source, q } = input
  const bodies =
    'text' in source ? [{ id: String(target.id), lines: source.text.split('\n') }] : await bodiesFor(db, input)
  const documentCount = 'text' in source ? 1 : source.documentCount
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

const FirstBodyRow = row(Type.Object({ id: Type.String(), body: Type.String() }))

// Returns the current bodies of existing documents in the order of the given ids, until their total size exceeds
// `mostBytes`. The first body is always included.
function firstBodies(db: Queryable, input: { workspaceId: string; ids: readonly string[]; mostBytes: number }) {
  return db.any(sql.type(FirstBodyRow)`
    SELECT id, body FROM (
      SELECT d.id, b.body, k.ordinal, sum(octet_length(b.body)) OVER (ORDER BY k.ordinal) AS bytes
      FROM unnest(${sql.array([...input.ids], 'text')}) WITH ORDINALITY AS k (id, ordinal)
      JOIN documents d ON d.workspace_id = ${input.workspaceId} AND d.id = k.id
      JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    ) AS sized
    WHERE bytes <= ${input.mostBytes} OR ordinal = 1
    ORDER BY ordinal`)
}
