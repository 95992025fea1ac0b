import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { Nullable } from '../schema/identifiers.ts'
import { type Properties, storedTags } from './metadata.ts'

const text = Type.String()
const DocumentShape = Type.Object({
  workspace_id: text,
  id: text,
  knowledge_base_id: Type.Number(),
  folder_id: Nullable(Type.Number()),
  title: text,
  document_type: Type.Enum(['document', 'spreadsheet']),
  heading_numbered: Type.Boolean(),
  background_color: Nullable(text),
  collapsed_block_ids: Type.Array(text),
  tags: Type.Array(text),
  properties: Type.Unsafe<Properties>(Type.Object({})),
  version: text,
  body_seq: Type.Number(),
  version_seq: Type.Number(),
  character_count: Type.Number(),
  node_count: Type.Number(),
  document_set_id: Nullable(text),
  locale: Nullable(text),
  variant_role: Nullable(Type.Enum(['source', 'translation'])),
  workflow_status: Nullable(Type.Enum(['draft', 'in_review', 'published'])),
  translated_from_document_id: Nullable(text),
  translated_from_version: Nullable(text),
  created_at: Type.Number(),
  updated_at: Type.Number(),
  created_by: Nullable(text),
  updated_by: Nullable(text),
})
/** The schema of a row with `documentColumns`. */
export const DocumentRow = row(DocumentShape)

/** A row of `documents`. */
export type DocumentRow = Static<typeof DocumentShape>

/** The columns of a document, for statements that name the table `d`. */
export const documentColumns = sql.fragment`
  d.workspace_id, d.id, d.knowledge_base_id, d.folder_id, d.title, d.document_type, d.heading_numbered,
  d.background_color, d.collapsed_block_ids, d.tags, d.properties, d.version, d.body_seq, d.version_seq, d.character_count, d.node_count,
  d.document_set_id, d.locale, d.variant_role, d.workflow_status, d.translated_from_document_id,
  d.translated_from_version, d.created_at, d.updated_at, d.created_by, d.updated_by`

/** The public id of a document, and the workspaces that the caller can see. */
export type DocumentLocator = { documentId: string; workspaceIds: readonly string[] }

const located = (locator: DocumentLocator) => sql.fragment`
  FROM document_directory i
  JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
  WHERE i.id = ${locator.documentId} AND ${inWorkspaces(sql.fragment`i.workspace_id`, locator.workspaceIds)}`

/** Returns a visible document, or null. */
export function visibleDocument(db: Queryable, locator: DocumentLocator): Promise<DocumentRow | null> {
  return db.maybeOne(prepared(sql.type(DocumentRow)`SELECT ${documentColumns} ${located(locator)}`))
}

/** Titles and versions of visible documents, in no particular order. A document that is not visible is left out. */
export function titlesOf(
  db: Queryable,
  of: { documentIds: readonly string[]; workspaceIds: readonly string[] },
): Promise<readonly { id: string; title: string; version: string }[]> {
  return db.any(
    prepared(sql.type(row(Type.Object({ id: text, title: text, version: text })))`
    SELECT d.id, d.title, d.version FROM document_directory i
    JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
    WHERE i.id = ANY(${sql.array([...of.documentIds], 'text')})
      AND ${inWorkspaces(sql.fragment`i.workspace_id`, of.workspaceIds)}`),
  )
}

/** Returns a visible document, locked against every other write until the transaction ends, or null. */
export function lockDocument(tx: Transaction, locator: DocumentLocator): Promise<DocumentRow | null> {
  return tx.maybeOne(prepared(sql.type(DocumentRow)`SELECT ${documentColumns} ${located(locator)} FOR UPDATE OF d`))
}

/** Locks documents of one workspace in id order and returns them. Ignores ids that do not exist. */
export function lockDocuments(
  tx: Transaction,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<readonly DocumentRow[]> {
  return tx.any(sql.type(DocumentRow)`
    SELECT ${documentColumns} FROM documents d
    WHERE d.workspace_id = ${input.workspaceId} AND d.id = ANY(${sql.array([...input.documentIds], 'text')})
    ORDER BY d.id FOR UPDATE`)
}

/** Claims ids of new documents for ever. Returns false when any workspace has ever used one of the ids. */
export async function claimDocumentIds(
  tx: Transaction,
  input: { ids: readonly string[]; workspaceId: string },
): Promise<boolean> {
  const result = await tx.query(
    prepared(sql.unsafe`
    INSERT INTO document_directory (id, workspace_id)
    SELECT id, ${input.workspaceId} FROM unnest(${sql.array([...input.ids], 'text')}) AS id
    ON CONFLICT (id) DO NOTHING`),
  )
  return result.rowCount === input.ids.length
}

/** The columns that make a document a member of a document set; all are null for an ordinary document. */
export type LocalizationMembers = Pick<
  DocumentRow,
  | 'document_set_id'
  | 'locale'
  | 'variant_role'
  | 'workflow_status'
  | 'translated_from_document_id'
  | 'translated_from_version'
>

/** The localization members of an ordinary document. */
export const unlocalized: LocalizationMembers = {
  document_set_id: null,
  locale: null,
  variant_role: null,
  workflow_status: null,
  translated_from_document_id: null,
  translated_from_version: null,
}

/** The columns of a new row of `documents` that have no default. */
export type NewDocument = LocalizationMembers &
  Pick<
    DocumentRow,
    | 'workspace_id'
    | 'id'
    | 'knowledge_base_id'
    | 'folder_id'
    | 'title'
    | 'document_type'
    | 'heading_numbered'
    | 'background_color'
    | 'collapsed_block_ids'
    | 'tags'
    | 'properties'
    | 'version'
    | 'character_count'
    | 'node_count'
    | 'created_by'
  >

/**
 * Inserts documents with `body_seq` 1 and returns them in the given order. Their tags get the spelling of the knowledge
 * base.
 */
export function insertDocuments(tx: Transaction, documents: readonly NewDocument[]): Promise<readonly DocumentRow[]> {
  const rows = documents.map((document) => ({ ...document, ...storedTags(document.tags) }))
  return tx.any(
    prepared(sql.type(DocumentRow)`
    WITH inserted AS (
      INSERT INTO documents AS d
        (workspace_id, id, knowledge_base_id, folder_id, title, document_type, heading_numbered, background_color,
         collapsed_block_ids, tags, tag_keys, properties, version, body_seq, character_count, node_count, document_set_id, locale, variant_role,
         workflow_status, translated_from_document_id, translated_from_version, created_by, updated_by)
      SELECT n.workspace_id, n.id, n.knowledge_base_id, n.folder_id, n.title, n.document_type, n.heading_numbered,
        n.background_color, n.collapsed_block_ids, n.tags, n.tag_keys, n.properties, n.version, 1, n.character_count,
        n.node_count, n.document_set_id, n.locale, n.variant_role, n.workflow_status, n.translated_from_document_id,
        n.translated_from_version, n.created_by, n.created_by
      FROM jsonb_populate_recordset(NULL::documents, ${JSON.stringify(rows)}::jsonb) AS n
      RETURNING ${documentColumns}
    )
    SELECT ${documentColumns} FROM inserted d
    ORDER BY array_position(${sql.array(
      documents.map(({ id }) => id),
      'text',
    )}, d.id)`),
  )
}

/** The metadata that a write can change. */
export type DocumentMetadata = Pick<
  DocumentRow,
  | 'title'
  | 'knowledge_base_id'
  | 'folder_id'
  | 'heading_numbered'
  | 'background_color'
  | 'collapsed_block_ids'
  | 'tags'
  | 'properties'
>

/**
 * Replaces the metadata of a locked document, whose tags get the spelling of the knowledge base. `updated_at` never
 * goes back, so sync clients cannot miss the change.
 */
export function updateMetadata(
  tx: Transaction,
  input: { document: DocumentRow; metadata: DocumentMetadata; updatedBy: string },
): Promise<DocumentRow> {
  const { document, metadata } = input
  const { tags, tag_keys } = storedTags(metadata.tags)
  return tx.one(
    prepared(sql.type(DocumentRow)`
    UPDATE documents AS d SET title = ${metadata.title}, knowledge_base_id = ${metadata.knowledge_base_id},
      folder_id = ${metadata.folder_id}, heading_numbered = ${metadata.heading_numbered},
      background_color = ${metadata.background_color},
      collapsed_block_ids = ${sql.array(metadata.collapsed_block_ids, 'text')},
      tags = ${sql.array(tags, 'text')}, tag_keys = ${sql.array(tag_keys, 'text')},
      properties = ${JSON.stringify(metadata.properties)}::jsonb,
      updated_by = ${input.updatedBy}, updated_at = greatest(clock_timestamp(), d.updated_at)
    WHERE d.workspace_id = ${document.workspace_id} AND d.id = ${document.id}
    RETURNING ${documentColumns}`),
  )
}

/** Deletes locked documents, and every row that references them ON DELETE CASCADE. */
export async function deleteRows(
  tx: Transaction,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  await tx.query(sql.unsafe`
    DELETE FROM documents
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.documentIds], 'text')})`)
}

/** Sets the localization members of a locked document; all null takes the document out of its document set. */
export function updateLocalization(
  tx: Transaction,
  input: { document: DocumentRow; localization: LocalizationMembers; updatedBy: string },
): Promise<DocumentRow> {
  const { document, localization } = input
  return tx.one(
    sql.type(DocumentRow)`
    UPDATE documents AS d SET document_set_id = ${localization.document_set_id}, locale = ${localization.locale},
      variant_role = ${localization.variant_role}, workflow_status = ${localization.workflow_status},
      translated_from_document_id = ${localization.translated_from_document_id},
      translated_from_version = ${localization.translated_from_version},
      updated_by = ${input.updatedBy}, updated_at = greatest(clock_timestamp(), d.updated_at)
    WHERE d.workspace_id = ${document.workspace_id} AND d.id = ${document.id}
    RETURNING ${documentColumns}`,
  )
}

/** Sets title and workflow status of a locked member of a document set. */
export function updateVariant(
  tx: Transaction,
  input: {
    document: DocumentRow
    title: string
    workflowStatus: DocumentRow['workflow_status']
    updatedBy: string
  },
): Promise<DocumentRow> {
  return tx.one(
    sql.type(DocumentRow)`
    UPDATE documents AS d SET title = ${input.title}, workflow_status = ${input.workflowStatus},
      updated_by = ${input.updatedBy}, updated_at = greatest(clock_timestamp(), d.updated_at)
    WHERE d.workspace_id = ${input.document.workspace_id} AND d.id = ${input.document.id}
    RETURNING ${documentColumns}`,
  )
}

/** Returns the members of document sets of one workspace; in each set the source comes first, then each locale. */
export function documentsOfSets(
  db: Queryable,
  input: { workspaceId: string; documentSetIds: readonly string[] },
): Promise<readonly DocumentRow[]> {
  return db.any(sql.type(DocumentRow)`
    SELECT ${documentColumns} FROM documents d
    WHERE d.workspace_id = ${input.workspaceId}
      AND d.document_set_id = ANY(${sql.array([...input.documentSetIds], 'text')})
    ORDER BY d.document_set_id, d.variant_role, d.locale COLLATE "C"`)
}

const AncestorRow = row(
  Type.Object({ knowledge_base_name: text, folders: Type.Array(Type.Object({ id: Type.Number(), name: text })) }),
)

/** Returns the name of the knowledge base and the folders above a document, root first. */
export function ancestors(
  db: Queryable,
  document: Pick<DocumentRow, 'workspace_id' | 'knowledge_base_id' | 'folder_id'>,
) {
  return db.one(sql.type(AncestorRow)`
    WITH RECURSIVE above AS (
      SELECT f.id, f.name, f.parent_id, 1 AS height FROM folders f
      WHERE f.workspace_id = ${document.workspace_id} AND f.id = ${document.folder_id}
      UNION ALL
      SELECT f.id, f.name, f.parent_id, above.height + 1
      FROM above JOIN folders f ON f.workspace_id = ${document.workspace_id} AND f.id = above.parent_id
    )
    SELECT k.name AS knowledge_base_name,
      coalesce((SELECT jsonb_agg(jsonb_build_object('id', id, 'name', name) ORDER BY height DESC) FROM above), '[]')
        AS folders
    FROM knowledge_bases k
    WHERE k.workspace_id = ${document.workspace_id} AND k.id = ${document.knowledge_base_id}`)
}
