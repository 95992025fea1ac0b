import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { eventDocument } from '../documents/present.ts'
import { type DocumentRow, documentsOfSets, lockDocument, visibleDocument } from '../documents/queries.ts'
import { requireDocument } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { markStale } from '../jobs/projections/stale.ts'
import type { DocumentChange } from '../jobs/queues.ts'
import type { Jobs } from '../jobs/send.ts'
import { lockStructure } from '../knowledge-bases/queries.ts'
import { type SetRow, visibleSet } from './queries.ts'

/** A document set with its members: the source document first, then the translations by locale. */
export type SetMembers = { set: SetRow; members: readonly DocumentRow[] }

/** Returns a set by its own id; refuses with 404 `document_set_not_found`. */
export async function findSet(db: Queryable, input: { caller: Caller; id: string }): Promise<SetMembers> {
  const found = await setById(db, { id: input.id, workspaceIds: visibleWorkspaces(input.caller) })
  if (found === null) throw new Refusal('document_set_not_found', { details: { id: input.id } })
  return found
}

/** Returns the set of a document, for a read. Refuses with 404 `document_not_found` or `not_localized`. */
export async function findSetOf(db: Queryable, input: { caller: Caller; documentId: string }): Promise<SetMembers> {
  const document = await requireDocument(db, input)
  const found = await setOf(db, document)
  if (found === null) throw new Refusal('not_localized', { details: { id: document.id } })
  return found
}

/**
 * Returns the set of a document, for a write. Refuses with 404 `document_not_found`, with 403 when the caller is a
 * viewer and with 409 `localization_not_active`. The function takes no lock. So the write must lock the documents on
 * which it depends (`lockPair` or `lockMember`), and read their rows again.
 */
export async function findWritableSetOf(
  tx: Transaction,
  input: { caller: Caller; documentId: string },
): Promise<SetMembers> {
  const { found } = await findWritable(tx, input, () => null)
  return found
}

/**
 * Returns, for a write, the set of a document, and what the call names in the set, such as a translation. `find` looks
 * for the named thing and refuses with 404, because a 404 comes before the 403 of the role. Then refuses with 403 when
 * the caller is a viewer and with 409 `localization_not_active`.
 */
export async function findWritable<Named>(
  tx: Transaction,
  input: { caller: Caller; documentId: string },
  find: (found: SetMembers) => Named | Promise<Named>,
): Promise<{ found: SetMembers; named: Named }> {
  const document = await requireDocument(tx, input)
  const found = await setOf(tx, document)
  const result = found && { found, named: await find(found) }
  requireWriter(input.caller, document.workspace_id)
  if (result === null) throw new Refusal('localization_not_active')
  return result
}

/** A name that a path uses for a member of a set: the id of the document, or the canonical locale. */
export type MemberName = { documentId: string } | { locale: string }

/**
 * Returns the member that the name denotes; refuses with 404 `translation_not_found` when the set has no such member.
 */
export function memberNamed({ members }: SetMembers, name: MemberName): DocumentRow {
  const found = members.find((member) =>
    'locale' in name ? member.locale === name.locale : member.id === name.documentId,
  )
  if (found !== undefined) return found
  throw new Refusal('translation_not_found', { details: { id: 'locale' in name ? name.locale : name.documentId } })
}

/** Returns the source document among the members of a set, or null when the source document was deleted. */
export function sourceOf({ members }: SetMembers): DocumentRow | null {
  return members.find(({ variant_role }) => variant_role === 'source') ?? null
}

/**
 * Locks the source document of new translations, and returns it, or null when the document does not exist. Translations
 * are created in the same knowledge base. So the knowledge base is locked before the document, in the order in which
 * deletions lock. When the document moves between the two locks, its new knowledge base is locked after the document.
 * If this causes a deadlock with a deletion, PostgreSQL ends one transaction, and the transaction runs again.
 */
export async function lockSetSource(
  tx: Transaction,
  locator: { documentId: string; workspaceIds: readonly string[] },
): Promise<DocumentRow | null> {
  const seen = await visibleDocument(tx, locator)
  if (seen === null) return null
  lockLocationOf(tx, seen)
  const source = await lockDocument(tx, locator)
  if (source !== null && source.knowledge_base_id !== seen.knowledge_base_id) lockLocationOf(tx, source)
  return source
}

/**
 * Locks a document for a write of the caller. Returns null when the document does not exist; refuses with 403 for a
 * viewer.
 */
export async function lockMember(
  tx: Transaction,
  input: { caller: Caller; documentId: string },
): Promise<DocumentRow | null> {
  const { caller, documentId } = input
  const document = await lockDocument(tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document !== null) requireWriter(caller, document.workspace_id)
  return document
}

/**
 * Records the event of a changed member and enqueues the jobs of its projections. Call the function last in a
 * transaction, because jobs are enqueued last.
 */
export async function announceMember(
  context: { tx: Transaction; jobs: Jobs },
  input: { document: DocumentRow; changes: readonly DocumentChange[] },
): Promise<void> {
  const { document, changes } = input
  const workspaceId = document.workspace_id
  const [eventRowNo = 0] = await recordEvents(context.tx, {
    workspaceId,
    name: 'document.metadata.updated',
    documents: [eventDocument(document)],
  })
  await markStale(context, { workspaceId, changes, documents: [{ id: document.id, eventRowNo, quiet: true }] })
}

async function setOf(db: Queryable, document: DocumentRow): Promise<SetMembers | null> {
  if (document.document_set_id === null) return null
  return setById(db, { id: document.document_set_id, workspaceIds: [document.workspace_id] })
}

// A set without members counts as absent: it is about to be deleted, or was inserted just now.
async function setById(
  db: Queryable,
  locator: { id: string; workspaceIds: readonly string[] },
): Promise<SetMembers | null> {
  const set = await visibleSet(db, locator)
  if (set === null) return null
  const members = await documentsOfSets(db, { workspaceId: set.workspace_id, documentSetIds: [set.id] })
  return members.length === 0 ? null : { set, members }
}

function lockLocationOf(tx: Transaction, document: DocumentRow): void {
  const { workspace_id: workspaceId, knowledge_base_id: id } = document
  lockStructure(tx, { workspaceId, knowledgeBaseIds: [id], mode: 'add' })
}
