import { constants } from 'node:fs'
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

/**
 * A `FileStore` in a directory of this host. Bytes go to a temporary file, which is renamed once the bytes are on disk.
 * So a file that has its final name is complete.
 */
export function localFiles(directory: string) {
  async function store(id: string, writeTo: (temporary: string) => Promise<void>): Promise<void> {
    const { folder, path, temporary } = pathsOf(directory, id)
    await makeFolder(directory, folder)
    try {
      await writeTo(temporary)
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
    await syncDirectory(folder)
  }

  return {
    write: (id: string, bytes: Readable): Promise<void> => store(id, (temporary) => writeSynced(temporary, bytes)),
    async copy({ from, to }: { from: string; to: string }): Promise<boolean> {
      try {
        await store(to, (temporary) => copySynced(pathsOf(directory, from).path, temporary))
        return true
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
        throw error
      }
    },
    async read(id: string): Promise<Readable | null> {
      try {
        const file = await open(pathsOf(directory, id).path, 'r')
        return file.createReadStream()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
    },
    async remove(ids: readonly string[]): Promise<void> {
      const paths = ids.map((id) => pathsOf(directory, id)).flatMap(({ path, temporary }) => [path, temporary])
      for (const path of paths) await rm(path, { force: true })
    },
  }
}

// The last characters of a ULID are random, so the files spread evenly over a thousand folders.
function pathsOf(directory: string, id: string) {
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

// File systems that can share the bytes of two files do so.
async function copySynced(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  const file = await open(to, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

// A new folder survives a power cut only when its parent directory is on disk too, so the parent is synced.
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
