import type { Queryable } from '../../../shared/database/database.ts'
import { documentPath } from '../../../shared/documents/present.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'

/** The place of a document or folder, for the template `breadcrumbs`: its knowledge base and the folders around it. */
export type Place = {
  knowledgeBase: { id: number; name: string }
  /** From the root of the knowledge base downwards. The template leaves out the middle of a long list. */
  folders: readonly { id: number; name: string }[]
}

/** Returns the place of a document. */
export async function placeOf(db: Queryable, document: DocumentRow): Promise<Place> {
  const { knowledge_base, folders } = await documentPath(db, document)
  return { knowledgeBase: knowledge_base, folders }
}
