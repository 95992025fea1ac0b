import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { documentNotFound, requireLockedDocument } from '../documents/require.ts'
import { requireAttachments } from './attachment-references.ts'
import { type BodyChange, changing } from './change.ts'
import type { CommitContext } from './consequence.ts'
import { blockIdsOfStep } from './manifest.ts'
import type { NamedAttachments } from './normalise-state.ts'
import * as queries from './queries.ts'
import { storeChange } from './store-change.ts'
import { StoredBody } from './stored-body.ts'

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
 * consequences in their order (`store-change.ts`). A request that leaves the body as it was also keeps a snapshot, but
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
