import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { clusterOf } from './postgres-cluster.ts'

/*
 * The Unix socket of the embedded PostgreSQL, in the folder of its data. A statement over the socket costs client and
 * server two thirds of what it costs over 127.0.0.1.
 */

// The longest path of a socket in bytes: 107 on Linux, 103 on macOS.
const longestPath = 103

/**
 * Whether the PostgreSQL of `directory` can have a socket, whose path must be short. `folder` is the path under which
 * the server sees its data; clients may see the data under another path.
 */
export function hasSocket(directory: string, { folder, port }: { folder: string; port: number }): boolean {
  const paths = [clusterOf(directory), folder].map((place) => join(place, socketName(port)))
  return process.platform !== 'win32' && paths.every((path) => Buffer.byteLength(path) <= longestPath)
}

/**
 * Adds the parameter `host` to the TCP address of a cluster. By this parameter libpq, and our clients too, use the Unix
 * socket instead.
 */
export function overSocket(directory: string, url: string): string {
  const complete = new URL(url)
  complete.searchParams.set('host', clusterOf(directory))
  return complete.href
}

/**
 * Deletes the sockets and lock files that a killed server of this cluster left behind. Only the owner of the lock on
 * `directory` may do so. The process ids in these files tell nothing: they may be in use again, as happens in
 * containers. A server that is still ending keeps its shared memory, which PostgreSQL notices by itself.
 */
export async function deleteOldLocks(directory: string): Promise<void> {
  const files = await readdir(clusterOf(directory))
  const old = files.filter((file) => file === 'postmaster.pid' || file.startsWith(socketName('')))
  for (const file of old) await rm(join(clusterOf(directory), file), { force: true })
}

function socketName(port: number | ''): string {
  return `.s.PGSQL.${port}`
}
