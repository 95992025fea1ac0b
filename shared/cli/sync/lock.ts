import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../frame/failures.ts'
import { stateFolder } from './paths.ts'
import { hashOf } from './state.ts'

/**
 * Takes the folder for this process, so that no two processes sync it at a time. Returns a function that gives it back.
 * Throws a Failure if another process has the folder. The lock of a process that was killed does not count.
 */
export function lockFolder(root: string): () => void {
  const directory = join(root, stateFolder)
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'lock')
  const own = `${process.pid} ${randomUUID()}\n`
  for (;;) {
    if (placeLock(path, own)) return () => removeLock(path, own)
    const held = lockAt(path)
    if (held === null) continue
    if (isHeld(held) || !removeLock(path, held)) {
      throw new Failure('failed', 'sync_in_progress', {
        message: `The process ${ownerOf(held)} syncs this folder.`,
        hint: `If that process does something else, remove ${path}.`,
      })
    }
  }
}

// Returns false if there is a lock. A lock appears with its text, so nobody takes it for a lock without an owner.
function placeLock(path: string, text: string): boolean {
  const written = `${path}-${randomUUID()}`
  try {
    writeFileSync(written, text)
    linkSync(written, path)
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    // Some file systems have no second names.
    return createNew(path, text)
  } finally {
    rmSync(written, { force: true })
  }
}

// Removes the lock if it has the text, and no other lock that has taken its place meanwhile. Only one process at a time
// may remove a lock with a certain text. Returns false if another process is about to do so.
function removeLock(path: string, text: string): boolean {
  const claim = `${path}-${hashOf(text)}`
  if (!createNew(claim, '')) return false
  try {
    if (lockAt(path) === text) rmSync(path, { force: true })
    return true
  } finally {
    rmSync(claim, { force: true })
  }
}

function createNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  }
}

function lockAt(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null
    throw error
  }
}

function ownerOf(lock: string): number {
  return Number.parseInt(lock, 10)
}

// In a container, a process that was killed often has had the number of this process.
function isHeld(lock: string): boolean {
  const owner = ownerOf(lock)
  if (owner === process.pid) return false
  try {
    // Without a number, the owner is still writing it.
    return Number.isNaN(owner) || process.kill(owner, 0)
  } catch (error) {
    return isCode(error, 'EPERM')
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code
}
