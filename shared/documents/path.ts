import type { Queryable } from '../database/database.ts'
import { ancestors, type DocumentRow } from './queries.ts'
import type { DocumentPath, PathEntry } from './schema.ts'

/** The way from the knowledge base to a document (decisions 2.1). */
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
