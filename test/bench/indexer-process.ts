import { inTransaction, openDatabase } from '../../shared/database/database.ts'
import { computeIndex, loadIndexSources, writeIndexes } from '../../shared/search/index/index-document.ts'

/*
 * Indexes each document that its parent names, and answers what that cost: a process of its own, as a worker is, since the
 * bench holds a whole corpus whose garbage collection would be counted.
 */

const database = await openDatabase({ url: process.argv[2] ?? '', poolSize: 1 })

process.on('message', async (job: { workspace_id: string; document_id: string }) => {
  const begun = process.cpuUsage()
  const source = (await loadIndexSources(database, [job])).get(job.document_id)
  if (source === undefined) throw new Error('the document is gone')
  const result = computeIndex(job, source)
  await inTransaction(database, (tx) => writeIndexes(tx, [{ job, source, result }]))
  const { user, system } = process.cpuUsage(begun)
  process.send?.({ cost: (user + system) / 1000, rows: result.write.length })
})

process.on('disconnect', () => database.end())
