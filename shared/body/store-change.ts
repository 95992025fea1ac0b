import { eventDocument } from '../documents/present.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvent } from '../events/record.ts'
import { checkBytes, checkCharacters, maximumNodes } from './body-limits.ts'
import type { BodyChange, TwoTexts } from './change.ts'
import type { CommitContext } from './consequence.ts'
import * as queries from './queries.ts'
import type { Splice } from './versioned-lines.ts'

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
