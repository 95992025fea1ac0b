import type { Queryable } from '../database/database.ts'
import { type FolderRow, foldersOfKnowledgeBase } from '../knowledge-bases/folders.ts'
import type { KnowledgeBaseKey } from '../knowledge-bases/queries.ts'
import { markdownPath } from './names.ts'
import { directoriesOf, markdownRoot } from './paths.ts'
import { idsAlike } from './queries.ts'

/** A document, as far as its paths follow from it. */
type NamedDocument = { id: string; title: string; folder_id: number | null }

/** Where everything of one knowledge base stands in its archive; holds the folders, but no documents. */
export type Paths = {
  folders: readonly FolderRow[]
  json: (document: Pick<NamedDocument, 'id'>) => string
  markdown: (document: NamedDocument) => string
}

/** Reads what paths follow from. */
export async function readPaths(snapshot: Queryable, key: KnowledgeBaseKey): Promise<Paths> {
  const folders = await foldersOfKnowledgeBase(snapshot, key)
  const directories = directoriesOf(folders)
  const marks = new Map((await idsAlike(snapshot, key)).map(({ id, number }) => [id, `~${number}`]))
  const mark = (id: string) => marks.get(id) ?? ''
  return {
    folders,
    json: ({ id }) => `documents/${id}${mark(id)}.json`,
    markdown: ({ id, title, folder_id }) => {
      const directory = (folder_id === null ? undefined : directories.get(folder_id)) ?? markdownRoot
      return markdownPath({ directory, title, id, mark: mark(id) })
    },
  }
}
