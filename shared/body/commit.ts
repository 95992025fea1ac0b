import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { eventDocument } from '../documents/present.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { documentNotFound, requireLockedDocument } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvent } from '../events/record.ts'
import { requireAttachments } from './attachment-references.ts'
import { checkBytes, checkCharacters, maximumNodes } from './body-limits.ts'
import { type BodyChange, changing, type TwoTexts } from './change.ts'
import type { CommitContext } from './consequence.ts'
import { blockIdsOfStep } from './manifest.ts'
import type { NamedAttachments } from './normalise-state.ts'
import * as queries from './queries.ts'
import { StoredBody } from './stored-body.ts'
import type { Splice } from './versioned-lines.ts'

/**
 * A result of an edit that has the stored text of the new body, and the `attachments` that its nodes name. The commit
 * checks that newly named attachments exist. It computes the `change` where the edit has not.
 */
export type Edited = { text: string; attachments?: NamedAttachments; change?: BodyChange }

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
  /** True if an edit that leaves the body as it was keeps no snapshot. */
  skipsUnchanged?: boolean
}

/**
 * A result of a commit that has the state afterwards. `changed` is false when the edit left the body as it was.
 * `changedBlockIds` lists the top-level blocks that were added, changed, moved or removed.
 */
export type Committed<E extends Edited> = {
  document: DocumentRow
  body: StoredBody
  edited: E
  changed: boolean
  changedBlockIds: () => string[]
}

/**
 * Changes the body of a document for a request or a job. In the caller's transaction it locks the document, checks and
 * edits the body, and keeps a snapshot of the old body. Then it stores the new body, records the event and calls the
 * consequences in their order (`storeChange`). A request that leaves the body as it was also keeps a snapshot, but
 * has no event and no consequences (api/guide/writes.md#unchanged).
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
  const change = text === current.text ? null : (edited.change ?? (await context.ahead.result(changing, texts)))
  if (change !== null && named) {
    await requireAttachments(tx, { workspaceId: before.workspace_id, ids: change.shown, named })
  }
  const document = await storeChange(context, {
    before,
    locked,
    change,
    texts,
    text,
    size: change?.bytesBefore ?? Buffer.byteLength(text),
    userId: commit.caller.userId,
    snapshot: change === null && commit.skipsUnchanged ? null : 'before',
  })
  const body = change === null ? current : new StoredBody({ version: change.version, text })
  const changedBlockIds = () => (change === null ? [] : blockIdsOfStep(change.step))
  return { document, body, edited, changed: change !== null, changedBlockIds }
}

async function lockBody(tx: Transaction, named: { caller: Caller; documentId: string }) {
  const locator = { documentId: named.documentId, workspaceIds: visibleWorkspaces(named.caller) }
  const before = await requireLockedDocument(tx, named)
  const locked = await queries.lockedBody(tx, locator)
  if (locked === null) throw documentNotFound(named.documentId)
  return { before, locked }
}

/**
 * A new body that replaces the body of a locked document. `before` is the row of the document, and `locked` are the
 * facts that were read under its lock.
 */
export type Storing = {
  before: DocumentRow
  locked: Pick<queries.LockedBody, 'changing_at' | 'event_row_no' | 'is_live' | 'has_open_jobs'>
  /** What the new body changes; null when the body stays the same. */
  change: BodyChange | null
  /** The stored texts of both bodies. Lines that both bodies have may be missing in both. */
  texts: TwoTexts
  /** The stored text of a changed body, or the splices by which it follows from the text before. */
  text: string | readonly Splice[]
  /** The number of bytes of the stored text of the old body. */
  size: number
  /** The author of the change and of the snapshots; null when the account is gone. */
  userId: string | null
  /** The state that the document keeps as a snapshot. */
  snapshot: 'before' | 'after' | null
}

/**
 * Stores a changed body with everything that belongs to it: snapshot, event and consequences. Every change of a body
 * goes through this function. An unchanged body only gets its snapshot. Returns the row of the document afterwards.
 * Refuses with 422 `document_too_large` or `invalid_node` (too many nodes).
 */
export async function storeChange(context: CommitContext, storing: Storing): Promise<DocumentRow> {
  const { before, locked, change, texts } = storing
  const { changing_at: changedAt, event_row_no: eventRowNo, is_live: isLive, has_open_jobs: hasOpenJobs } = locked
  const document = documentAfter(storing, { config: context.config, changedAt })
  await store(context, storing, document)
  if (change === null) return document
  await recordEvent(context.tx, {
    workspaceId: document.workspace_id,
    name: 'document.content.updated',
    document: eventDocument(document),
    rowNo: eventRowNo,
  })
  const write = { before, document, texts, change, eventRowNo, isLive, hasOpenJobs }
  for (const follow of context.consequences.body) await follow(context, write)
  return document
}

type Settings = { config: CommitContext['config']; changedAt: number }

function documentAfter({ before, change, userId, snapshot }: Storing, { config, changedAt }: Settings): DocumentRow {
  const kept = { ...before, version_seq: before.version_seq + (snapshot === null ? 0 : 1) }
  if (change === null) return kept
  return {
    ...kept,
    ...measure({ before, change, config }),
    version: change.version,
    body_seq: before.body_seq + 1,
    updated_at: changedAt,
    updated_by: userId,
  }
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

async function store({ tx, config }: CommitContext, storing: Storing, document: DocumentRow): Promise<void> {
  const { before, change, text, size, userId, snapshot } = storing
  if (change === null && snapshot === null) return
  const kept =
    snapshot === 'before'
      ? { bodySeq: before.body_seq, size }
      : { bodySeq: document.body_seq, size: change?.bytes ?? size }
  await queries.storeBody(tx, {
    document,
    body: change && { text, step: change.step },
    snapshot: snapshot && { ...kept, createdBy: userId, keep: config.VERSIONS_RETENTION },
  })
}
