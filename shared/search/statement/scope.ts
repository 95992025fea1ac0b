import { sql } from '../../database/database.ts'
import { inWorkspaces } from '../../database/workspaces.ts'
import { documentsFoundBy, hasMetadata, isFoundExactly } from '../../documents/metadata-filter.ts'
import { type Fragment, hidden } from './conditions.ts'
import type { DocumentFilters, SearchScope } from './request.ts'

/**
 * The condition that a document `d` is in a scope. The caller must already have selected the workspaces of the scope
 * (sql/0024). With a filter by folder, the statement must begin with `scopeTables`.
 */
export function isIncluded({ filters, ...scope }: SearchScope): Fragment {
  return filters ? sql.fragment`${isInLocale(scope)} AND ${passes(filters)}` : isInLocale(scope)
}

/**
 * Selects columns of all documents `d` in a narrowed scope. The statement must begin with `scopeTables`. Documents are
 * read through the index of their tags and properties or of their folders, since the planner does not know how few
 * documents these name. With `many`, documents with tags or properties are looked for in the index of all documents,
 * since each look-up by itself costs as much as some thirty rows of that index.
 */
export function documentsInScope(scope: SearchScope, columns: Fragment, { many = false } = {}): Fragment {
  const { folderId, metadata, ...others } = scope.filters ?? {}
  if (metadata !== undefined && many && isFoundExactly(metadata)) {
    // The comparison with true makes PostgreSQL keep the chosen documents in a hash table.
    return sql.fragment`
      SELECT ${columns} FROM documents d
      WHERE ${inWorkspaces(sql.fragment`d.workspace_id`, scope.workspaceIds)}
        AND (d.id IN (SELECT c.document_id FROM chosen_documents c)) IS TRUE
        AND ${isIncluded({ ...scope, filters: { ...others, folderId } })}`
  }
  if (metadata !== undefined) {
    return sql.fragment`
      SELECT d.* FROM chosen_documents c CROSS JOIN LATERAL (
        SELECT ${columns} FROM documents d
        WHERE d.workspace_id = c.workspace_id AND d.id = c.document_id AND ${isIncluded(scope)} LIMIT 1) AS d`
  }
  if (folderId === undefined) {
    return sql.fragment`
      SELECT ${columns} FROM documents d
      WHERE ${inWorkspaces(sql.fragment`d.workspace_id`, scope.workspaceIds)} AND ${isIncluded(scope)}`
  }
  return sql.fragment`
    SELECT d.* FROM chosen_folders f CROSS JOIN LATERAL (
      SELECT ${columns} FROM documents d
      WHERE d.workspace_id = f.workspace_id AND d.folder_id = f.id AND ${isIncluded({ ...scope, filters: others })}
      OFFSET 0) AS d`
}

/**
 * Selects columns of all documents `d` in scope whose titles a search asks for. The statement must begin with
 * `scopeTables` and the table `titled`.
 */
export function titledDocuments(scope: SearchScope, columns: Fragment): Fragment {
  return sql.fragment`
    SELECT d.* FROM titled t CROSS JOIN LATERAL (
      SELECT ${columns} FROM documents d
      WHERE d.workspace_id = t.workspace_id AND d.id = t.id AND ${isIncluded(scope)} LIMIT 1) AS d`
}

/**
 * The tables at the beginning of a statement in a scope. `chosen_folders` has the folder of a filter and all folders
 * below it. `chosen_documents` has the documents that may have the tags and properties of a filter. With `listed`,
 * `scoped` has the key and the time of the last change of each document in scope.
 */
export function scopeTables(scope: SearchScope, { listed }: { listed: boolean }): Fragment {
  const { filters, workspaceIds } = scope
  const folders =
    filters?.folderId === undefined
      ? sql.fragment``
      : sql.fragment`
    chosen_folders AS MATERIALIZED (
      WITH RECURSIVE below AS (
        SELECT f.workspace_id, f.id FROM folders f
        WHERE f.id = ${hidden(filters.folderId, 'int8')} AND ${inWorkspaces(sql.fragment`f.workspace_id`, workspaceIds)}
        UNION ALL
        SELECT f.workspace_id, f.id FROM below b JOIN folders f ON f.workspace_id = b.workspace_id AND f.parent_id = b.id
      )
      SELECT * FROM below),`
  const metadata = filters?.metadata
  const tagged =
    metadata === undefined
      ? sql.fragment``
      : sql.fragment`
    chosen_documents AS MATERIALIZED (
      SELECT w.id AS workspace_id, found.document_id FROM unnest(${sql.array([...workspaceIds], 'text')}) AS w (id)
      CROSS JOIN LATERAL (${documentsFoundBy(metadata, sql.fragment`w.id`)}) AS found),`
  if (!listed) return sql.fragment`${folders}${tagged}`
  return sql.fragment`${folders}${tagged}
    scoped AS MATERIALIZED (${documentsInScope(scope, sql.fragment`d.workspace_id, d.id, d.updated_at`)}),`
}

function isInLocale({ locale, knowledgeBaseId }: SearchScope): Fragment {
  const exact = typeof locale === 'object' ? locale.exact : null
  return sql.fragment`search_includes(d, ${knowledgeBaseId ?? null}, ${exact}, ${locale !== 'default'})`
}

// The condition that a document `d` passes all filters. Most values are hidden from the planner, so that the plans of
// narrowed searches are kept, too. Times are not hidden: whether few or most documents pass decides about the plan.
function passes(filters: DocumentFilters): Fragment {
  const { folderId, documentId, updatedBy, updatedAfter, updatedBefore, metadata } = filters
  const folders = sql.fragment`(SELECT array_agg(id) FROM chosen_folders)`
  const conditions = [
    ...(folderId === undefined ? [] : [sql.fragment`d.folder_id = ANY(${folders}::int8[])`]),
    ...(documentId === undefined ? [] : [sql.fragment`d.id = ${hidden(documentId, 'text')}`]),
    ...(updatedBy === undefined ? [] : [sql.fragment`d.updated_by = ${hidden(updatedBy, 'text')}`]),
    ...(updatedAfter === undefined ? [] : [sql.fragment`d.updated_at >= ${instant(updatedAfter)}`]),
    ...(updatedBefore === undefined ? [] : [sql.fragment`d.updated_at < ${instant(updatedBefore)}`]),
    ...(metadata === undefined ? [] : [hasMetadata(metadata)]),
  ]
  return sql.fragment`${sql.join([sql.fragment`true`, ...conditions], sql.fragment` AND `)}`
}

const instant = (milliseconds: number) => sql.fragment`to_timestamp(${milliseconds}::float8 / 1000)::timestamptz(3)`
