import type { Database } from '../database/database.ts'
import { inTransaction, withLimitsOf } from '../database/database.ts'
import { type DueFiles, deleteLooseFiles, lockLooseFiles } from './orphans.ts'
import type { FileStore } from './store.ts'

/**
 * Removes files that no attachment owns from the store and forgets them; returns how many. A file that is just being
 * claimed or removed by somebody else is left to them. Removing before the commit does no harm: a file whose removal is
 * rolled back is removed again.
 */
export async function removeLooseFiles(
  context: { database: Database; files: FileStore },
  due: DueFiles,
): Promise<number> {
  return inTransaction(context.database, async (tx) => {
    const ids = await lockLooseFiles(tx, due)
    if (ids.length === 0) return 0
    await withLimitsOf(tx, 'whole', () => context.files.remove(ids))
    await deleteLooseFiles(tx, ids)
    return ids.length
  })
}
