import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { type DocumentRow, updateVariant } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import type { Jobs } from '../jobs/queues.ts'
import { announceMember } from './announce.ts'
import { type Actor, recordAudit } from './audit.ts'
import { holdMember } from './hold.ts'
import { findWritable, type MemberName, memberNamed } from './members.ts'
import type { TranslationUpdateInput } from './schema.ts'

/**
 * Changes title or workflow status of a member, the source included (decisions 4.13); the last write wins. A change
 * that leads to the same state is none. 404, 403, 409 `localization_not_active`.
 */
export async function updateTranslation(
  context: { tx: Transaction; jobs: Jobs },
  input: { caller: Caller; actor: Actor; documentId: string; name: MemberName; update: TranslationUpdateInput },
): Promise<DocumentRow> {
  const { tx } = context
  const { caller, update } = input
  const { found, named } = await findWritable(tx, input, (members) => memberNamed(members, input.name))
  const before = await holdMember(tx, { caller, documentId: named.id })
  if (before === null || before.document_set_id !== found.set.id) {
    throw new Refusal('translation_not_found', { details: { id: named.id } })
  }
  const title = update.title?.trim() ?? before.title
  const workflowStatus = update.workflow_status ?? before.workflow_status
  const retitled = title !== before.title
  if (!retitled && workflowStatus === before.workflow_status) return before
  const document = await updateVariant(tx, { document: before, title, workflowStatus, updatedBy: caller.userId })
  await recordAudit(tx, {
    workspaceId: document.workspace_id,
    actor: input.actor,
    entries: [
      {
        action: 'translation.updated',
        document_set_id: found.set.id,
        source_document_id: found.set.source_document_id,
        target_document_id: document.id,
        locale: document.locale,
        details: { title_changed: retitled, workflow_status: workflowStatus },
      },
    ],
  })
  await announceMember(context, { document, changes: retitled ? ['title'] : [] })
  return document
}
