import type { Queryable } from '../../../shared/database/database.ts'
import { folderLevels, type LevelFolder } from '../../../shared/knowledge-bases/folder-levels.ts'
import type { Place } from './place.ts'

// The most levels above the current folder that the tree shows, and the most folders of a level.
const shownLevels = 6
const shownFolders = 50

/** The part of the folders of a knowledge base around one of them, for the template `folder-tree`. */
export type FolderTree = {
  folders: { id: number; name: string; isCurrent: boolean; below: FolderTree | null }[]
  /** Whether the level has more folders than the tree shows. */
  hasMore: boolean
}

/**
 * Returns the folders around a place: those of each level on the way to its last folder, and those in the last folder.
 * A level has at most 50 folders, and a deep tree begins some levels above the last folder. So the tree is small,
 * however many folders there are.
 */
export async function folderTree(db: Queryable, at: { workspaceId: string; place: Place }): Promise<FolderTree> {
  const { workspaceId, place } = at
  const way = place.folders.slice(-shownLevels)
  const top = place.folders.at(-shownLevels - 1)?.id ?? null
  const parents = [top, ...way.map(({ id }) => id)]
  const levels = await folderLevels(db, {
    workspaceId,
    knowledgeBaseId: place.knowledgeBase.id,
    parents,
    limit: shownFolders,
  })
  const foldersIn = Map.groupBy(levels, ({ parent_id }) => parent_id)
  return levelOf({ parents, way, foldersIn })
}

type Levels = {
  parents: readonly (number | null)[]
  way: Place['folders']
  foldersIn: Map<number | null, LevelFolder[]>
}

function levelOf({ parents: [parent = null, ...parents], way: [next, ...way], foldersIn }: Levels): FolderTree {
  const found = foldersIn.get(parent) ?? []
  const folders = found.slice(0, shownFolders)
  // The folder on the way is shown, even if it stands behind the others of its level.
  const isShown = next === undefined || folders.some(({ id }) => id === next.id)
  const listed = isShown ? folders : [...folders, next]
  return {
    folders: listed.map(({ id, name }) => ({
      id,
      name,
      isCurrent: id === next?.id && way.length === 0,
      below: id === next?.id ? levelOf({ parents, way, foldersIn }) : null,
    })),
    hasMore: found.length > shownFolders,
  }
}
