import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import type { DeletionFollower } from '../documents/deletion.ts'
import { deleteDocuments } from '../documents/deletion.ts'
import { Refusal } from '../errors/errors.ts'
import { holdMember } from './hold.ts'
import { findWritable, type MemberName, memberNamed } from './members.ts'

/**
 * Deletes a translation as any document is deleted. 404, 403, 409 `localization_not_active` or `cannot_delete_source`.
 */
export async function deleteTranslation(
  context: { tx: Transaction; followers: readonly DeletionFollower[] },
  input: { caller: Caller; documentId: string; name: MemberName },
): Promise<void> {
  const { tx } = context
  const { caller } = input
  const { found, named } = await findWritable(tx, input, (members) => memberNamed(members, input.name))
  if (named.variant_role === 'source') {
    throw new Refusal('cannot_delete_source', { details: { document_set_id: found.set.id } })
  }
  const document = await holdMember(tx, { caller, documentId: named.id })
  if (document === null) throw new Refusal('translation_not_found', { details: { id: named.id } })
  await deleteDocuments(context, { workspaceId: document.workspace_id, documentIds: [document.id] })
}
