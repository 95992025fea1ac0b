import pg from 'pg'
import { type JobInsert, PgBoss } from 'pg-boss'
import { allQueues, type QueueOptions } from './queues.ts'
import { groupOf } from './send.ts'

/** Queues of earlier versions. The schedules of a queue are deleted with the queue. */
const retiredQueues = ['sweep.document-counts', 'sweep.document-counts.dead']

/** Installs or upgrades pg-boss's schema, and creates every queue. Safe to repeat, and from several hosts at once. */
export async function installQueues(url: string): Promise<void> {
  const guard = new pg.Client(url)
  await guard.connect()
  try {
    await guard.query(`SELECT pg_advisory_lock(hashtextextended('install-queues', 0))`)
    await installAlone(url)
  } finally {
    await guard.end()
  }
}

async function installAlone(url: string): Promise<void> {
  const boss = new PgBoss({ connectionString: url, max: 2, supervise: false, schedule: false })
  const errors: Error[] = []
  boss.on('error', (error) => errors.push(error))
  await boss.start()
  try {
    for (const { name, options } of allQueues()) {
      const waiting = await takeOver(boss, name, options)
      await boss.createQueue(name, options)
      const { policy: _immutable, partition: _fixed, ...changeable } = options
      await boss.updateQueue(name, changeable)
      if (waiting.length > 0) await boss.insert(name, waiting)
    }
    for (const name of retiredQueues) await boss.deleteQueue(name)
  } finally {
    await boss.stop({ graceful: false })
  }
  if (errors.length > 0) throw new Error('pg-boss could not be installed', { cause: errors[0] })
}

/**
 * pg-boss cannot change the policy of a queue. So a queue with another policy is deleted, and the jobs that wait in it
 * or run are returned for the new queue. Should they be lost here, the sweep of stale projections sends them again.
 */
async function takeOver(boss: PgBoss, name: string, { policy = 'standard' }: QueueOptions): Promise<JobInsert[]> {
  const queue = await boss.getQueue(name)
  if (queue === null || queue.policy === policy) return []
  const jobs = await boss.findJobs<object>(name)
  await boss.deleteQueue(name)
  const open = jobs.filter(({ state }) => state === 'created' || state === 'retry' || state === 'active')
  return open.map(({ data, priority, startAfter }) => ({ data, priority, startAfter, group: groupOf(data) }))
}
