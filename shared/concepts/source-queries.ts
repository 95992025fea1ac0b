import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

/** The current versions of documents of one workspace; those that are gone are left out. */
export function documentVersions(db: Queryable, input: { workspaceId: string; documentIds: readonly string[] }) {
  return db.any(sql.type(row(Type.Object({ id: Type.String(), version: Type.String() })))`
    SELECT id, version FROM documents
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.documentIds], 'text')})`)
}

const PresentRow = row(Type.Object({ document_id: Type.String(), block_ids: Type.Array(Type.String()) }))

/**
 * Which of the given blocks are in the current bodies of their documents. The text of a body is unpacked once for all
 * of its blocks: joining it with nothing makes a plain value of it, and OFFSET keeps the planner from undoing that.
 */
export function presentBlocks(
  db: Queryable,
  input: { workspaceId: string; blocks: readonly { document_id: string; block_ids: readonly string[] }[] },
) {
  return db.any(sql.type(PresentRow)`
    SELECT w.document_id,
      ARRAY(
        SELECT id FROM jsonb_array_elements_text(w.block_ids) AS id WHERE strpos(t.body, '"id":"' || id || '"') > 0
      ) AS block_ids
    FROM jsonb_to_recordset(${JSON.stringify(input.blocks)}::jsonb) AS w (document_id text, block_ids jsonb)
    JOIN LATERAL (
      SELECT b.body || '' AS body FROM documents d
      JOIN document_bodies b
        ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
      WHERE d.workspace_id = ${input.workspaceId} AND d.id = w.document_id
      OFFSET 0
    ) t ON true`)
}
