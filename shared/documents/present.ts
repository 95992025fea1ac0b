import type { Queryable } from '../database/database.ts'
import type { EventDocument } from '../events/record.ts'
import { ancestors, type DocumentRow } from './queries.ts'
import type { Document, DocumentPath, PathEntry } from './schema.ts'

/** Returns a document in the shape of the API. `shared/localization` computes the `freshness` of a translation. */
export function presentDocument(row: DocumentRow, freshness: Document['translation_freshness']): Document {
  const { body_seq: _seq, version_seq: _versions, node_count: _nodes, ...members } = row
  return {
    ...members,
    uri: `svc://doc/${row.id}`,
    document_set_uri: row.document_set_id === null ? null : `svc://docset/${row.document_set_id}`,
    translation_freshness: freshness,
  }
}

/** Returns a document in the shape of its events. */
export function eventDocument(row: DocumentRow): EventDocument {
  return {
    id: row.id,
    title: row.title,
    document_type: row.document_type,
    knowledge_base_id: row.knowledge_base_id,
    folder_id: row.folder_id,
    document_set_id: row.document_set_id,
    locale: row.locale,
    variant_role: row.variant_role,
    version: row.version,
    updated_at: row.updated_at,
  }
}

/** Returns the names from the knowledge base down to a document. */
export async function documentPath(db: Queryable, document: DocumentRow): Promise<DocumentPath> {
  const { knowledge_base_name, folders } = await ancestors(db, document)
  const knowledgeBase = { id: document.knowledge_base_id, name: knowledge_base_name }
  const path: PathEntry[] = [
    { ...knowledgeBase, type: 'knowledge_base' },
    ...folders.map((folder) => ({ ...folder, type: 'folder' as const })),
    { id: document.id, name: document.title, type: 'document' },
  ]
  return {
    document_id: document.id,
    knowledge_base: knowledgeBase,
    folders,
    path,
    path_text: path.map(({ name }) => name).join(' / '),
  }
}
