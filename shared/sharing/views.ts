import type { Database } from '../database/database.ts'
import { addViews, type ShareRow } from './queries.ts'

// The views that wait to be stored, by the id of their share, and the statements that are being carried out.
const waiting = new Map<string, { views: number; stored: Promise<void> }>()
const storing = new Map<string, Promise<void>>()

/**
 * Counts a view of a shared document, and resolves when the count is stored. A process stores the views of one share
 * with one statement at a time: views that come meanwhile are stored together by the next statement. So readers of a
 * popular page do not queue for the row of its share with a connection in hand each.
 */
export function countView(database: Database, share: ShareRow): Promise<void> {
  const joined = waiting.get(share.id)
  if (joined !== undefined) {
    joined.views += 1
    return joined.stored
  }
  const batch = { views: 1, stored: Promise.resolve() }
  batch.stored = storeNext(database, { share, batch })
  waiting.set(share.id, batch)
  return batch.stored
}

async function storeNext(database: Database, next: { share: ShareRow; batch: { views: number } }): Promise<void> {
  const { share, batch } = next
  await storing.get(share.id)?.catch(() => {})
  waiting.delete(share.id)
  const statement = addViews(database, share, batch.views)
  storing.set(share.id, statement)
  try {
    await statement
  } finally {
    if (storing.get(share.id) === statement) storing.delete(share.id)
  }
}
