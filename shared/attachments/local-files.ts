import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { FileStore } from './store.ts'

/**
 * Files in a directory of this host. Bytes go to a temporary file beside their place and are renamed into it once they
 * are on disk, so that whatever has the final name is complete.
 */
export function localFiles(directory: string): FileStore {
  return {
    async write(id, bytes) {
      const { folder, path, temporary } = placeOf(directory, id)
      await makeFolder(directory, folder)
      try {
        await writeSynced(temporary, bytes)
        await rename(temporary, path)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
      await syncDirectory(folder)
    },
    async read(id) {
      try {
        const file = await open(placeOf(directory, id).path, 'r')
        return file.createReadStream()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
    },
    async remove(ids) {
      const paths = ids.map((id) => placeOf(directory, id)).flatMap(({ path, temporary }) => [path, temporary])
      for (const path of paths) await rm(path, { force: true })
    },
  }
}

// The last characters of a ULID are random: a thousand folders share the files evenly.
function placeOf(directory: string, id: string) {
  if (!/^att_[0-9A-Z]{26}$/.test(id)) throw new TypeError('not the id of an attachment')
  const folder = join(directory, id.slice(-2))
  return { folder, path: join(folder, id), temporary: join(folder, `${id}.part`) }
}

async function writeSynced(path: string, bytes: Readable): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

// A new folder is only there after a power cut when the directory that names it is on disk.
async function makeFolder(directory: string, folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first !== undefined) await syncDirectory(directory)
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
