import { openDatabase, type Queryable } from '../shared/database.ts'
import { inSnapshot } from '../shared/snapshot.ts'
import type { Patience } from './send-archive.ts'
import { Turns } from './turns.ts'

/** Runs what reads a whole knowledge base, beside the requests and never at their expense. */
export type Exports = {
  patience: Patience
  /** Waits for a turn, then runs `work` on an unchanging state of the database. */
  run: <T>(userId: string, work: (snapshot: Queryable) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

// Each holds a connection of its own for as long as it is read.
const exportsAtOnce = 4

/** Opens the connections of exports, which are none while nobody exports. */
export async function openExports(options: { url: string }): Promise<Exports> {
  const database = await openDatabase({ url: options.url, kind: 'whole', poolSize: exportsAtOnce })
  const turns = new Turns({ atOnce: exportsAtOnce, ofOneUser: 2, patienceMs: 20_000 })
  // PostgreSQL cannot clean up behind a snapshot, so none may live for ever.
  const patience = { pauseMs: 60_000, wholeMs: 3_600_000 }
  return {
    patience,
    run: (userId, work) => turns.run(userId, () => inSnapshot(database, work)),
    close: () => database.end(),
  }
}
