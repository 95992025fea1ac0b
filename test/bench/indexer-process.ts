import { inTransaction, openDatabase } from '../../shared/database/database.ts'
import { computeIndex, loadIndexSources, writeIndexes } from '../../shared/search/index/index-document.ts'

/*
 * Indexes each document that the parent process names, and answers with the cost. It is a separate process, like a
 * worker, because the parent keeps a whole corpus, whose garbage collection would be counted.
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
