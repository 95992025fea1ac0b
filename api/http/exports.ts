import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { inSnapshot, openDatabase, type Queryable } from '../../shared/database/database.ts'
import type { Archive as ArchiveWriter } from '../../shared/export/archive.ts'
import { currentCall, onBehalfOf } from '../../shared/turns/requester.ts'
import { Turns } from '../../shared/turns/turns.ts'

// The number of exports that run at a time in a process. Each export keeps a connection of its own for as long as its
// archive is read.
const exportsAtOnce = 4

/** A bound on a slow reader: its longest pause, and the longest time of the whole answer, in milliseconds. */
export type Patience = { pauseMs: number; wholeMs: number }

/**
 * A runner of work that reads a whole knowledge base. The work has database connections of its own, so that other
 * requests do not wait for it.
 */
export type Exports = {
  patience: Patience
  /** Waits for a turn of the caller, then runs `work` on a snapshot of the database. */
  run: <T>(work: (snapshot: Queryable) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/** Opens the connections of exports. There is no connection while nobody exports. */
export async function openExports(options: { url: string }): Promise<Exports> {
  const database = await openDatabase({ url: options.url, kind: 'whole', poolSize: exportsAtOnce })
  const turns = new Turns({
    atOnce: exportsAtOnce,
    ofOneUser: 2,
    waiting: 64,
    waitingOfOneUser: 8,
    patienceMs: 20_000,
  })
  // PostgreSQL cannot remove old rows while a snapshot sees them, so no snapshot may live for ever.
  const patience = { pauseMs: 60_000, wholeMs: 3_600_000 }
  return {
    patience,
    run: (work) => turns.run(() => asJob(() => inSnapshot(database, work))),
    close: () => database.end(),
  }
}

// Runs the work of an archive as a job, without the signal of the call. Work with a signal is refused when too much
// work waits, but an archive that was begun must not be refused halfway.
function asJob<T>(work: () => Promise<T>): Promise<T> {
  return onBehalfOf(currentCall().userId, work)
}

/**
 * Answers with an archive while `write` makes it. A reader that goes away or is too slow stops `write`. When `write`
 * fails, the connection is cut, so that no client takes half an archive for a whole archive. Throws what `write` threw,
 * unless the reader was the reason.
 */
export async function sendArchive(
  response: Response,
  patience: Patience,
  write: (archive: ArchiveWriter) => Promise<void>,
): Promise<void> {
  // The library of archives is loaded by the first export, because most processes serve none.
  const { Archive } = await import('../../shared/export/archive.ts')
  // A client that went away before this line causes no further event that would stop `write`.
  if (response.destroyed) return
  const archive = new Archive()
  const over = AbortSignal.timeout(patience.wholeMs)
  response.setTimeout(patience.pauseMs, () => response.destroy())
  let failure: unknown
  const written = write(archive).catch((error: unknown) => {
    // An error after the reader has gone is no failure of the service.
    if (!archive.stream.destroyed) failure = error
    archive.fail(error instanceof Error ? error : new Error(String(error)))
  })
  await pipeline(archive.stream, response, { signal: over }).catch(() => {})
  await written
  if (failure !== undefined) throw failure
}
