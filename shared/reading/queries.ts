import Type, { type Static } from 'typebox'
import { changesFreshness } from '../changes/freshness.ts'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { relationsFreshness } from '../relations/freshness.ts'
import { searchFreshness } from '../search/freshness.ts'
import { summaryFreshness } from '../summaries/freshness.ts'
import { Freshness } from './schema.ts'

/** The public ids of documents, and the workspaces that the caller can see. Ids that are not visible are ignored. */
export type DocumentsLocator = { documentIds: readonly string[]; workspaceIds: readonly string[] }

const SizeRow = row(Type.Object({ id: Type.String(), bytes: Type.Number() }))

/** The sizes of the current bodies of visible documents in bytes, in no order. No body is read for it. */
export function bodySizes(db: Queryable, locator: DocumentsLocator) {
  return db.any(prepared(sql.type(SizeRow)`SELECT d.id, octet_length(b.body) AS bytes ${located(locator)}`))
}

const FreshShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  version: Type.String(),
  body: Type.String(),
  freshness: Freshness,
})

/** A current body with the freshness of what is derived from it. */
export type FreshBody = Static<typeof FreshShape>

/**
 * The current bodies of visible documents, in no order. One statement reads each body with the freshness of what is
 * derived, so the freshness is about that very version.
 */
export function freshBodies(db: Queryable, locator: DocumentsLocator): Promise<readonly FreshBody[]> {
  return db.any(
    prepared(sql.type(row(FreshShape))`
    SELECT d.workspace_id, d.id, d.version, b.body, json_build_object(
      'search', ${searchFreshness}, 'changes', ${changesFreshness}, 'relations', ${relationsFreshness},
      'summary', ${summaryFreshness}) AS freshness
    ${located(locator)}`),
  )
}

const located = ({ documentIds, workspaceIds }: DocumentsLocator) => sql.fragment`
  FROM document_directory i
  JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
  JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
  WHERE i.id = ANY(${sql.array([...documentIds], 'text')})
    AND ${inWorkspaces(sql.fragment`i.workspace_id`, workspaceIds)}`
