import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { type DocumentRow, documentsOfSets, visibleDocument } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { type SetRow, visibleSet } from './queries.ts'

/** A document set with its members, the source first, then by locale. */
export type SetMembers = { set: SetRow; members: readonly DocumentRow[] }

/** A set by its own id; 404 `document_set_not_found`. */
export async function findSet(db: Queryable, input: { caller: Caller; id: string }): Promise<SetMembers> {
  const found = await setById(db, { id: input.id, workspaceIds: visibleWorkspaces(input.caller) })
  if (found === null) throw new Refusal('document_set_not_found', { details: { id: input.id } })
  return found
}

/** The set that a document is in, for a read; 404 `document_not_found` or `not_localized`. */
export async function findSetOf(db: Queryable, input: { caller: Caller; documentId: string }): Promise<SetMembers> {
  const document = await findDocument(db, input)
  const found = await setOf(db, document)
  if (found === null) throw new Refusal('not_localized', { details: { id: document.id } })
  return found
}

/**
 * The set that a document is in, for a write: 404 `document_not_found`, 403 for a role that may not write, 409
 * `localization_not_active`. Unlocked: what the write rests on is to be held and read again.
 */
export async function findWritableSetOf(
  tx: Transaction,
  input: { caller: Caller; documentId: string },
): Promise<SetMembers> {
  const { found } = await findWritable(tx, input, () => null)
  return found
}

/**
 * As `findWritableSetOf`, with what the call names in the set: `find` refuses with 404 what is not there, and that comes
 * before the role (decisions 2.0).
 */
export async function findWritable<Named>(
  tx: Transaction,
  input: { caller: Caller; documentId: string },
  find: (found: SetMembers) => Named | Promise<Named>,
): Promise<{ found: SetMembers; named: Named }> {
  const document = await findDocument(tx, input)
  const found = await setOf(tx, document)
  const place = found && { found, named: await find(found) }
  requireWriter(input.caller, document.workspace_id)
  if (place === null) throw new Refusal('localization_not_active')
  return place
}

/** How a path names one member of a set: by its document, or by its canonical locale. */
export type MemberName = { documentId: string } | { locale: string }

/** The member of that name; 404 `translation_not_found` for what is not in the set. */
export function memberNamed({ members }: SetMembers, name: MemberName): DocumentRow {
  const found = members.find((member) =>
    'locale' in name ? member.locale === name.locale : member.id === name.documentId,
  )
  if (found !== undefined) return found
  throw new Refusal('translation_not_found', { details: { id: 'locale' in name ? name.locale : name.documentId } })
}

/** The source among the members, or null once it was deleted. */
export function sourceOf({ members }: SetMembers): DocumentRow | null {
  return members.find(({ variant_role }) => variant_role === 'source') ?? null
}

async function findDocument(db: Queryable, input: { caller: Caller; documentId: string }): Promise<DocumentRow> {
  const { caller, documentId } = input
  const document = await visibleDocument(db, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document === null) throw new Refusal('document_not_found', { details: { id: documentId } })
  return document
}

async function setOf(db: Queryable, document: DocumentRow): Promise<SetMembers | null> {
  if (document.document_set_id === null) return null
  return setById(db, { id: document.document_set_id, workspaceIds: [document.workspace_id] })
}

// A set without members is one that is just being emptied or filled: it is not there.
async function setById(
  db: Queryable,
  locator: { id: string; workspaceIds: readonly string[] },
): Promise<SetMembers | null> {
  const set = await visibleSet(db, locator)
  if (set === null) return null
  const members = await documentsOfSets(db, { workspaceId: set.workspace_id, documentSetIds: [set.id] })
  return members.length === 0 ? null : { set, members }
}
