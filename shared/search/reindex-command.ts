import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { openDatabase } from '../database.ts'
import { databaseUrlBesideService } from '../dev/database-url.ts'
import { openJobs, queues } from '../queues.ts'
import { firstStep, reindexKey } from './reindex.ts'

// `node shared/search/reindex-command.ts [--knowledge-base N]` enqueues a reindex of all documents, or of one knowledge
// base; the workers `sweeps` and `search` do it.
const { values } = parseArgs({ options: { 'knowledge-base': { type: 'string' } } })
const named = values['knowledge-base']
if (named !== undefined && !/^[1-9][0-9]{0,14}$/.test(named)) throw new Error('--knowledge-base takes an id')
const request = { documents: 'all', knowledge_base_id: named === undefined ? null : Number(named) } as const

const database = await openDatabase({ url: databaseUrlBesideService(readConfig()), kind: 'whole', poolSize: 1 })
const errors: Error[] = []
const jobs = await openJobs({ database, onError: (error) => errors.push(error) })
const id = await jobs.boss.send(queues.searchReindex.name, firstStep(request), { singletonKey: reindexKey(request) })
await jobs.stop()
await database.end()
if (errors[0]) throw errors[0]
process.stdout.write(`${JSON.stringify({ job_id: id, ...request, running_already: id === null })}\n`)
