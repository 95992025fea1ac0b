import { inTransaction } from '../../shared/database/database.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { dueEntries, purgeEntry, workspacesWithTrash } from '../../shared/trash/purge.ts'
import type { EntryKey } from '../../shared/trash/queries.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { defineSweep } from './sweep.ts'

/** The number of entries that are looked up at once. */
const batch = 1000

/**
 * Deletes the entries of the trash that have expired or for which the trash has no room, each in a transaction of its
 * own. The files of their attachments become orphans, which the sweep of attachments removes. An entry that cannot be
 * deleted is tried again by the next run, and does not keep this run from the other entries.
 */
export const trashSweep = defineSweep({
  queue: queues.sweepTrash,
  cron: '37 * * * *',
  async sweep(runtime) {
    let total = 0
    for (const workspaceId of await workspacesWithTrash(runtime.database)) total += await sweepOne(runtime, workspaceId)
    return total
  },
})

// Deletes what is due in the trash of one workspace. Returns how many entries it deleted.
async function sweepOne(runtime: Runtime, workspaceId: string): Promise<number> {
  const { database, config: limits } = runtime
  let total = 0
  let after = ''
  for (;;) {
    const entries = await dueEntries(database, { workspaceId, limits, after, limit: batch })
    for (const entry of entries) total += (await isPurged(runtime, entry)) ? 1 : 0
    if (entries.length < batch) return total
    after = entries.at(-1)?.id ?? after
  }
}

// The log names the entry by its ids. The logger leaves the values of failed statements out.
async function isPurged({ database, log }: Runtime, key: EntryKey): Promise<boolean> {
  try {
    return await inTransaction(database, (tx) => purgeEntry(tx, key))
  } catch (err) {
    log.error({ err, workspace_id: key.workspace_id, entry_id: key.id }, 'an entry of the trash could not be deleted')
    return false
  }
}
