import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database.ts'
import { deleteDocuments } from '../documents/deletion.ts'
import type { DocumentFollower } from '../documents/followers.ts'
import { Refusal } from '../errors.ts'
import { type Actor, recordAudit } from './audit-queries.ts'
import { holdMember } from './hold.ts'
import { findWritable, type MemberName, memberNamed } from './members.ts'
import { visibleSet } from './queries.ts'

/**
 * Deletes a translation as any document is deleted. 404, 403, 409 `localization_not_active` or `cannot_delete_source`.
 */
export async function deleteTranslation(
  context: { tx: Transaction; followers: readonly DocumentFollower[] },
  input: { caller: Caller; actor: Actor; documentId: string; name: MemberName },
): Promise<void> {
  const { tx } = context
  const { caller } = input
  const { found, named } = await findWritable(tx, input, (members) => memberNamed(members, input.name))
  if (named.variant_role === 'source') {
    throw new Refusal('cannot_delete_source', { details: { document_set_id: found.set.id } })
  }
  const document = await holdMember(tx, { caller, documentId: named.id })
  if (document === null) throw new Refusal('translation_not_found', { details: { id: named.id } })
  const { workspace_id: workspaceId, id, locale } = document
  const { id: setId, source_document_id } = found.set
  await deleteDocuments(context, { workspaceId, documentIds: [id] })
  // Its last member has taken the set along, and would take the record.
  if ((await visibleSet(tx, { id: setId, workspaceIds: [workspaceId] })) === null) return
  await recordAudit(tx, {
    workspaceId,
    actor: input.actor,
    entries: [
      {
        action: 'translation.deleted',
        document_set_id: setId,
        source_document_id,
        target_document_id: id,
        locale,
      },
    ],
  })
}
