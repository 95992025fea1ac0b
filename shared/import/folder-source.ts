import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { collect, type Source, SourceError } from './source.ts'

/**
 * The files of a folder and those below it. Hidden files and folders are left out, as is `node_modules`; symbolic links
 * are not followed, since they can lead anywhere.
 */
export async function openFolder(path: string): Promise<Source> {
  const root = resolve(path)
  const paths = new Map<string, string>()
  await list(root, '', paths)
  return {
    name: basename(root),
    names: new Set(paths.keys()),
    async read(name, limit) {
      const file = paths.get(name)
      if (file === undefined) throw new SourceError(`there is no ${name}`)
      const handle = await open(join(root, file), constants.O_RDONLY | constants.O_NOFOLLOW)
      return collect(handle.createReadStream(), { name, limit })
    },
    async close() {},
  }
}

async function list(root: string, directory: string, paths: Map<string, string>): Promise<void> {
  for (const entry of await readdir(join(root, directory), { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`
    if (entry.isDirectory()) await list(root, path, paths)
    else if (entry.isFile()) paths.set(path.normalize('NFC'), path)
  }
}
