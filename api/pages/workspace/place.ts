import type { Queryable } from '../../../shared/database/database.ts'
import { ancestors, type DocumentRow } from '../../../shared/documents/queries.ts'

/** The place of a document or folder, for the template `breadcrumbs`: its knowledge base and the folders around it. */
export type Place = {
  knowledgeBase: { id: number; name: string }
  /** From the root of the knowledge base downwards. The template leaves out the middle of a long list. */
  folders: readonly { id: number; name: string }[]
}

/**
 * Returns the place of a document. With the id of a folder as `folder_id` and its knowledge base, the result is the
 * way to that folder, and its last folder is the folder itself.
 */
export async function placeOf(
  db: Queryable,
  document: Pick<DocumentRow, 'workspace_id' | 'knowledge_base_id' | 'folder_id'>,
): Promise<Place> {
  const { knowledge_base_name: name, folders } = await ancestors(db, document)
  return { knowledgeBase: { id: document.knowledge_base_id, name }, folders }
}
