import { PgBoss } from 'pg-boss'
import type { Test } from 'tap'
import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { startTestService } from './service.ts'
import { startWorkers } from './workers.ts'

/**
 * Starts a service without workers, a runtime that claims jobs, and a pg-boss of its own. Tests let pg-boss and our
 * statements do the same on two queues with the same options, and compare the rows.
 */
export async function startBesidePgBoss(t: Test) {
  const service = await startTestService(t)
  const { database } = service
  const { runtime } = await startWorkers(t, service, [])
  const boss = new PgBoss({ connectionString: service.url, max: 1, migrate: false, supervise: false, schedule: false })
  // A stopped pg-boss may still hold a connection for a moment, which ends with its database.
  let isStopped = false
  boss.on('error', (error) => {
    if (!isStopped) t.fail(error.message)
  })
  await boss.start()
  t.teardown(() => {
    isStopped = true
    return boss.stop({ graceful: false })
  })

  /** The rows of a queue without their ids and times; of a time only its presence is told. */
  async function rows(name: string): Promise<readonly Record<string, unknown>[]> {
    const found = await database.anyFirst(sql.type(row(Type.Object({ job: Type.Unsafe<Record<string, unknown>>({}) })))`
      SELECT to_jsonb(job) AS job FROM pgboss.job WHERE name = ${name} ORDER BY data ->> 'n', created_on`)
    return found.map((job) => {
      const { id: _, name: __, dead_letter: ___, source_name, source_id, source_root_id, output, ...members } = job
      const told = Object.entries(members).map(([key, value]) => [key, isTime(key) ? value !== null : value])
      return { ...Object.fromEntries(told), output }
    })
  }

  /** How long the jobs of a queue are held back and kept, in seconds. */
  function times(name: string) {
    return database.any(sql.type(row(Type.Object({ held: Type.Number(), kept: Type.Number() })))`
      SELECT extract(epoch FROM start_after - created_on)::float8 AS held,
        extract(epoch FROM keep_until - start_after)::float8 AS kept
      FROM pgboss.job WHERE name = ${name} ORDER BY created_on, singleton_key`)
  }
  return { service: service.service, url: service.url, database, runtime, boss, rows, times, signUp: service.signUp }
}

function isTime(column: string): boolean {
  return /(_on|_after|_until)$/.test(column) && column !== 'singleton_on'
}
