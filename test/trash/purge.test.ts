import { sql } from '../../shared/database/database.ts'
import { type Queue, queues } from '../../shared/jobs/queues.ts'
import type { Worker } from '../../workers/runtime/runtime.ts'
import { attachmentSweep } from '../../workers/sweeps/attachments.ts'
import { trashSweep } from '../../workers/sweeps/trash.ts'
import { storedFiles } from '../support/attachments.ts'
import type { TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { ok } from '../support/translations.ts'
import { startWorkers } from '../support/workers.ts'
import { blurredSince } from './blur.ts'
import { type Deletion, ofDocuments, ofPlaces } from './deletions.ts'
import { type Copied, prepareEverything } from './prepared.ts'
import { differences, readTables } from './tables.ts'

const start = await prepareEverything(t)

// Tables that record calls and runs of workers, of which a purge is one more.
const notCompared = new Set(['audit_log', 'tokens'])

const deletions: Record<string, readonly Deletion[]> = {
  'one document': [ofDocuments['a document with everything'] as Deletion],
  'a source and its translation, one after the other': [
    ofDocuments['the source of a set'] as Deletion,
    ofDocuments['a translation'] as Deletion,
  ],
  'everything, from the smallest to the largest': Object.values({ ...ofDocuments, ...ofPlaces }),
  'a knowledge base at once': [ofPlaces['a knowledge base'] as Deletion],
}

for (const [name, steps] of Object.entries(deletions)) {
  t.test(`a purge leaves no row and no byte behind, as if there had been no trash: ${name}`, async (t) => {
    const begun = Date.now()
    const [purged, expired, final] = [await start(t), await start(t), await start(t, { TRASH_RETENTION_DAYS: '0' })]
    for (const { ada, everything } of [purged, expired, final]) {
      for (const step of steps) await step(ada, everything)
    }
    const entries: { id: string }[] = ok(await purged.ada.get('/trash')).data
    t.equal(entries.length, steps.length)
    for (const { id } of entries) ok(await purged.ada.delete(`/trash/${id}`))
    await expired.service.database.query(sql.unsafe`UPDATE trash_entries SET expires_at = now()`)
    t.strictSame(ok(await expired.ada.get('/trash')).data, [], 'an expired entry is gone before the sweep comes')
    await sweep(t, expired.service, { worker: trashSweep, queue: queues.sweepTrash })
    const blur = blurredSince(begun)
    const expected = await stateOf(t, final)
    for (const copied of [purged, expired]) {
      const { tables, files } = await stateOf(t, copied)
      t.strictSame(differences([expected.tables, tables], blur), {}, name)
      t.strictSame(files, expected.files, 'the same files are left')
    }
  })
}

// The tables and files once the files that nobody needs are removed.
async function stateOf(t: Test, { service }: Copied) {
  await sweep(t, service, { worker: attachmentSweep, queue: queues.sweepAttachments })
  return { tables: await readTables(service.database, notCompared), files: (await storedFiles(service)).sort() }
}

async function sweep(t: Test, service: TestService, input: { worker: Worker; queue: Queue<object> }): Promise<void> {
  const { runtime, stop } = await startWorkers(t, service, [input.worker])
  await runtime.jobs.boss.send(input.queue.name, {})
  await until(async () => {
    const open = await service.database.any(sql.unsafe`
      SELECT FROM pgboss.job WHERE name = ${input.queue.name} AND state <> 'completed'`)
    return open.length === 0
  })
  await stop()
}
