import { constants, type Dirent } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { collect, type Skipped, type SkipReason, type Source, SourceError } from './source.ts'

/**
 * The files of a folder and those below it. Hidden files and folders are skipped, as is `node_modules`; symbolic links
 * are not followed, since they can lead anywhere.
 */
export async function openFolder(path: string): Promise<Source> {
  const root = resolve(path)
  const paths = new Map<string, string>()
  const skipped: Skipped[] = []
  await list(root, '', { paths, skipped })
  return {
    name: basename(root),
    names: new Set(paths.keys()),
    skipped,
    async read(name, limit) {
      const file = paths.get(name)
      if (file === undefined) throw new SourceError(`there is no ${name}`)
      return readable(name, async () => {
        const handle = await open(join(root, file), constants.O_RDONLY | constants.O_NOFOLLOW)
        return collect(handle.createReadStream(), { name, limit })
      })
    },
    async close() {},
  }
}

type Found = { paths: Map<string, string>; skipped: Skipped[] }

async function list(root: string, directory: string, found: Found): Promise<void> {
  const entries = await readable(directory, () => readdir(join(root, directory), { withFileTypes: true }))
  for (const entry of entries) {
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`
    const reason = skipReasonOf(entry)
    if (reason !== null) found.skipped.push({ name: entry.isDirectory() ? `${path}/` : path, reason })
    else if (entry.isDirectory()) await list(root, path, found)
    else found.paths.set(path.normalize('NFC'), path)
  }
}

// A file that others forbid to read, or that is gone by now, is no fault of the import.
async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof SourceError) throw cause
    const { code } = cause as NodeJS.ErrnoException
    throw new SourceError(`${name || 'the folder'} cannot be read${code === undefined ? '' : ` (${code})`}`, { cause })
  }
}

function skipReasonOf(entry: Dirent): SkipReason | null {
  if (entry.isSymbolicLink()) return 'symbolic_link'
  if (entry.name.startsWith('.')) return 'hidden'
  if (entry.name === 'node_modules') return 'node_modules'
  return entry.isDirectory() || entry.isFile() ? null : 'special_file'
}
