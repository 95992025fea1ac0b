import Type, { type Static } from 'typebox'
import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import { BlockLines } from '../body/block-lines.ts'
import { type CurrentBody, currentBody } from '../body/queries.ts'
import { prepared, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { documentNotFound } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import { newId } from '../schema/ids.ts'
import type { RelationLocator, RelationRow } from './list.ts'
import { parseDocumentUri, type RelationCreateInput } from './schema.ts'

/**
 * Creates a manual relation and returns its id. Refuses with 404 `document_not_found` or `block_not_found` unless both
 * ends exist and are visible. Refuses with 403 unless the caller may write to the source. Refuses with 409
 * `relation_exists` for an equal relation, and with 422 `self_relation` for a block and itself.
 */
export async function createRelation(
  tx: Transaction,
  input: { caller: Caller; relation: RelationCreateInput },
): Promise<{ workspaceId: string; id: string }> {
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

/**
 * Deletes a manual relation and returns its place as it was. Refuses with 404 `relation_not_found`, with 403 unless the
 * caller may write to the source, and with 409 `inline_relation` for a link in a body.
 */
export async function deleteRelation(tx: Transaction, input: { id: string; caller: Caller }): Promise<LockedRelation> {
  const { id, caller } = input
  const relation = await lockRelation(tx, { id, workspaceIds: visibleWorkspaces(caller) })
  if (relation === null) throw new Refusal('relation_not_found', { details: { id } })
  requireWriter(caller, relation.workspace_id)
  if (relation.origin === 'inline') {
    const details = { document_id: relation.source_document_id, block_id: relation.source_block_id }
    throw new Refusal('inline_relation', { details })
  }
  await deleteRelationRow(tx, relation)
  return relation
}

/**
 * A consequence of deletions: deletes the relations of a deleted knowledge base of which no end is left, and keeps them
 * in the entry of the trash if there is one. Where a document or folder was deleted, relations stay
 * (api/guide/documents.md#deletion).
 */
export async function deleteRelationsWithoutEnds(
  { tx }: { tx: Transaction },
  input: {
    workspaceId: string
    documents: readonly { id: string }[]
    knowledgeBases: readonly number[]
    entryId: string | null
  },
): Promise<void> {
  if (input.knowledgeBases.length === 0) return
  const documentIds = input.documents.map(({ id }) => id)
  const ids = sql.array(documentIds, 'text')
  await tx.query(sql.unsafe`
    WITH deleted AS (
      DELETE FROM relations r
      WHERE r.workspace_id = ${input.workspaceId}
        AND (r.source_document_id = ANY(${ids}) OR r.target_document_id = ANY(${ids}))
        AND NOT EXISTS (
          SELECT FROM documents s WHERE s.workspace_id = r.workspace_id AND s.id = r.source_document_id)
        AND NOT EXISTS (
          SELECT FROM document_directory i JOIN documents t ON t.workspace_id = i.workspace_id AND t.id = i.id
          WHERE i.id = r.target_document_id)
      RETURNING r.*
    )
    INSERT INTO trash_rows (workspace_id, entry_id, table_name, document_id, other_document_id, row)
    SELECT d.workspace_id, ${input.entryId}, 'relations', d.source_document_id, d.target_document_id, to_jsonb(d)
    FROM deleted d WHERE ${input.entryId}::text IS NOT NULL`)
}

type End = { caller: Caller; documentId: string; blockId: string | null; field: string; blockField: string }

async function requireEnd(tx: Transaction, end: End): Promise<CurrentBody> {
  const { documentId, blockId, field, blockField } = end
  const body = await currentBody(tx, { documentId, workspaceIds: visibleWorkspaces(end.caller) })
  if (body === null) throw documentNotFound(documentId, field)
  if (blockId !== null && new BlockLines(body.body.split('\n')).find(blockId) === null) {
    throw new Refusal('block_not_found', { details: { id: blockId, field: blockField } })
  }
  return body
}

type NewRelation = Pick<
  RelationRow,
  | 'workspace_id'
  | 'id'
  | 'predicate'
  | 'source_document_id'
  | 'source_block_id'
  | 'target_uri'
  | 'target_document_id'
  | 'target_block_id'
  | 'anchor_text'
  | 'source_version'
  | 'created_by'
>

// Inserts a manual relation and returns its id, or the id of an equal relation, also when two transactions race.
function insertManual(tx: Transaction, relation: NewRelation): Promise<string> {
  return tx.oneFirst(
    prepared(sql.type(row(Type.Object({ id: Type.String() })))`
    INSERT INTO relations
      (workspace_id, id, origin, predicate, source_document_id, source_block_id, target_uri, target_document_id,
       target_block_id, anchor_text, source_version, created_by)
    VALUES (${relation.workspace_id}, ${relation.id}, 'manual', ${relation.predicate}, ${relation.source_document_id},
      ${relation.source_block_id}, ${relation.target_uri}, ${relation.target_document_id},
      ${relation.target_block_id}, ${relation.anchor_text}, ${relation.source_version}, ${relation.created_by})
    ON CONFLICT (workspace_id, source_document_id, source_block_id, predicate, target_uri) WHERE origin = 'manual'
    DO UPDATE SET predicate = excluded.predicate
    RETURNING id`),
  )
}

const LockedShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  origin: Type.Enum(['inline', 'manual']),
  source_document_id: Type.String(),
  source_block_id: Type.String(),
})

type LockedRelation = Static<typeof LockedShape>

// Returns a visible relation, locked until the transaction ends, or null.
function lockRelation(tx: Transaction, locator: RelationLocator) {
  return tx.maybeOne(sql.type(row(LockedShape))`
    SELECT r.workspace_id, r.id, r.origin, r.source_document_id, r.source_block_id
    FROM relations r
    WHERE ${inWorkspaces(sql.fragment`r.workspace_id`, locator.workspaceIds)} AND r.id = ${locator.id} FOR UPDATE`)
}

async function deleteRelationRow(tx: Transaction, key: { workspace_id: string; id: string }): Promise<void> {
  await tx.query(sql.unsafe`DELETE FROM relations WHERE workspace_id = ${key.workspace_id} AND id = ${key.id}`)
}
