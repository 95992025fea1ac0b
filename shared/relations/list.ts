import type { Queryable } from '../database/database.ts'
import {
  type BlockKey,
  existingBlocks,
  type RelationFilter,
  type RelationLocator,
  type RelationRow,
  relationPage,
  visibleRelation,
} from './list-queries.ts'
import type { DocumentRelation } from './schema.ts'
import { blockUri } from './uri.ts'

/** One page of a document's relations with their status, with one more than the limit when there are more. */
export async function listRelations(db: Queryable, filter: RelationFilter): Promise<DocumentRelation[]> {
  return withStatus(db, await relationPage(db, filter))
}

/** A relation with its status. */
export async function readRelation(db: Queryable, locator: RelationLocator): Promise<DocumentRelation> {
  const [relation] = await withStatus(db, [await visibleRelation(db, locator)])
  return relation as DocumentRelation
}

/** Whether a block exists; asked only for ends that were named in `openBlocks`. */
type BlockExists = (documentId: string, blockId: string) => boolean

async function withStatus(db: Queryable, relations: readonly RelationRow[]): Promise<DocumentRelation[]> {
  const open = relations.flatMap(openBlocks)
  const found = open.length === 0 ? [] : await existingBlocks(db, open)
  const keys = new Set(
    found.map(({ document_id, block_id }) => blockUri({ documentId: document_id, blockId: block_id })),
  )
  const exists: BlockExists = (documentId, blockId) => keys.has(blockUri({ documentId, blockId }))
  return relations.map((relation) => present(relation, exists))
}

// The blocks whose bodies have to be asked. A link of the current body is in a block of the current body.
function openBlocks(relation: RelationRow): BlockKey[] {
  const { workspace_id, source_document_id, source_block_id, target_workspace_id, target_block_id } = relation
  const source = { workspace_id, document_id: source_document_id, block_id: source_block_id }
  const sourceOpen = relation.current_version !== null && !extractedNow(relation)
  const target =
    target_workspace_id === null || target_block_id === null
      ? []
      : [{ workspace_id: target_workspace_id, document_id: relation.target_document_id, block_id: target_block_id }]
  return [...(sourceOpen ? [source] : []), ...target]
}

function extractedNow({ origin, extracted_version, current_version }: RelationRow): boolean {
  return origin === 'inline' && extracted_version === current_version
}

function present(relation: RelationRow, exists: BlockExists): DocumentRelation {
  const { source_document_id, source_block_id, target_document_id, source_title, target_title } = relation
  const fresh = (isCurrent: boolean) => (isCurrent ? 'current' : 'stale')
  return {
    id: relation.id,
    predicate: relation.predicate,
    origin: relation.origin,
    source: {
      uri: blockUri({ documentId: source_document_id, blockId: source_block_id }),
      document_id: source_document_id,
      block_id: source_block_id,
      document: source_title === null ? null : { id: source_document_id, title: source_title },
    },
    target: {
      uri: relation.target_uri,
      document_id: target_document_id,
      block_id: relation.target_block_id,
      document: target_title === null ? null : { id: target_document_id, title: target_title },
    },
    anchor_text: relation.anchor_text,
    source_version: relation.source_version,
    evidence_freshness: fresh(relation.source_version === relation.current_version),
    projection_freshness: fresh(relation.origin === 'manual' || extractedNow(relation)),
    status: statusOf(relation, exists),
    created_at: relation.created_at,
    created_by: relation.created_by,
  }
}

// The first that is missing names the status (decisions 2.9).
function statusOf(relation: RelationRow, exists: BlockExists): DocumentRelation['status'] {
  const { source_document_id, source_block_id, target_document_id, target_block_id } = relation
  if (relation.current_version === null) return 'dangling_source_document'
  if (!extractedNow(relation) && !exists(source_document_id, source_block_id)) return 'dangling_source_block'
  if (relation.target_workspace_id === null) return 'dangling_target_document'
  if (target_block_id !== null && !exists(target_document_id, target_block_id)) return 'dangling_target_block'
  return 'valid'
}
