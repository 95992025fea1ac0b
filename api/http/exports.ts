import { inSnapshot, openDatabase, type Queryable } from '../../shared/database/database.ts'
import { currentCall, onBehalfOf } from '../../shared/turns/requester.ts'
import { Turns } from '../../shared/turns/turns.ts'
import type { Patience } from './send-archive.ts'

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
