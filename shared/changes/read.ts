import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '../database/database.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import { firstChain } from './project.ts'
import * as queries from './queries.ts'
import type { DocumentChanges } from './schema.ts'

const longestPauseMs = 100

/** The position of a client: a body of one chain of a document. The caller encodes it as a cursor. */
export type ChangePosition = { chain: number; bodySeq: number }

/** A function that encodes a position as a cursor. */
export type CursorOf = (position: ChangePosition) => string

/** A document's current body. */
type Body = { workspace_id: string; id: string; version: string; body_seq: number }

/**
 * Returns the baseline from which a client begins to follow a document: the cursor of the current body. The caller adds
 * the manifest of the current body, so a client never waits for the worker.
 */
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

/**
 * A request for the changes after a position. `limit` counts batches; `waitMs` is the longest wait for the worker in
 * milliseconds.
 */
export type ChangesQuery = { body: Body; after: ChangePosition; limit: number; waitMs: number; cursorOf: CursorOf }

/**
 * Returns the changes after a position, up to every write that was answered before this read began. If the worker is
 * late, or the chain has lost the position, the answer has no changes and says why (api/guide/changes.md#watermark).
 */
export async function changesAfter(db: Queryable, query: ChangesQuery): Promise<DocumentChanges> {
  const { body, after, limit, cursorOf } = query
  const chain = await waitForChain(db, query)
  if (chain === null) return { ...nothing(body), freshness: 'missing' }
  if (chain.projected_seq < body.body_seq) return { ...nothing(body), freshness: 'stale' }
  // The batch at the position itself is read, too. If the chain no longer has this batch, the chain has lost the
  // position.
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
 * Returns the top-level blocks of a document that changed after a body with one of `versions`; the newest such body
 * counts. At most 100 blocks are returned, the last changed block first. Returns null when the chain reaches back to
 * none of the versions. The caller has locked the row of the document.
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

// Asks the database again and again instead of waiting for a NOTIFY. A commit with NOTIFY waits for every other such
// commit in the whole database server.
async function waitForChain(db: Queryable, { body, waitMs }: ChangesQuery): Promise<queries.ChangeChain | null> {
  const deadline = performance.now() + waitMs
  for (let pause = 10; ; pause = Math.min(pause * 2, longestPauseMs)) {
    const chain = await queries.chainOf(db, keyOf(body))
    const left = deadline - performance.now()
    if ((chain !== null && chain.projected_seq >= body.body_seq) || left <= 0) return chain
    await sleep(Math.min(pause, left))
  }
}

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
