import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { deadLetterOf, queues } from './queues.ts'

/** Queues of earlier versions. The schedules of a queue are deleted with the queue. */
const retiredQueues = ['sweep.document-counts', 'sweep.document-counts.dead']

/** Our own indexes and triggers on pg-boss's table, which pg-boss knows nothing of. */
const queueFiles = new URL('../../sql/queues/', import.meta.url)

const failedJobsKeptSeconds = 30 * 86_400

/**
 * Installs or upgrades pg-boss's schema, creates every queue with its dead-letter queue and runs `sql/queues/`. Safe to
 * repeat. Several hosts may call it at once: an advisory lock makes them wait for each other. Throws when pg-boss
 * reports an error.
 */
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
    for (const queue of Object.values(queues)) {
      await boss.createQueue(deadLetterOf(queue), { retryLimit: 0, deleteAfterSeconds: failedJobsKeptSeconds })
      await boss.createQueue(queue.name, { ...queue.options, deadLetter: deadLetterOf(queue) })
      const { policy: _immutable, partition: _fixed, ...changeable } = queue.options
      await boss.updateQueue(queue.name, { ...changeable, deadLetter: deadLetterOf(queue) })
    }
    for (const name of retiredQueues) await boss.deleteQueue(name)
    for (const file of readdirSync(queueFiles).sort()) {
      await boss.getDb().executeSql(readFileSync(new URL(file, queueFiles), 'utf8'))
    }
  } finally {
    await boss.stop({ graceful: false })
  }
  if (errors.length > 0) throw new Error('pg-boss could not be installed', { cause: errors[0] })
}
