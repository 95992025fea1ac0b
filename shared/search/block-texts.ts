import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { Headings, headingPathAt } from './index/outline.ts'
import { isFresh } from './statement/conditions.ts'
import { nearestHeadings } from './statement/hits.ts'

const PlacedShape = Type.Object({
  document_id: Type.String(),
  block_id: Type.String(),
  type: Type.String(),
  text: Type.String(),
  position: Type.Integer(),
  headings: Headings,
})
const PlacedRow = row(PlacedShape)

// The most code points of a text that a page shows of a block.
const longestText = 240

/** A block that contains text: how the text begins, and the titles of the sections around it, outermost first. */
export type BlockText = { documentId: string; blockId: string; type: string; text: string; headingPath: string[] }

/**
 * Returns how blocks begin and where they stand, as the search index has it, for people who see a reference to a block.
 * Leaves out blocks without text, invisible documents, and documents whose index is not current.
 */
export async function blockTexts(
  db: Queryable,
  input: { workspaceIds: readonly string[]; blocks: readonly { documentId: string; blockId: string }[] },
): Promise<readonly BlockText[]> {
  const { workspaceIds, blocks } = input
  if (blocks.length === 0) return []
  const wanted = blocks.map(({ documentId, blockId }) => [documentId, blockId])
  const rows = await db.any(sql.type(PlacedRow)`
    SELECT d.id AS document_id, place.block_id, b.type, left(b.body, ${longestText}) AS text, place.position,
      (${nearestHeadings}) AS headings
    FROM (
      SELECT document_id, array_agg(DISTINCT block_id) AS block_ids
      FROM ${sql.unnest(wanted, ['text', 'text'])} AS u (document_id, block_id) GROUP BY 1
    ) AS w
    JOIN document_directory i ON i.id = w.document_id AND ${inWorkspaces(sql.fragment`i.workspace_id`, workspaceIds)}
    JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
    JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id AND s.rows_at = s.indexed_at
    CROSS JOIN LATERAL (
      SELECT r.block_id, r.ord, r.position
      FROM unnest(s.row_block_ids, s.row_ords, s.row_positions) AS r (block_id, ord, position)
      WHERE r.block_id = ANY(w.block_ids)
    ) AS place
    JOIN search_blocks b ON b.workspace_id = s.workspace_id AND b.document_id = s.document_id AND b.ord = place.ord
    WHERE ${isFresh}`)
  return rows.map(present)
}

/**
 * Returns how the first blocks with text of a document begin, in document order, as the search index has them. The
 * index may be a moment older than the body. Empty for a document that was not indexed yet.
 */
export async function firstBlockTexts(
  db: Queryable,
  document: { workspaceId: string; id: string; limit: number },
): Promise<readonly BlockText[]> {
  const rows = await db.any(sql.type(PlacedRow)`
    SELECT s.document_id, place.block_id, b.type, left(b.body, ${longestText}) AS text, place.position,
      '[]'::jsonb AS headings
    FROM search_documents s
    CROSS JOIN LATERAL (
      SELECT r.block_id, r.ord, r.position
      FROM unnest(s.row_block_ids, s.row_ords, s.row_positions) AS r (block_id, ord, position)
      ORDER BY r.ord LIMIT ${document.limit}
    ) AS place
    JOIN search_blocks b ON b.workspace_id = s.workspace_id AND b.document_id = s.document_id AND b.ord = place.ord
    WHERE s.workspace_id = ${document.workspaceId} AND s.document_id = ${document.id} AND s.rows_at = s.indexed_at
    ORDER BY place.ord`)
  return rows.map(present)
}

function present({ document_id, block_id, type, text, position, headings }: Static<typeof PlacedShape>): BlockText {
  return { documentId: document_id, blockId: block_id, type, text, headingPath: headingPathAt(headings, position) }
}
