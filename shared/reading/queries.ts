import Type, { type Static } from 'typebox'
import { changesFreshness } from '../changes/freshness.ts'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { relationsFreshness } from '../relations/freshness.ts'
import { searchFreshness } from '../search/freshness.ts'
import { summaryFreshness } from '../summaries/freshness.ts'
import { Freshness } from './schema.ts'

const FreshShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  version: Type.String(),
  body: Type.String(),
  freshness: Freshness,
})

/** A current body with the freshness of what is derived from it. */
export type FreshBody = Static<typeof FreshShape>

const FreshRow = row(Type.Object({ ...FreshShape.properties, left_out: Type.Number() }))

/**
 * The current bodies of visible documents, in no order: at most `bytes` of bodies, or one larger body. `leftOut` is the
 * number of visible documents that this page has left out. Ids that are not visible are ignored. One statement measures
 * and reads the bodies, so a body that grows meanwhile does not make a page larger. The same statement reads the
 * freshness of what is derived, so the freshness is about that very version.
 */
export async function freshBodies(
  db: Queryable,
  locator: { documentIds: readonly string[]; workspaceIds: readonly string[]; bytes: number },
): Promise<{ bodies: readonly FreshBody[]; leftOut: number }> {
  // The length of a body is stored beside it, so no body is read that the page leaves out.
  const rows = await db.any(
    prepared(sql.type(FreshRow)`
    WITH visible AS (
      SELECT d.*, b.body, octet_length(b.body) AS bytes,
        sum(octet_length(b.body)) OVER (ORDER BY d.id) AS bytes_so_far, count(*) OVER () AS documents
      FROM document_directory i
      JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
      JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
      WHERE i.id = ANY(${sql.array([...locator.documentIds], 'text')})
        AND ${inWorkspaces(sql.fragment`i.workspace_id`, locator.workspaceIds)}
    )
    SELECT d.workspace_id, d.id, d.version, d.body, d.documents - count(*) OVER () AS left_out, json_build_object(
      'search', ${searchFreshness}, 'changes', ${changesFreshness}, 'relations', ${relationsFreshness},
      'summary', ${summaryFreshness}) AS freshness
    FROM visible d
    WHERE d.bytes_so_far <= ${locator.bytes} OR d.bytes_so_far = d.bytes`),
  )
  return { bodies: rows, leftOut: rows[0]?.left_out ?? 0 }
}
