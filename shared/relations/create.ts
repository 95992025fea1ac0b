import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import { BlockLines } from '../body/block-lines.ts'
import { type CurrentBody, currentBody } from '../body/queries.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { newId } from '../schema/ids.ts'
import type { RelationCreateInput } from './schema.ts'
import { parseDocumentUri } from './uri.ts'
import { insertManual } from './write.ts'

/**
 * Creates a manual relation and returns its id. Both ends must exist and be visible, 404 `document_not_found` or
 * `block_not_found`; the caller must be a writer where the source is, 403; 409 `relation_exists` when there is the same
 * one already, 422 `self_relation` for a block and itself.
 */
export async function createRelation(
  context: { tx: Transaction },
  input: { caller: Caller; relation: RelationCreateInput },
): Promise<{ workspaceId: string; id: string }> {
  const { tx } = context
  const { caller, relation } = input
  const target = parseDocumentUri(relation.target_uri)
  if (target === null) throw new Error('the schema lets only addresses of documents through')
  const { source_document_id: documentId, source_block_id: blockId } = relation
  const field = 'source_document_id'
  const source = await requireEnd(tx, { caller, documentId, blockId, field, blockField: 'source_block_id' })
  await requireEnd(tx, { caller, ...target, field: 'target_uri', blockField: 'target_uri' })
  requireWriter(caller, source.workspace_id)
  if (target.documentId === documentId && target.blockId === blockId) throw new Refusal('self_relation')
  const id = newId('rel')
  const storedId = await insertManual(tx, {
    workspace_id: source.workspace_id,
    id,
    predicate: relation.predicate ?? 'refers_to',
    source_document_id: documentId,
    source_block_id: blockId,
    target_uri: relation.target_uri,
    target_document_id: target.documentId,
    target_block_id: target.blockId,
    anchor_text: relation.anchor_text ?? '',
    source_version: source.version,
    created_by: caller.userId,
  })
  if (storedId !== id) throw new Refusal('relation_exists', { details: { id: storedId } })
  return { workspaceId: source.workspace_id, id }
}

type End = { caller: Caller; documentId: string; blockId: string | null; field: string; blockField: string }

async function requireEnd(tx: Transaction, end: End): Promise<CurrentBody> {
  const { documentId, blockId, field, blockField } = end
  const body = await currentBody(tx, { documentId, workspaceIds: visibleWorkspaces(end.caller) })
  if (body === null) throw new Refusal('document_not_found', { details: { id: documentId, field } })
  if (blockId !== null && new BlockLines(body.body.split('\n')).find(blockId) === null) {
    throw new Refusal('block_not_found', { details: { id: blockId, field: blockField } })
  }
  return body
}
