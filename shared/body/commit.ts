import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { eventDocument } from '../documents/present.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { documentNotFound, requireLockedDocument } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { requireAttachments } from './attachment-references.ts'
import { checkBytes, checkCharacters, maximumNodes } from './body-limits.ts'
import { type BodyChange, changing } from './change.ts'
import type { CommitContext } from './consequence.ts'
import type { NamedAttachments } from './normalise-state.ts'
import * as queries from './queries.ts'
import { StoredBody } from './stored-body.ts'

/**
 * A result of an edit that has the stored text of the new body, and the `attachments` that its nodes name. The commit
 * checks that newly named attachments exist.
 */
export type Edited = { text: string; attachments?: NamedAttachments }

export type Commit<E extends Edited, Found = undefined> = {
  documentId: string
  caller: Caller
  /**
   * Finds in the locked body what the path of the request names. Refuses with 404, before role and guard are checked.
   */
  find?: (current: StoredBody, document: DocumentRow) => Promise<Found> | Found
  /**
   * Checks the caller's precondition before the edit. Refuses with 428 when the precondition is missing, and with 409
   * when the body has changed since.
   */
  guard?: (current: StoredBody, document: DocumentRow, found: Found) => Promise<void> | void
  /** Makes the new body from the locked body, all or nothing: a Refusal leaves the document as it was. */
  edit: (current: StoredBody, found: Found) => Promise<E> | E
  /**
   * Whether the commit keeps a snapshot; it does by default. Typed text gets no snapshot, because a live process saves
   * it every few seconds.
   */
  snapshot?: boolean
}

/** A result of a commit that has the state afterwards. `changed` is false when the edit left the body as it was. */
export type Committed<E extends Edited> = {
  document: DocumentRow
  body: StoredBody
  edited: E
  changed: boolean
}

/**
 * Changes the body of a document; every change of a body goes through this function. In the caller's transaction it
 * locks the document, checks and edits the body, and keeps a snapshot of the old body. Then it stores the new body,
 * records the event and calls the consequences in their order. A request that leaves the body as it was also keeps a
 * snapshot, but has no event and no consequences (api/guide/writes.md#unchanged).
 *
 * Results that take long come from `context.ahead`. A request runs the commit inside `computingAhead`
 * (`shared/computations/ahead.ts`), which computes such results while no lock is held. So while the document is locked,
 * nothing long is computed, and nothing waits for a thread.
 *
 * Refuses with 404 when the document is not visible, and with 403 when the role may not write. Refuses with 422
 * `document_too_large`, `invalid_node` (too many nodes) or `attachment_not_found`. Throws whatever `find`, `guard` and
 * `edit` throw.
 */
export async function commitBody<E extends Edited, Found = undefined>(
  context: CommitContext,
  commit: Commit<E, Found>,
): Promise<Committed<E>> {
  const { tx } = context
  const { before, locked } = await lockBody(tx, commit)
  const current = new StoredBody({ version: before.version, text: locked.body })
  const found = (await commit.find?.(current, before)) as Found
  requireWriter(commit.caller, before.workspace_id)
  await commit.guard?.(current, before, found)
  const edited = await commit.edit(current, found)
  const { text, attachments: named } = edited
  const texts = { from: current.text, to: text }
  const change = text === current.text ? null : await context.ahead.result(changing, texts)
  if (change !== null && named) {
    await requireAttachments(tx, { workspaceId: before.workspace_id, ids: change.shown, named })
  }
  const sizes = change === null ? before : measure({ before, change, config: context.config })
  const body = change === null ? current : new StoredBody({ version: change.version, text })
  const { snapshot = true, caller } = commit
  const changedAt = locked.changing_at
  const document = store(context, { before, current, body, change, changedAt, sizes, userId: caller.userId, snapshot })
  if (change !== null) {
    const eventRowNo = await recordEvent(tx, document)
    const { is_live: isLive, has_open_jobs: hasOpenJobs } = locked
    const write = { before, document, texts, change, eventRowNo, isLive, hasOpenJobs }
    for (const follow of context.consequences.body) await follow(context, write)
  }
  return { document, body, edited, changed: change !== null }
}

async function lockBody(tx: Transaction, named: { caller: Caller; documentId: string }) {
  const locator = { documentId: named.documentId, workspaceIds: visibleWorkspaces(named.caller) }
  const [before, locked] = await Promise.all([requireLockedDocument(tx, named), queries.lockedBody(tx, locator)])
  if (locked === null) throw documentNotFound(named.documentId)
  return { before, locked }
}

type Sizes = Pick<DocumentRow, 'character_count' | 'node_count'>
type Measured = { before: DocumentRow; change: BodyChange; config: CommitContext['config'] }

/** The sizes of a changed body. Refuses with 422 a body over the limits of api/guide/limits.md#sizes. */
function measure({ before, change, config }: Measured): Sizes {
  // Only a growing body is refused. A body that was stored under a higher limit may still become smaller, step by step.
  if (change.bytes > change.bytesBefore) checkBytes(change.bytes, config.DOCUMENT_MAX_BYTES)
  const sizes = {
    character_count: before.character_count + change.characters,
    node_count: before.node_count + change.nodes,
  }
  checkCharacters(sizes.character_count, config.QUOTA_DOCUMENT_CHARACTERS)
  if (sizes.node_count > maximumNodes) {
    const reason = `a document holds at most ${maximumNodes} nodes`
    throw new Refusal('invalid_node', { details: { path: '', reason } })
  }
  return sizes
}

type Storing = {
  before: DocumentRow
  current: StoredBody
  body: StoredBody
  /** Null when the body stays the same. */
  change: BodyChange | null
  /** The `updated_at` of a changed body, in Unix milliseconds. */
  changedAt: number
  sizes: Sizes
  userId: string
  snapshot: boolean
}

function store({ tx, config }: CommitContext, input: Storing): DocumentRow {
  const { before, current, body, change, sizes, userId, snapshot } = input
  const changed = change !== null
  if (!changed && !snapshot) return before
  const { workspace_id, id } = before
  const bodySeq = changed ? before.body_seq + 1 : before.body_seq
  const versionSeq = snapshot ? before.version_seq + 1 : before.version_seq
  if (changed) {
    const { version, step } = change
    queries.insertBody(tx, { workspace_id, id, body_seq: bodySeq, version, body: body.text, step })
  }
  if (snapshot) {
    const size = Buffer.byteLength(current.text)
    const keep = config.VERSIONS_RETENTION
    queries.snapshot(tx, { document: before, size, createdBy: userId, keep, currentBodySeq: bodySeq })
  }
  const updatedAt = changed ? input.changedAt : before.updated_at
  const updatedBy = changed ? userId : before.updated_by
  queries.updateBodyState(tx, {
    document: before,
    state: {
      version: body.version,
      bodySeq,
      versionSeq,
      characterCount: sizes.character_count,
      nodeCount: sizes.node_count,
      updatedAt,
      updatedBy,
    },
  })
  if (!snapshot) queries.dropUnusedBody(tx, before)
  return {
    ...before,
    ...sizes,
    version: body.version,
    body_seq: bodySeq,
    version_seq: versionSeq,
    updated_at: updatedAt,
    updated_by: updatedBy,
  }
}

async function recordEvent(tx: Transaction, document: DocumentRow): Promise<number> {
  const [rowNo = 0] = await recordEvents(tx, {
    workspaceId: document.workspace_id,
    name: 'document.content.updated',
    documents: [eventDocument(document)],
  })
  return rowNo
}
