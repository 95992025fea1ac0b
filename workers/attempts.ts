import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Job } from 'pg-boss'
import Type from 'typebox'
import { type Database, sql } from '../shared/database.ts'
import type { Logger } from '../shared/log.ts'
import type { Jobs, Queue } from '../shared/queues.ts'
import { row } from '../shared/row.ts'
import { openSession } from '../shared/session.ts'

/** The attempts this process works on, marked so that others see at once when it has died. */
export type Attempts = {
  hold: (jobs: readonly Attempt[]) => void
  release: (jobs: readonly Attempt[]) => void
  close: () => Promise<void>
}

type Attempt = Pick<Job, 'id' | 'retryCount'>

/**
 * Opens the session whose advisory locks mark the attempts: PostgreSQL gives them back when the process dies, ten
 * seconds before its heartbeat is missed. A lost session is opened again with the same locks.
 */
export function openAttempts(options: { url: string; onError: (error: Error) => void }): Attempts {
  const held = new Set<string>()
  const stop = new AbortController()
  let marks: Marks | undefined
  // Without its session a job is only noticed later, so nothing waits for it and its failure stops nothing.
  const settle = () => void marks?.settle().catch(options.onError)
  const running = keepSession({ ...options, signal: stop.signal }, (session) => {
    marks = session && new Marks(session, held)
    settle()
  })
  return {
    hold(jobs) {
      for (const job of jobs) held.add(keyOf(job))
      settle()
    },
    release(jobs) {
      for (const job of jobs) held.delete(keyOf(job))
      settle()
    },
    async close() {
      stop.abort()
      await running
    },
  }
}

/** Brings the locks of one session in line with a set of keys, one statement at a time; short jobs never get one. */
class Marks {
  readonly #session: pg.Client
  readonly #wanted: ReadonlySet<string>
  readonly #locked = new Set<string>()
  #settling = false

  constructor(session: pg.Client, wanted: ReadonlySet<string>) {
    this.#session = session
    this.#wanted = wanted
  }

  async settle(): Promise<void> {
    if (this.#settling) return
    this.#settling = true
    try {
      while (await this.#step());
    } finally {
      this.#settling = false
    }
  }

  async #step(): Promise<boolean> {
    const missing = [...this.#wanted].filter((key) => !this.#locked.has(key))
    const surplus = [...this.#locked].filter((key) => !this.#wanted.has(key))
    await this.#call('pg_advisory_lock', missing)
    for (const key of missing) this.#locked.add(key)
    await this.#call('pg_advisory_unlock', surplus)
    for (const key of surplus) this.#locked.delete(key)
    return missing.length + surplus.length > 0
  }

  async #call(name: string, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    const text = `SELECT ${name}(hashtextextended(key, 0)) FROM unnest($1::text[]) AS key`
    await this.#session.query({ name, text, values: [keys] })
  }
}

const OrphanRow = row(Type.Object({ id: Type.String(), retryCount: Type.Integer() }))

/**
 * Hands the attempts of a queue that nobody works on any more to pg-boss as failed, so that they are retried. An attempt
 * counts as such two seconds after its start, by when its lock is surely taken. What is just being completed is fenced
 * by pg-boss. The queue's policy leads to a partial index of active jobs.
 */
export async function failOrphans(
  context: { database: Database; jobs: Jobs; log: Logger },
  queue: Queue<object>,
): Promise<number> {
  const orphans = await context.database.any(sql.type(OrphanRow)`
    WITH active AS MATERIALIZED (
      SELECT id, retry_count FROM pgboss.job
      WHERE name = ${queue.name} AND policy = ${queue.options.policy ?? 'standard'} AND state = 'active'
        AND started_on < now() - interval '2 seconds'
    )
    SELECT id, retry_count AS "retryCount" FROM active
    WHERE pg_try_advisory_xact_lock(hashtextextended(id || ':' || retry_count, 0))`)
  if (orphans.length === 0) return 0
  context.log.warn({ queue: queue.name, jobs: orphans }, 'jobs whose worker died')
  await context.jobs.boss.fail(queue.name, [...orphans], { message: 'the worker died' })
  // The pause before a retry is for what the job itself fails at.
  await context.database.query(sql.unsafe`
    UPDATE pgboss.job SET start_after = now()
    WHERE name = ${queue.name} AND state = 'retry' AND id = ANY(${sql.array(
      orphans.map(({ id }) => id),
      'uuid',
    )})`)
  return orphans.length
}

function keyOf(attempt: Attempt): string {
  return `${attempt.id}:${attempt.retryCount}`
}

async function keepSession(
  options: { url: string; onError: (error: Error) => void; signal: AbortSignal },
  onChange: (session: pg.Client | undefined) => void,
): Promise<void> {
  while (!options.signal.aborted) {
    const client = openSession({ url: options.url, name: 'svc-attempts' })
    const over = new Promise((end) => client.once('end', end))
    const close = () => void client.end().catch(() => {})
    client.on('error', options.onError)
    try {
      await client.connect()
      options.signal.addEventListener('abort', close)
      if (options.signal.aborted) close()
      onChange(client)
      await over
    } catch (error) {
      options.onError(error as Error)
    }
    onChange(undefined)
    options.signal.removeEventListener('abort', close)
    await sleep(500, undefined, { signal: options.signal }).catch(() => {})
  }
}
