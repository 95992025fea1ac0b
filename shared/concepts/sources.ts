import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { documentNotFound } from '../documents/require.ts'

/** A document or block that a concept or candidate refers to; `source_version` is null when none was recorded. */
export type SourceReference = { document_id: string; block_id: string | null; source_version: string | null }

/** The current state of the documents and blocks that were looked up. */
export type CurrentSources = {
  /** Returns the current version of a document, or null when the document is gone. */
  version: (documentId: string) => string | null
  /** Returns whether the block of a reference is still in its document. */
  hasBlock: (reference: SourceReference) => boolean
}

/**
 * Looks up all references at once, in two statements. A block existed when its reference was recorded. So a body is
 * searched only when it is no longer the body of the recorded version.
 */
export async function currentSources(
  db: Queryable,
  input: { workspaceId: string; references: readonly SourceReference[] },
): Promise<CurrentSources> {
  const { workspaceId, references } = input
  const documentIds = [...new Set(references.map(({ document_id }) => document_id))]
  const rows = documentIds.length === 0 ? [] : await documentVersions(db, { workspaceId, documentIds })
  const versions = new Map(rows.map(({ id, version }) => [id, version]))
  const sought = Map.groupBy(
    references.filter((reference) => versions.has(reference.document_id) && isToBeSought(reference, versions)),
    ({ document_id }) => document_id,
  )
  const blocks = [...sought].map(([document_id, found]) => ({
    document_id,
    block_ids: [...new Set(found.map(({ block_id }) => String(block_id)))],
  }))
  const present = blocks.length === 0 ? [] : await presentBlocks(db, { workspaceId, blocks })
  const found = new Map(present.map(({ document_id, block_ids }) => [document_id, new Set(block_ids)]))
  return {
    version: (documentId) => versions.get(documentId) ?? null,
    hasBlock: (reference) =>
      !isToBeSought(reference, versions) ||
      (found.get(reference.document_id)?.has(String(reference.block_id)) ?? false),
  }
}

/**
 * Refuses with 404 `document_not_found`, and the member that named the document, unless the document is in the
 * workspace.
 */
export async function requireDocumentOfWorkspace(
  db: Queryable,
  input: { workspaceId: string; documentId: string; field: string },
): Promise<void> {
  const found = await documentVersions(db, { workspaceId: input.workspaceId, documentIds: [input.documentId] })
  if (found.length === 0) throw documentNotFound(input.documentId, input.field)
}

function isToBeSought(reference: SourceReference, versions: ReadonlyMap<string, string>): boolean {
  return reference.block_id !== null && versions.get(reference.document_id) !== reference.source_version
}

// The current versions of documents of one workspace; missing documents are left out.
function documentVersions(db: Queryable, input: { workspaceId: string; documentIds: readonly string[] }) {
  return db.any(sql.type(row(Type.Object({ id: Type.String(), version: Type.String() })))`
    SELECT id, version FROM documents
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.documentIds], 'text')})`)
}

const PresentRow = row(Type.Object({ document_id: Type.String(), block_ids: Type.Array(Type.String()) }))

// Which of the blocks are in the current bodies of their documents. The text of a body is decompressed once for all of
// its blocks, because the concatenation makes a plain value of the text. OFFSET keeps the planner from repeating the
// concatenation for each block.
function presentBlocks(
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
