import { sql } from '../../database/database.ts'
import { documentsFoundBy, hasMetadata, isFoundExactly } from '../../documents/metadata-filter.ts'
import { type Fragment, hidden, inWorkspacesOf } from './conditions.ts'
import type { DocumentFilters, SearchScope } from './request.ts'

/**
 * The condition that a document `d` is in a scope. The caller must already have selected the workspaces of the scope.
 * With a filter by folder, the statement must begin with `scopeTables`.
 */
export function isIncluded({ filters, ...scope }: SearchScope): Fragment {
  return filters ? sql.fragment`${isInLocale(scope)} AND ${passes(filters)}` : isInLocale(scope)
}

/**
 * Selects columns of all documents `d` in a narrowed scope. The statement must begin with `scopeTables`. Documents are
 * read through the index of their tags and properties, of their folders or of their last changes, since the planner
 * does not know how few documents these name.
 */
export function documentsInScope(scope: SearchScope, columns: Fragment): Fragment {
  const { folderId, metadata } = scope.filters ?? {}
  if (metadata !== undefined) {
    return sql.fragment`
      SELECT d.* FROM chosen_documents c CROSS JOIN LATERAL (
        SELECT ${columns} FROM documents d
        WHERE d.workspace_id = c.workspace_id AND d.id = c.document_id AND ${isIncluded(scope)} LIMIT 1) AS d`
  }
  if (folderId !== undefined) return documentsInFolders(scope, columns)
  return sql.fragment`
    SELECT d.* FROM unnest(${sql.array([...scope.workspaceIds], 'text')}) AS w (id) CROSS JOIN LATERAL (
      SELECT ${columns} FROM documents d WHERE d.workspace_id = w.id AND ${isIncluded(scope)}
      ORDER BY d.updated_at DESC LIMIT ${noLimit}) AS d`
}

// Ends no list. The planner takes any limit that it does not know for a tenth of the rows. So it reads the documents by
// an index, in the order of their last changes, and not the whole table.
const noLimit = sql.fragment`(SELECT NULL::int8)`

/**
 * Selects columns of all documents `d` in a narrowed scope like `documentsInScope`, where they are many. A look-up of
 * one document costs as much as some thirty rows of an index of all documents, and as some ten rows of the table.
 */
export function manyDocumentsInScope(scope: SearchScope, columns: Fragment): Fragment {
  const { metadata, ...others } = scope.filters ?? {}
  const inWorkspaces = inWorkspacesOf(scope, sql.fragment`d.workspace_id`)
  // All properties of a document can be large, so they are looked for in the index alone.
  if (metadata !== undefined && metadata.properties.length > 0) {
    if (!isFoundExactly(metadata)) return documentsInScope(scope, columns)
    // The comparison with true makes PostgreSQL keep the chosen documents in a hash table.
    return sql.fragment`
      SELECT ${columns} FROM documents d
      WHERE ${inWorkspaces} AND (d.id IN (SELECT c.document_id FROM chosen_documents c)) IS TRUE
        AND ${isIncluded({ ...scope, filters: others })}`
  }
  if (others.folderId !== undefined) return documentsInFolders(scope, columns)
  return sql.fragment`SELECT ${columns} FROM documents d WHERE ${inWorkspaces} AND ${isIncluded(scope)}`
}

function documentsInFolders(scope: SearchScope, columns: Fragment): Fragment {
  const { folderId: _chosen, ...others } = scope.filters ?? {}
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
        WHERE f.id = ${hidden(filters.folderId, 'int8')} AND ${inWorkspacesOf(scope, sql.fragment`f.workspace_id`)}
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
  return allOf([
    ...(knowledgeBaseId === undefined ? [] : [sql.fragment`d.knowledge_base_id = ${hidden(knowledgeBaseId, 'int8')}`]),
    ...(typeof locale === 'object' ? [sql.fragment`d.locale = ${hidden(locale.exact, 'text')}`] : []),
    ...(locale === 'default' ? [sql.fragment`d.variant_role IS DISTINCT FROM 'translation'`] : []),
  ])
}

// The condition that a document `d` passes all filters. The values are hidden from the planner, so that the plans of
// narrowed searches are kept, too.
function passes(filters: DocumentFilters): Fragment {
  const { folderId, documentId, updatedBy, updatedAfter, updatedBefore, metadata } = filters
  const folders = sql.fragment`(SELECT array_agg(id) FROM chosen_folders)`
  const time = (milliseconds: number) => hidden(milliseconds, 'milliseconds')
  return allOf([
    ...(folderId === undefined ? [] : [sql.fragment`d.folder_id = ANY(${folders}::int8[])`]),
    ...(documentId === undefined ? [] : [sql.fragment`d.id = ${hidden(documentId, 'text')}`]),
    ...(updatedBy === undefined ? [] : [sql.fragment`d.updated_by = ${hidden(updatedBy, 'text')}`]),
    ...(updatedAfter === undefined ? [] : [sql.fragment`d.updated_at >= ${time(updatedAfter)}`]),
    ...(updatedBefore === undefined ? [] : [sql.fragment`d.updated_at < ${time(updatedBefore)}`]),
    ...(metadata === undefined ? [] : [hasMetadata(metadata)]),
  ])
}

function allOf(conditions: readonly Fragment[]): Fragment {
  return sql.fragment`${sql.join([sql.fragment`true`, ...conditions], sql.fragment` AND `)}`
}
