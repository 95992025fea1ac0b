import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Ahead } from '../computations/ahead.ts'
import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import { eventDocument } from '../documents/present.ts'
import { type DocumentRow, lockDocument } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { documentsChanged, quietMs } from '../jobs/projections/changed.ts'
import type { Jobs } from '../jobs/queues.ts'
import { followReferences, requireAttachments } from './attachment-references.ts'
import { checkBytes, checkCharacters, maximumNodes } from './body-limits.ts'
import { type BodyChange, changing } from './change.ts'
import type { DocumentFollower } from './follower.ts'
import { notifyLive } from './live/queries.ts'
import type { NamedAttachments } from './normalise-state.ts'
import * as queries from './queries.ts'
import { StoredBody } from './stored-body.ts'

/** Everything a commit needs besides the edit. */
export type CommitContext = {
  tx: Transaction
  jobs: Jobs
  config: Pick<Config, 'DOCUMENT_MAX_BYTES' | 'QUOTA_DOCUMENT_CHARACTERS' | 'VERSIONS_RETENTION'>
  /** What has to be true of the new body in the same transaction; every process that writes bodies names all of them. */
  followers: readonly DocumentFollower[]
  /** Where what takes long is computed; requests do not compute it while they hold the document. */
  ahead: Ahead
}

/** The stored text an edit made; of the `attachments` that its nodes name, the new ones are checked for existence. */
export type Edited = { text: string; attachments?: NamedAttachments }

export type Commit<E extends Edited, Found = undefined> = {
  documentId: string
  caller: Caller
  /** Finds what the path names in the locked body, or refuses with 404: that comes before role and guard. */
  find?: (current: StoredBody, document: DocumentRow) => Promise<Found> | Found
  /**
   * Holds the caller's precondition against the locked body: 428 when it is missing, 409 when it is stale. The edit is
   * not called then.
   */
  guard?: (current: StoredBody, document: DocumentRow, found: Found) => Promise<void> | void
  /** Blocks → blocks, all or nothing: a Refusal leaves the document as it was. */
  edit: (current: StoredBody, found: Found) => Promise<E> | E
  /** False for what was typed live, which is saved every few seconds (decisions 1). */
  snapshot?: boolean
}

/** The state after the commit. `changed` is false when the edit led to the same body. */
export type Committed<E extends Edited> = {
  document: DocumentRow
  body: StoredBody
  edited: E
  changed: boolean
}

/**
 * The one door through which a body changes (architecture): lock, guard, edit, snapshot, store, event, jobs, all in the
 * caller's transaction. Every accepted request keeps a snapshot of the state before it, also when the body stays the
 * same; an unchanged body has no event and no job (decisions 2.5). Live processes are told; their Y document is not
 * loaded here. What takes long comes from `context.ahead`, also for edits: with `computingAhead`, nothing is computed
 * that takes long, and nothing waits for a thread, while the document is locked. 404 when the document is not visible, 403 when the role may not write, 422 `document_too_large` or
 * `attachment_not_found` for what only the whole body can tell.
 */
export async function commitBody<E extends Edited, Found = undefined>(
  context: CommitContext,
  commit: Commit<E, Found>,
): Promise<Committed<E>> {
  const { tx } = context
  const locator = { documentId: commit.documentId, workspaceIds: visibleWorkspaces(commit.caller) }
  const before = await lockDocument(tx, locator)
  if (before === null) throw new Refusal('document_not_found', { details: { id: commit.documentId } })
  const current = new StoredBody({ version: before.version, text: await queries.bodyText(tx, before) })
  const found = (await commit.find?.(current, before)) as Found
  requireWriter(commit.caller, before.workspace_id)
  await commit.guard?.(current, before, found)
  const edited = await commit.edit(current, found)
  const { text, attachments: named } = edited
  const texts = { from: current.text, to: text }
  const change = text === current.text ? null : context.ahead.result(changing, texts)
  if (change !== null && named) {
    await requireAttachments(tx, { workspaceId: before.workspace_id, ids: change.shown, named })
  }
  const sizes = change === null ? before : measure({ before, change, config: context.config })
  const body = change === null ? current : new StoredBody({ version: change.version, text })
  const { snapshot = true, caller } = commit
  const document = await store(context, { before, current, body, change, sizes, userId: caller.userId, snapshot })
  if (change !== null) {
    for (const follower of context.followers) await follower.bodyChanged(context, { document, texts })
    await announce(context, { before, document })
  }
  return { document, body, edited, changed: change !== null }
}

type Sizes = Pick<DocumentRow, 'character_count' | 'node_count'>
type Measured = { before: DocumentRow; change: BodyChange; config: CommitContext['config'] }

/** The sizes of a changed body; refuses one over the limits of decisions 2.5 and 8. */
function measure({ before, change, config }: Measured): Sizes {
  // A body that was stored under another limit may still become smaller, step by step.
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
  sizes: Sizes
  userId: string
  snapshot: boolean
}

async function store({ tx, config }: CommitContext, input: Storing): Promise<DocumentRow> {
  const { before, current, body, change, sizes, userId, snapshot } = input
  const changed = change !== null
  if (!changed && !snapshot) return before
  const { workspace_id, id } = before
  const bodySeq = changed ? before.body_seq + 1 : before.body_seq
  const versionSeq = snapshot ? before.version_seq + 1 : before.version_seq
  if (changed) {
    const { version, step, shown, hidden } = change
    await queries.insertBody(tx, { workspace_id, id, body_seq: bodySeq, version, body: body.text, step })
    await followReferences(tx, { workspaceId: workspace_id, documentId: id, shown, hidden })
  }
  if (snapshot) {
    const size = Buffer.byteLength(current.text)
    const keep = config.VERSIONS_RETENTION
    await queries.snapshot(tx, { document: before, size, createdBy: userId, keep, currentBodySeq: bodySeq })
  }
  const updatedAt = await queries.updateBodyState(tx, {
    document: before,
    state: {
      version: body.version,
      bodySeq,
      versionSeq,
      characterCount: sizes.character_count,
      nodeCount: sizes.node_count,
      ...(changed && { changedBy: userId }),
    },
  })
  if (!snapshot) await queries.dropUnusedBody(tx, before)
  return {
    ...before,
    ...sizes,
    version: body.version,
    body_seq: bodySeq,
    version_seq: versionSeq,
    updated_at: updatedAt,
    updated_by: changed ? userId : before.updated_by,
  }
}

async function announce(context: CommitContext, input: { before: DocumentRow; document: DocumentRow }): Promise<void> {
  const { document, before } = input
  const [eventRowNo = 0] = await recordEvents(context.tx, {
    workspaceId: document.workspace_id,
    name: 'document.content.updated',
    documents: [eventDocument(document)],
  })
  await notifyLive(context.tx, document)
  await documentsChanged(context, {
    workspaceId: document.workspace_id,
    changes: ['body'],
    documents: [{ id: document.id, eventRowNo, quiet: document.updated_at - before.updated_at > quietMs }],
  })
}
