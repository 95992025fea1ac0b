import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { openDatabase, type Queryable } from '../../shared/database/database.ts'
import { inSnapshot } from '../../shared/database/snapshot.ts'
import { Archive } from '../../shared/export/archive.ts'
import { currentCall, onBehalfOf } from '../../shared/turns/requester.ts'
import { Turns } from '../../shared/turns/turns.ts'

/** Runs what reads a whole knowledge base, beside the requests and never at their expense. */
export type Exports = {
  patience: Patience
  /** Waits for a turn of the caller, then runs `work` on an unchanging state of the database. */
  run: <T>(work: (snapshot: Queryable) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

// Each holds a connection of its own for as long as it is read.
const exportsAtOnce = 4

/** Opens the connections of exports, which are none while nobody exports. */
export async function openExports(options: { url: string }): Promise<Exports> {
  const database = await openDatabase({ url: options.url, kind: 'whole', poolSize: exportsAtOnce })
  const turns = new Turns({
    atOnce: exportsAtOnce,
    ofOneWorkspace: exportsAtOnce - 1,
    ofOneUser: 2,
    waiting: 64,
    waitingOfOneUser: 8,
    patienceMs: 20_000,
  })
  // PostgreSQL cannot clean up behind a snapshot, so none may live for ever.
  const patience = { pauseMs: 60_000, wholeMs: 3_600_000 }
  return {
    patience,
    run: (work) => turns.run(() => asJob(() => inSnapshot(database, work))),
    close: () => database.end(),
  }
}

// An archive that was begun is finished: its pieces take their turns among the caller's, but none of them is refused.
function asJob<T>(work: () => Promise<T>): Promise<T> {
  return onBehalfOf(currentCall().requester, work)
}

/** How long a reader may take nothing at all, and how long the whole answer may take. */
export type Patience = { pauseMs: number; wholeMs: number }

/**
 * Answers with an archive while `write` makes it. A reader that goes away or is too slow stops it; when it fails, the
 * connection is cut, so that half an archive is never taken for a whole one. Throws what `write` threw, and nothing
 * when the reader was the reason.
 */
export async function sendArchive(
  response: Response,
  patience: Patience,
  write: (archive: Archive) => Promise<void>,
): Promise<void> {
  // Whoever has left meanwhile would never be noticed by its absence again.
  if (response.destroyed) return
  const archive = new Archive()
  const over = AbortSignal.timeout(patience.wholeMs)
  response.setTimeout(patience.pauseMs, () => response.destroy())
  let failure: unknown
  const written = write(archive).catch((error: unknown) => {
    // What fails because nobody reads any more is no failure of ours.
    if (!archive.stream.destroyed) failure = error
    archive.fail(error instanceof Error ? error : new Error(String(error)))
  })
  await pipeline(archive.stream, response, { signal: over }).catch(() => {})
  await written
  if (failure !== undefined) throw failure
}
