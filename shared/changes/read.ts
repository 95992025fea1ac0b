import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '../database/database.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import { firstChain } from './project.ts'
import * as queries from './queries.ts'
import type { DocumentChanges } from './schema.ts'

/** Where a client stands: a body of one chain of a document. What it looks like to the client is the caller's. */
export type ChangePosition = { chain: number; bodySeq: number }

/** Makes the cursor of a position. */
export type CursorOf = (position: ChangePosition) => string

/** The body a read is about. */
type Body = { workspace_id: string; id: string; version: string; body_seq: number }

/** A client's beginning, to which the manifest of the live body belongs, so that it never waits for the worker. */
export async function changesBaseline(
  db: Queryable,
  { body, cursorOf }: { body: Body; cursorOf: CursorOf },
): Promise<Omit<DocumentChanges, 'manifest'>> {
  const chain = (await queries.chainOf(db, keyOf(body)))?.chain ?? firstChain
  const cursor = cursorOf({ chain, bodySeq: body.body_seq })
  return {
    ...nothing(body),
    cursor,
    source_version: body.version,
    freshness: 'current',
    complete: true,
    sync_required: false,
    baseline: true,
  }
}

/** What follows a position; `limit` counts batches, `waitMs` is how long to wait for the worker. */
export type ChangesQuery = { body: Body; after: ChangePosition; limit: number; waitMs: number; cursorOf: CursorOf }

/**
 * The changes after a position, up to every write that was answered before this read began (the table of decisions 2.7).
 * When the worker does not get there in time, or the chain no longer holds the position, the answer says so and has no
 * changes.
 */
export async function changesAfter(db: Queryable, query: ChangesQuery): Promise<DocumentChanges> {
  const { body, after, limit, cursorOf } = query
  const chain = await waitForChain(db, query)
  if (chain === null) return { ...nothing(body), freshness: 'missing' }
  if (chain.projected_seq < body.body_seq) return { ...nothing(body), freshness: 'stale' }
  // The batch at the position itself comes along: it knows the version, and its absence that the position is lost.
  const rows = await queries.chainPage(db, { ...keyOf(body), from: after.bodySeq, limit: limit + 2 })
  const [start, ...later] = rows
  if (start === undefined || start.chain !== after.chain || start.body_seq !== after.bodySeq) {
    return { ...nothing(body), freshness: 'current' }
  }
  const page = later.slice(0, limit)
  const end = page.at(-1) ?? start
  const cursor = cursorOf({ chain: after.chain, bodySeq: end.body_seq ?? after.bodySeq })
  const hasMore = later.length > limit
  return {
    ...nothing(body),
    cursor,
    source_version: end.source_version,
    freshness: 'current',
    complete: true,
    sync_required: false,
    changes: page.flatMap((row) => presentBatch(row, cursorOf)),
    has_more: hasMore,
    next_cursor: hasMore ? cursor : null,
  }
}

/**
 * Which top-level blocks of a locked document were changed since it had one of some versions, at most 100, the last changed
 * first; null when the chain does not reach back to any of them.
 */
export async function changedBlockIds(
  db: Queryable,
  input: { body: Body; versions: readonly string[] },
): Promise<readonly string[] | null> {
  const { body, versions } = input
  const { since, bodies, ids } = await queries.blocksChangedSince(db, { ...keyOf(body), versions, limit: 100 })
  return since !== null && bodies === body.body_seq - since ? ids : null
}

type PageRow = Awaited<ReturnType<typeof queries.chainPage>>[number]

function presentBatch(row: PageRow, cursorOf: CursorOf): DocumentChanges['changes'] {
  const { chain, body_seq, source_version, changed_at, changes } = row
  if (body_seq === null || source_version === null || changed_at === null || changes === null) return []
  const shared = { cursor: cursorOf({ chain, bodySeq: body_seq }), source_version, changed_at }
  return changes.map((change) => ({ ...change, ...shared }))
}

// Polls instead of listening: a commit that notifies waits for every other one in the whole database server.
async function waitForChain(db: Queryable, { body, waitMs }: ChangesQuery): Promise<queries.ChangeChain | null> {
  const deadline = performance.now() + waitMs
  for (let pause = 10; ; pause = Math.min(pause * 2, longestPauseMs)) {
    const chain = await queries.chainOf(db, keyOf(body))
    const left = deadline - performance.now()
    if ((chain !== null && chain.projected_seq >= body.body_seq) || left <= 0) return chain
    await sleep(Math.min(pause, left))
  }
}

const longestPauseMs = 100

function keyOf(body: Body): DocumentJob {
  return { workspace_id: body.workspace_id, document_id: body.id }
}

function nothing(body: Body) {
  return {
    document_id: body.id,
    cursor: null,
    source_version: null,
    complete: false,
    sync_required: true,
    baseline: false,
    changes: [],
    has_more: false,
    next_cursor: null,
  } satisfies Partial<DocumentChanges>
}
