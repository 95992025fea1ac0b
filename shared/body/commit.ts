import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import type { DocumentFollower } from '../documents/followers.ts'
import { eventDocument } from '../documents/present.ts'
import { type DocumentRow, lockDocument } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { documentsChanged, quietMs } from '../jobs/projections/changed.ts'
import type { Jobs } from '../jobs/queues.ts'
import { followReferences, requireAttachments } from './attachment-references.ts'
import { checkBytes, checkCharacters } from './body-limits.ts'
import { characterCount, nodeCount, textVersion } from './canonical.ts'
import type { DocNode } from './document.ts'
import { notifyLive } from './live/queries.ts'
import { compareLines, type LineDifference, manifestStep, type PlacedLine } from './manifest.ts'
import { maximumNodes, type NamedAttachments } from './normalise-state.ts'
import * as queries from './queries.ts'
import { StoredBody } from './stored-body.ts'

/** Everything a commit needs besides the edit. */
export type CommitContext = {
  tx: Transaction
  jobs: Jobs
  config: Pick<Config, 'DOCUMENT_MAX_BYTES' | 'QUOTA_DOCUMENT_CHARACTERS' | 'VERSIONS_RETENTION'>
  /** What has to be true of the new body in the same transaction; every process that writes bodies names all of them. */
  followers: readonly DocumentFollower[]
}

/** What an edit made of the blocks; of the `attachments` that its nodes name, the new ones are checked for existence. */
export type Edited = { lines: readonly string[]; attachments?: NamedAttachments }

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
 * loaded here. 404 when the document is not visible, 403 when the role may not write, 422 `document_too_large` or
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
  const { workspace_id: workspaceId } = before
  const { attachments } = edited
  if (attachments) await requireAttachments(tx, { workspaceId, attachments, currentText: current.text })
  const text = edited.lines.join('\n')
  const changed = text !== current.text
  if (changed) requireBytes({ before: current.text, after: text, limit: context.config.DOCUMENT_MAX_BYTES })
  const body = changed ? new StoredBody({ version: textVersion(text), text }) : current
  const difference = changed ? compareLines(current.lines, body.lines) : null
  const characterLimit = context.config.QUOTA_DOCUMENT_CHARACTERS
  const sizes = difference === null ? before : measure({ before, difference, characterLimit })
  const { snapshot = true, caller } = commit
  const document = await store(context, { before, current, body, difference, sizes, userId: caller.userId, snapshot })
  if (difference !== null) {
    for (const follower of context.followers) await follower.bodyChanged(tx, { document, difference })
    await announce(context, { before, document })
  }
  return { document, body, edited, changed }
}

// A body that was stored under another limit may still become smaller, step by step.
function requireBytes({ before, after, limit }: { before: string; after: string; limit: number }): void {
  const actual = Buffer.byteLength(after)
  if (actual > limit && actual > Buffer.byteLength(before)) checkBytes(actual, limit)
}

type Sizes = Pick<DocumentRow, 'character_count' | 'node_count'>

// A commit's cost follows the edit, not the document.
function measure(input: { before: DocumentRow; difference: LineDifference; characterLimit: number }): Sizes {
  const { before, difference } = input
  const [removed, added] = [asDocument(difference.removed), asDocument(difference.added)]
  const sizes = {
    character_count: before.character_count - characterCount(removed) + characterCount(added),
    node_count: before.node_count - nodeCount(removed) + nodeCount(added),
  }
  requireSize(sizes, input.characterLimit)
  return sizes
}

function asDocument(lines: readonly PlacedLine[]): DocNode {
  return { type: 'doc', content: lines.map(({ block }) => block) }
}

/** Refuses a body over the limits of decisions 2.5 and 8. */
function requireSize(sizes: Sizes, characterLimit: number): void {
  checkCharacters(sizes.character_count, characterLimit)
  if (sizes.node_count > maximumNodes) {
    const reason = `a document holds at most ${maximumNodes} nodes`
    throw new Refusal('invalid_node', { details: { path: '', reason } })
  }
}

type Storing = {
  before: DocumentRow
  current: StoredBody
  body: StoredBody
  /** Null when the body stays the same. */
  difference: LineDifference | null
  sizes: Sizes
  userId: string
  snapshot: boolean
}

async function store({ tx, config }: CommitContext, input: Storing): Promise<DocumentRow> {
  const { before, current, body, difference, sizes, userId, snapshot } = input
  const changed = difference !== null
  if (!changed && !snapshot) return before
  const { workspace_id, id } = before
  const bodySeq = changed ? before.body_seq + 1 : before.body_seq
  const versionSeq = snapshot ? before.version_seq + 1 : before.version_seq
  if (changed) {
    const step = manifestStep(difference)
    await queries.insertBody(tx, { workspace_id, id, body_seq: bodySeq, version: body.version, body: body.text, step })
    const lines = [...difference.removed, ...difference.added].map(({ line }) => line)
    await followReferences(tx, { workspaceId: workspace_id, documentId: id, changed: lines, text: body.text })
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
