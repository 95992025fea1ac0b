import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { Properties } from '../documents/metadata.ts'
import type { KnowledgeBaseKey } from '../knowledge-bases/queries.ts'
import { Nullable } from '../schema/identifiers.ts'

const DocumentSizeShape = Type.Object({
  id: Type.String(),
  title: Type.String(),
  folder_id: Nullable(Type.Number()),
  updated_at: Type.Number(),
  /** The size of the stored body in bytes. */
  size: Type.Number(),
})

/** A document without its body, but with the size of the body. */
export type DocumentSize = Static<typeof DocumentSizeShape>

/** Returns up to `limit` documents of a knowledge base with ids after `after`, translations included, in id order. */
export function exportSizes(
  db: Queryable,
  page: KnowledgeBaseKey & { after: string; limit: number },
): Promise<readonly DocumentSize[]> {
  return db.any(sql.type(row(DocumentSizeShape))`
    SELECT d.id, d.title, d.folder_id, d.updated_at, octet_length(b.body) AS size
    FROM documents d
    JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    WHERE d.workspace_id = ${page.workspaceId} AND d.knowledge_base_id = ${page.id} AND d.id > ${page.after}
    ORDER BY d.id LIMIT ${page.limit}`)
}

const BodyShape = Type.Object({
  id: Type.String(),
  tags: Type.Array(Type.String()),
  properties: Type.Unsafe<Properties>(Type.Object({})),
  body: Type.String(),
})

/** Returns the canonical texts of the current bodies of documents, with tags and properties, in no order. */
export function currentBodies(
  db: Queryable,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<readonly Static<typeof BodyShape>[]> {
  return db.any(sql.type(row(BodyShape))`
    SELECT d.id, d.tags, d.properties, b.body
    FROM documents d
    JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    WHERE d.workspace_id = ${input.workspaceId} AND d.id = ANY(${sql.array([...input.documentIds], 'text')})`)
}

const TargetShape = Type.Object({ id: Type.String(), title: Type.String(), folder_id: Nullable(Type.Number()) })

/** Returns what the paths of documents follow from, for those of the ids that a knowledge base has. */
export function exportTargets(
  db: Queryable,
  input: KnowledgeBaseKey & { documentIds: readonly string[] },
): Promise<readonly Static<typeof TargetShape>[]> {
  return db.any(sql.type(row(TargetShape))`
    SELECT id, title, folder_id FROM documents
    WHERE workspace_id = ${input.workspaceId} AND knowledge_base_id = ${input.id}
      AND id = ANY(${sql.array([...input.documentIds], 'text')})`)
}

const FileShape = Type.Object({ id: Type.String(), filename: Type.String() })

/** Returns the names of the attachments among the ids that belong to documents of a knowledge base. */
export function exportFiles(
  db: Queryable,
  input: KnowledgeBaseKey & { attachmentIds: readonly string[] },
): Promise<readonly Static<typeof FileShape>[]> {
  return db.any(sql.type(row(FileShape))`
    SELECT a.id, a.filename FROM attachments a
    JOIN documents d ON d.workspace_id = a.workspace_id AND d.id = a.document_id
    WHERE a.workspace_id = ${input.workspaceId} AND d.knowledge_base_id = ${input.id}
      AND a.id = ANY(${sql.array([...input.attachmentIds], 'text')})`)
}

const AlikeShape = Type.Object({ id: Type.String(), number: Type.Number() })

/** Returns the ids that equal an earlier id when case is ignored, numbered from 2. Usually there are none. */
export function idsAlike(db: Queryable, key: KnowledgeBaseKey): Promise<readonly Static<typeof AlikeShape>[]> {
  return db.any(sql.type(row(AlikeShape))`
    SELECT id, number FROM (
      SELECT id, row_number() OVER (PARTITION BY lower(id) ORDER BY id) AS number
      FROM documents WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    ) numbered
    WHERE number > 1`)
}
