import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { cut, directoryName, looksLikeDocument, markdownPath } from '../../export/names.ts'
import { caseFolded } from '../../schema/strings.ts'

// All paths are relative to the folder of the sync, with slashes. The folder itself is the empty path.

/** The folder in which a sync keeps its state. It begins with a dot, so no sync takes it for documents. */
export const stateFolder = '.knowledge-base'

const conflictMark = /\.conflict-[0-9a-f]{8}\.md$/i
const markdownEnd = /\.(md|markdown)$/i

/** True if a sync looks at a file or folder of this name. Hidden names and `node_modules` are left alone. */
export function isVisible(name: string): boolean {
  return !name.startsWith('.') && name.toLowerCase() !== 'node_modules'
}

/** True if a file of this name is a document. */
export function isDocument(name: string): boolean {
  return isVisible(name) && markdownEnd.test(name) && !conflictMark.test(name)
}

/** True if a file of this name keeps a version from a conflict. */
export function isConflictCopy(name: string): boolean {
  return conflictMark.test(name)
}

/** The path of the copy that keeps a text from a conflict. Equal texts have equal paths. */
export function conflictPath(path: string, text: string): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const end = `.conflict-${digest}.md`
  const stem = cut(posix.basename(path).replace(markdownEnd, ''), { units: 200, bytes: 255 - end.length })
  return inDirectory(directoryOf(path), stem + end)
}

/** The title that the name of a file tells. An id that an export has put into the name does not count. */
export function titleOfPath(path: string): string {
  const stem = posix.basename(path).replace(markdownEnd, '').normalize('NFC')
  const title = stem.replace(/(?<=.)--doc_[A-Za-z0-9_-]{1,64}(~\d+)?$/, '').trim()
  return [...title].slice(0, 500).join('').trim() || 'Untitled'
}

/** True if a sync or an export would give the file of a document with this title the name that a path has. */
export function tellsTitle(path: string, { id, title }: { id: string; title: string }): boolean {
  const named = [
    pathFor({ title, id, directory: '', isTaken: () => false }),
    markdownPath({ directory: '.', title, id, mark: '' }),
  ]
  return named.some((name) => titleOfPath(name) === titleOfPath(path))
}

/** The document id that an export has put into the name of a file; null without an id. */
export function idInPath(path: string): string | null {
  return /--(doc_[A-Za-z0-9_-]{1,64})(~\d+)?\.md$/.exec(posix.basename(path))?.[1] ?? null
}

/** The directory of a path. */
export function directoryOf(path: string): string {
  const directory = posix.dirname(path)
  return directory === '.' ? '' : directory
}

/** The path of a name in a directory. */
export function inDirectory(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** The key of a path. A file system may take two paths with equal keys for the same path. */
export function keyOfPath(path: string): string {
  return caseFolded(path.normalize('NFC'))
}

/** What decides the path of a document's file: its title and id, its directory, and whether another file is there. */
export type Placing = { title: string; id: string; directory: string; isTaken: (path: string) => boolean }

/**
 * The path of a document's file: its title, made safe for all file systems. If that path is taken, the id follows the
 * title as in an export. Nothing in a title leads out of the directory.
 */
export function pathFor({ title, id, directory, isTaken }: Placing): string {
  const name = `${safeName(title)}.md`
  const plain = inDirectory(directory, name)
  if (isDocument(name) && idInPath(name) === null && !isTaken(plain)) return plain
  for (let attempt = 1; ; attempt += 1) {
    const mark = attempt === 1 ? '' : `~${attempt}`
    const path = markdownPath({ directory: directory || '.', title: safeName(title), id, mark }).replace(/^\.\//, '')
    if (!isTaken(path)) return path
  }
}

/** A folder of the service. `parent_id` null is the root of the knowledge base. */
export type Folder = { id: number; name: string; parent_id: number | null }

/** The path of a folder's directory in the directory of its parent, as `pathFor`. */
export function directoryFor(folder: Folder, parent: string, isTaken: (path: string) => boolean): string {
  const name = safeName(folder.name)
  for (let attempt = 0; ; attempt += 1) {
    const mark = attempt === 0 ? '' : attempt === 1 ? `--${folder.id}` : `--${folder.id}~${attempt}`
    const path = inDirectory(parent, attempt === 0 ? name : cut(name, { units: 60, bytes: 180 }) + mark)
    if (!isTaken(path) && !looksLikeDocument(path)) return path
  }
}

/** The name of a folder that a directory's name tells. */
export function nameOfDirectory(directory: string): string {
  return [...posix.basename(directory).normalize('NFC').trim()].slice(0, 200).join('').trim() || '_'
}

// A visible name that all file systems accept. A name that begins with a dot would be hidden.
function safeName(name: string): string {
  const safe = directoryName(name.trim()).replace(/^[. ]+/, (start) => '_'.repeat(start.length)) || '_'
  return safe.toLowerCase() === 'node_modules' || conflictMark.test(`${safe}.md`) ? `${safe}_` : safe
}
