import { readConfig } from '../../config/config.ts'
import { openDatabase } from '../../database/database.ts'
import { queues } from '../../jobs/queues.ts'
import { groupOf, openJobs } from '../../jobs/send.ts'
import { runCommandLine, UsageError } from '../../process/command-line.ts'
import { databaseUrlBesideService } from '../../start/embedded-postgres.ts'
import { firstStep, reindexKey } from './reindex.ts'

const usage = `usage: node shared/search/index/reindex-command.ts [--knowledge-base ID]

Enqueues a reindex of all documents, or of the documents of one knowledge base, for the worker types sweeps and search.
Prints one line of JSON; job_id is null when such a reindex is running already.

Exit codes: 0 enqueued or running, 1 it failed, 2 the command line makes no sense.`

const options = { 'knowledge-base': { type: 'string' } } as const

await runCommandLine({ usage, options }, async ({ values }) => {
  const named = values['knowledge-base']
  if (named !== undefined && !/^[1-9][0-9]{0,14}$/.test(named)) throw new UsageError('--knowledge-base takes an id')
  const request = { documents: 'all', knowledge_base_id: named === undefined ? null : Number(named) } as const
  const id = await enqueue(request)
  process.stdout.write(`${JSON.stringify({ job_id: id, ...request, running_already: id === null })}\n`)
})

async function enqueue(request: Parameters<typeof firstStep>[0]): Promise<string | null> {
  const database = await openDatabase({ url: databaseUrlBesideService(readConfig()), kind: 'whole', poolSize: 1 })
  const errors: Error[] = []
  const jobs = await openJobs({ database, onError: (error) => errors.push(error) })
  const options = { singletonKey: reindexKey(request), group: groupOf({}) }
  const id = await jobs.boss.send(queues.searchReindex.name, firstStep(request), options)
  await jobs.stop()
  await database.end()
  if (errors[0]) throw errors[0]
  return id
}
