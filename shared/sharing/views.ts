import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import type { Logger } from '../process/log.ts'
import { addViews, type ShareRow } from './queries.ts'

// How often the views of a share are tried to be stored, and the pause between two tries.
const tries = 300
const pauseMs = 200

// The views that wait to be stored, by the id of their share, and the shares whose views are being stored.
const waiting = new Map<string, number>()
const storing = new Set<string>()

/**
 * Counts a view of a shared document. The reader does not wait for the count. A process stores the views of a share
 * with one statement at a time: views that come meanwhile are stored together by the next statement. A statement never
 * waits for a share that somebody else is changing or deleting. Views that cannot be stored within a minute are not
 * counted.
 */
export function countView(context: { database: Database; log: Logger }, share: ShareRow): void {
  waiting.set(share.id, (waiting.get(share.id) ?? 0) + 1)
  if (storing.has(share.id)) return
  storing.add(share.id)
  void storeViews(context.database, share)
    .catch((error: unknown) => context.log.warn({ err: error }, 'views of a share not counted'))
    .finally(() => storing.delete(share.id))
}

async function storeViews(database: Database, share: ShareRow): Promise<void> {
  for (let views = taken(share.id); views > 0; views = taken(share.id)) {
    let stored = false
    for (let n = 0; n < tries && !stored; n++) {
      if (n > 0) await sleep(pauseMs)
      stored = await addViews(database, share, views)
    }
  }
}

function taken(shareId: string): number {
  const views = waiting.get(shareId) ?? 0
  waiting.delete(shareId)
  return views
}
