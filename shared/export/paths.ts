import type { AttachmentRow } from '../attachments/queries.ts'
import type { Queryable } from '../database/database.ts'
import { type FolderRow, foldersOfKnowledgeBase } from '../knowledge-bases/folders.ts'
import type { KnowledgeBaseKey } from '../knowledge-bases/queries.ts'
import { caseFolded } from '../schema/strings.ts'
import { attachmentName, cut, directoryName, longestDirectory, looksLikeDocument, markdownPath } from './names.ts'
import { idsAlike } from './queries.ts'

/** The directory of the Markdown of documents that are in no folder. */
const markdownRoot = 'markdown'

/** The members of a document from which its paths follow. */
type NamedDocument = { id: string; title: string; folder_id: number | null }

/** The paths of one knowledge base in its archive. Keeps all folders in memory, but no documents. */
export type Paths = {
  folders: readonly FolderRow[]
  json: (document: Pick<NamedDocument, 'id'>) => string
  markdown: (document: NamedDocument) => string
}

/**
 * Reads the folders of a knowledge base, and the document ids that differ from another id only in case. Returns the
 * paths of the archive.
 */
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

/** Returns the path of the file of an attachment. */
export function attachmentPath(row: Pick<AttachmentRow, 'id' | 'filename'>): string {
  return `attachments/${row.id}/${attachmentName(row.filename)}`
}

/** The members of a folder from which its directory follows. */
type NamedFolder = { id: number; parent_id: number | null; name: string }

/** A folder and the directory of its parent. */
type FolderIn = { folder: NamedFolder; parent: string }

/**
 * Returns the directory `markdown/<folder>/<…>` of each folder, by folder id. Where a file system would take two names
 * for the same, the later folder gets its id into the name. A folder whose path would be too long for Windows goes to
 * the root, with its id in the name. The result depends on nothing but the folders. @internal
 */
export function directoriesOf(folders: readonly NamedFolder[]): Map<number, string> {
  const children = Map.groupBy(
    [...folders].sort((a, b) => a.id - b.id),
    (folder) => folder.parent_id,
  )
  const taken = new Set<string>()
  const directories = new Map<number, string>()
  const below = (id: number | null, parent: string): FolderIn[] =>
    (children.get(id) ?? []).map((folder) => ({ folder, parent }))
  // Folders get their names level by level. So folders that belong in the root get their names before folders that are
  // moved to the root.
  for (let level = below(null, markdownRoot); level.length > 0; ) {
    const next: FolderIn[] = []
    for (const item of level) {
      const directory = claim(taken, item)
      directories.set(item.folder.id, directory)
      next.push(...below(item.folder.id, directory))
    }
    level = next
  }
  return directories
}

function claim(taken: Set<string>, item: FolderIn): string {
  for (let attempt = 0; ; attempt += 1) {
    const path = candidate(item, attempt)
    // A file system may take two paths with equal keys for the same path.
    const key = caseFolded(path)
    if (path.length > longestDirectory || taken.has(key)) continue
    taken.add(key)
    return path
  }
}

// The directory to try next for a folder. Inside its parent, the name alone comes first, then the name with the id.
// Last comes the name with the id in the root, where the path is never too long.
function candidate({ folder, parent }: FolderIn, attempt: number): string {
  const name = directoryName(folder.name)
  if (attempt === 0 && !looksLikeDocument(name)) return `${parent}/${name}`
  const marked = `${cut(name, { units: 40, bytes: 160 })}--${folder.id}`
  if (attempt <= 1) return `${parent}/${marked}`
  return `${markdownRoot}/${marked}${attempt === 2 ? '' : `~${attempt - 1}`}`
}
