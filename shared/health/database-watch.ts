import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '../database/database.ts'
import { answerLimit } from '../database/time-limits.ts'
import { causesOf } from '../errors/causes.ts'
import { exitUnavailable } from '../process/command-line.ts'
import type { Logger } from '../process/log.ts'
import { answer } from './queries.ts'
import { type Readiness, readiness, unreached } from './readiness.ts'

const intervalMs = 15_000
const retryMs = 2000

type Options = {
  url: string
  log: Logger
  patienceSeconds: number
  /** Whether the process may end when its patience is over. Without this function it may. */
  mayEnd?: () => boolean
}

/**
 * Waits at the start of a process until the database answers and `npm run migrate` has brought it up to date. Each
 * check reports its result to `onReadiness`. Ends the process with `exitUnavailable` when the database has not answered
 * for `patienceSeconds`. There is no limit on the wait for migrations.
 */
export async function untilReady(options: Options & { onReadiness?: (readiness: Readiness) => void }): Promise<void> {
  const { url, log, onReadiness = () => {} } = options
  const absence = new Absence(options)
  let told = false
  for (; ; await sleep(retryMs)) {
    try {
      const ready = await readinessAt(url)
      onReadiness(ready)
      absence.end()
      if (ready.checks.migrations === 'ok' && ready.checks.queue === 'ok') return
      if (!told) log.error('the database is empty or older than this version: run `npm run migrate`, the process waits')
      told = true
    } catch (error) {
      onReadiness(unreached)
      absence.note(error)
    }
  }
}

async function readinessAt(url: string): Promise<Readiness> {
  const database = await openDatabase({ url, kind: 'events', poolSize: 3 })
  try {
    const ready = await readiness(database)
    // Throws if the database does not answer, because then the failed checks say nothing about migrations.
    await answer(database)
    return ready
  } finally {
    await database.end()
  }
}

/**
 * Checks every 15 s whether the database answers, and logs when it does not. Ends the process with `exitUnavailable`
 * after `patienceSeconds` without an answer, so that its supervisor restarts it, unless `mayEnd` says no. Returns a
 * function that ends the watch.
 */
export function watchDatabase(database: Database, options: Options): () => void {
  const absence = new Absence(options)
  let timer: NodeJS.Timeout | undefined
  let closed = false
  const look = async () => {
    try {
      await Promise.race([answer(database), tooLate()])
      absence.end()
    } catch (error) {
      if (!closed) absence.note(error)
    }
    if (!closed) timer = setTimeout(look, absence.lasts ? retryMs : intervalMs).unref()
  }
  timer = setTimeout(look, intervalMs).unref()
  return () => {
    closed = true
    clearTimeout(timer)
  }
}

// Rejects when the database has not answered in time. Without connections to the database, a request for a connection
// of the pool could wait for ever.
async function tooLate(): Promise<never> {
  await sleep(answerLimit('work'), undefined, { ref: false })
  throw new Error('The database has not answered in time')
}

class Absence {
  readonly #options: Options
  #since: number | undefined

  constructor(options: Options) {
    this.#options = options
  }

  get lasts(): boolean {
    return this.#since !== undefined
  }

  note(error: unknown): void {
    const { url, log, patienceSeconds, mayEnd = () => true } = this.#options
    const facts = { variable: 'DATABASE_URL', url: withoutPassword(url), causes: causesOf(error) }
    if (this.#since === undefined)
      log.error({ ...facts, retry_seconds: retryMs / 1000 }, 'the database is out of reach')
    this.#since ??= performance.now()
    if (performance.now() - this.#since < patienceSeconds * 1000 || !mayEnd()) return
    log.fatal({ ...facts, seconds: patienceSeconds }, 'the database has stayed out of reach: the process ends')
    process.exit(exitUnavailable)
  }

  end(): void {
    if (this.#since !== undefined) this.#options.log.info('the database answers again')
    this.#since = undefined
  }
}

/**
 * The address of a database for logs and messages, without its password and without parameters, which may be secret.
 */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return 'an address that is no URL'
  const { protocol, username, password, host, pathname } = new URL(address)
  const user = `${username}${password === '' ? '' : ':***'}`
  return `${protocol}//${user === '' ? '' : `${user}@`}${host}${pathname}`
}
