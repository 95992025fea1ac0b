import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keptOfNewFile, readFileText } from './file-text.ts'
import { inDirectory, isConflictCopy, isDocument, isVisible, keyOfPath } from './paths.ts'
import type { FileStat, FileState, LocalFile } from './sides.ts'
import { hashOf } from './state.ts'

/** Reasons for which a file is left alone, with the sentence for the person. */
export const problems = {
  not_utf8: 'the file is no text in UTF-8',
  has_null: 'the file contains U+0000',
  conflict_markers: 'the file has the conflict markers of a merge',
  too_large: 'the file has more than 16 MiB',
  empty: 'the file is empty',
  unreadable: 'the file or folder cannot be read',
  not_regular: 'a symbolic link or special file is left alone',
} as const

/** A file or folder that a sync leaves alone although its name is that of a document, and the reason. */
export type Problem = { path: string; reason: keyof typeof problems }

/** A folder as it is on the disk. */
export type Scan = FileState & { problems: Problem[]; directories: ReadonlySet<string> }

/** A file that cannot be synced. */
export class UnusableFile extends Error {
  readonly reason: keyof typeof problems

  constructor(reason: keyof typeof problems) {
    super(problems[reason])
    this.reason = reason
  }
}

const mostBytes = 16 * 1024 * 1024
/**
 * A file that changed so shortly before it was seen may change again without another time. File systems count time in
 * steps of up to two seconds. Milliseconds.
 */
export const uncertainMs = 2000

/**
 * Lists the Markdown files below a folder. Hidden files, `node_modules` and files of other types are left alone, and
 * symbolic links are never followed. A file is read only if it may differ from `known`, which has the files of an
 * earlier scan or sync by their paths.
 */
export function scanFolder(root: string, known: ReadonlyMap<string, LocalFile>): Scan {
  const files = new Map<string, LocalFile>()
  const taken = new Set<string>()
  const directories = new Set<string>()
  const found: Problem[] = []
  const blocked = new Set<string>()
  const isKnownBelow = (path: string) => [...known.keys()].some((other) => other.startsWith(`${path}/`))
  const visit = (directory: string) => {
    let entries: ReturnType<typeof entriesOf>
    try {
      entries = entriesOf(join(root, directory))
    } catch (error) {
      // Where nothing was synced yet, nothing can count as deleted. So a missing folder is an empty folder.
      const isNew = directory === '' && known.size === 0 && (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isNew) found.push({ path: directory, reason: 'unreadable' })
      return
    }
    for (const entry of entries) {
      const path = inDirectory(directory, entry.name)
      taken.add(keyOfPath(path))
      if (!isVisible(entry.name)) continue
      if (entry.isDirectory()) {
        directories.add(path)
        visit(path)
      } else if (isDocument(entry.name) && !isConflictCopy(entry.name)) {
        const file = entry.isFile() ? scanFile(root, path, known.get(path)) : 'not_regular'
        if (typeof file === 'string') found.push({ path, reason: file })
        else if (file !== null) files.set(path, file)
      } else if (!entry.isFile()) {
        // A link in the place of a directory hides the files that were there, and they do not count as deleted.
        blocked.add(path)
        if (isKnownBelow(path)) found.push({ path, reason: 'not_regular' })
      }
    }
  }
  visit('')
  for (const { path } of found) blocked.add(path)
  return {
    files,
    problems: found,
    directories,
    isTaken: (path) => taken.has(keyOfPath(path)),
    isUnreadable: (path) =>
      [...blocked].some((other) => path === other || other === '' || path.startsWith(`${other}/`)),
    isDirectory: (path) => directories.has(path),
  }
}

/** Reads a file as text, with its hash and what the file system tells of it. Throws an UnusableFile. */
export function readLocal(root: string, path: string): { text: string; hash: string; stat: FileStat } {
  const seenAt = Date.now()
  // The name may have become a symbolic link since the folder was listed.
  const file = openSync(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new UnusableFile('not_regular')
    if (stat.size > mostBytes) throw new UnusableFile('too_large')
    const bytes = readFileSync(file)
    return { text: textOf(bytes), hash: hashOf(bytes), stat: statOf(stat, seenAt) }
  } finally {
    closeSync(file)
  }
}

/** What is kept of the result of `lstat` or `fstat`. */
export function statOf(stat: Omit<FileStat, 'seenAt'>, seenAt: number): FileStat {
  const { size, mtimeMs, ctimeMs, ino } = stat
  return { size, mtimeMs, ctimeMs, ino, seenAt }
}

function entriesOf(directory: string) {
  return readdirSync(directory, { withFileTypes: true })
}

function scanFile(root: string, path: string, known: LocalFile | undefined): LocalFile | Problem['reason'] | null {
  try {
    const seenAt = Date.now()
    const stat = lstatSync(join(root, path))
    // A program that saves a file may empty it first, and a file without a text would take away the text of a document.
    if (stat.size === 0) return stat.isFile() ? 'empty' : 'not_regular'
    if (known !== undefined && isCertain(known.stat, stat)) return known
    if (known !== undefined && stat.size === known.stat.size) {
      const { hash, stat: now } = readLocal(root, path)
      if (hash === known.hash) return { ...known, stat: now }
    }
    if (stat.size > mostBytes) return 'too_large'
    const { text, hash, stat: now } = readLocal(root, path)
    if (hasConflictMarkers(text)) return 'conflict_markers'
    const { documentId, title } = readFileText(text, keptOfNewFile)
    return { path, hash, documentId, title, stat: { ...now, seenAt } }
  } catch (error) {
    if (error instanceof UnusableFile) return error.reason
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? null : code === 'ELOOP' ? 'not_regular' : 'unreadable'
  }
}

// What version control writes into a file until a person chooses. A block of code that only shows markers is text.
function hasConflictMarkers(text: string): boolean {
  const markers = ['<<<<<<< ', '=======', '>>>>>>> ']
  let isCode = false
  for (const line of text.split('\n')) {
    if (markers.length === 3 && /^ {0,3}(```|~~~)/.test(line)) isCode = !isCode
    else if (!isCode && line.startsWith(markers[0] ?? '')) markers.shift()
    if (markers.length === 0) return true
  }
  return false
}

function isCertain(known: FileStat, now: Omit<FileStat, 'seenAt'>): boolean {
  const isSame = known.size === now.size && known.mtimeMs === now.mtimeMs && known.ctimeMs === now.ctimeMs
  return isSame && known.ino === now.ino && Math.max(now.mtimeMs, now.ctimeMs) < known.seenAt - uncertainMs
}

function textOf(bytes: Buffer): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UnusableFile('not_utf8')
  }
  if (text.includes('\u0000')) throw new UnusableFile('has_null')
  return text
}
