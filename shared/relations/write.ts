import Type from 'typebox'
import { prepared, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { RelationLocator, RelationRow } from './list-queries.ts'

const LockedShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  origin: Type.Enum(['inline', 'manual']),
  source_document_id: Type.String(),
  source_block_id: Type.String(),
})

/** A visible relation, locked until the transaction ends, or null. */
export function lockRelation(tx: Transaction, locator: RelationLocator) {
  return tx.maybeOne(sql.type(row(LockedShape))`
    SELECT r.workspace_id, r.id, r.origin, r.source_document_id, r.source_block_id
    FROM relations r
    WHERE r.workspace_id = ANY(${sql.array([...locator.workspaceIds], 'text')}) AND r.id = ${locator.id} FOR UPDATE`)
}

/** A new manual relation. */
export type NewRelation = Pick<
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

/** Inserts a manual relation and returns its id, or that of the one that says the same already, also when two race. */
export function insertManual(tx: Transaction, relation: NewRelation): Promise<string> {
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

/** Deletes a relation. */
export async function deleteRelationRow(tx: Transaction, key: { workspace_id: string; id: string }): Promise<void> {
  await tx.query(sql.unsafe`DELETE FROM relations WHERE workspace_id = ${key.workspace_id} AND id = ${key.id}`)
}

/** Deletes the relations of deleted documents of which no end is left (decisions 4.15, knowledge bases). */
export async function deleteEndless(
  tx: Transaction,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  const ids = sql.array([...input.documentIds], 'text')
  await tx.query(sql.unsafe`
    DELETE FROM relations r
    WHERE r.workspace_id = ${input.workspaceId}
      AND (r.source_document_id = ANY(${ids}) OR r.target_document_id = ANY(${ids}))
      AND NOT EXISTS (
        SELECT FROM documents s WHERE s.workspace_id = r.workspace_id AND s.id = r.source_document_id)
      AND NOT EXISTS (
        SELECT FROM document_directory i JOIN documents t ON t.workspace_id = i.workspace_id AND t.id = i.id
        WHERE i.id = r.target_document_id)`)
}
