import { cut, directoryName, longestDirectory, looksLikeDocument, sameName } from './names.ts'

/** A folder, as far as its directory follows from it. */
type NamedFolder = { id: number; parent_id: number | null; name: string }

type Placed = { folder: NamedFolder; parent: string }

/** The directory that holds the Markdown of documents outside every folder. */
export const markdownRoot = 'markdown'

/**
 * The directory of each folder, by folder id: `markdown/<folder>/<…>`. Names that a file system would take for the same
 * are told apart by the id of the later folder; a folder whose path would be too long for Windows goes to the root,
 * under its name and id. The result depends on nothing but the folders.
 */
export function directoriesOf(folders: readonly NamedFolder[]): Map<number, string> {
  const children = Map.groupBy(
    [...folders].sort((a, b) => a.id - b.id),
    (folder) => folder.parent_id,
  )
  const taken = new Set<string>()
  const directories = new Map<number, string>()
  const below = (id: number | null, parent: string): Placed[] =>
    (children.get(id) ?? []).map((folder) => ({ folder, parent }))
  // Level by level, so that whatever is moved to the root comes after the folders that stand there.
  for (let level = below(null, markdownRoot); level.length > 0; ) {
    const next: Placed[] = []
    for (const placed of level) {
      const directory = claim(taken, placed)
      directories.set(placed.folder.id, directory)
      next.push(...below(placed.folder.id, directory))
    }
    level = next
  }
  return directories
}

function claim(taken: Set<string>, placed: Placed): string {
  for (let attempt = 0; ; attempt += 1) {
    const path = candidate(placed, attempt)
    const key = sameName(path)
    if (path.length > longestDirectory || taken.has(key)) continue
    taken.add(key)
    return path
  }
}

// First its own name, then with its id beside its siblings, then in the root, where it always fits.
function candidate({ folder, parent }: Placed, attempt: number): string {
  const name = directoryName(folder.name)
  if (attempt === 0 && !looksLikeDocument(name)) return `${parent}/${name}`
  const marked = `${cut(name, { units: 40, bytes: 160 })}--${folder.id}`
  if (attempt <= 1) return `${parent}/${marked}`
  return `${markdownRoot}/${marked}${attempt === 2 ? '' : `~${attempt - 1}`}`
}
