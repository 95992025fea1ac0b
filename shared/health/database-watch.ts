import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '../database/database.ts'
import { answerLimit } from '../database/time-limits.ts'
import { causesOf } from '../errors/causes.ts'
import { exitUnavailable } from '../process/command-line.ts'
import type { Logger } from '../process/log.ts'
import { answer } from './queries.ts'
import { type Readiness, readiness, unreached } from './readiness.ts'

type Options = { url: string; log: Logger; patienceSeconds: number }

/**
 * Waits until the database answers and `npm run migrate` has brought it up to date, which neither need have happened when
 * the process starts. `onReadiness` hears how the database stands at each look. Ends the process with `exitUnavailable`
 * when the database has not answered for `patienceSeconds`; for the migrations it waits as long as it takes.
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
    // A check that failed because the database is gone says nothing about migrations.
    await answer(database)
    return ready
  } finally {
    await database.end()
  }
}

/**
 * Asks the database now and then whether it answers, logs when it does not, and ends the process with `exitUnavailable`
 * when that stays so for `patienceSeconds`: whoever supervises the process starts it anew. Returns how to end the watch.
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

// Whoever waits for a connection of the pool may wait for ever while there are none.
async function tooLate(): Promise<never> {
  await sleep(answerLimit('work'), undefined, { ref: false })
  throw new Error('The database has not answered in time')
}

const intervalMs = 15_000
const retryMs = 2000

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
    const { url, log, patienceSeconds } = this.#options
    const facts = { variable: 'DATABASE_URL', url: withoutPassword(url), causes: causesOf(error) }
    if (this.#since === undefined)
      log.error({ ...facts, retry_seconds: retryMs / 1000 }, 'the database is out of reach')
    this.#since ??= performance.now()
    if (performance.now() - this.#since < patienceSeconds * 1000) return
    log.fatal({ ...facts, seconds: patienceSeconds }, 'the database has stayed out of reach: the process ends')
    process.exit(exitUnavailable)
  }

  end(): void {
    if (this.#since !== undefined) this.#options.log.info('the database answers again')
    this.#since = undefined
  }
}

/** The address of a database for logs and messages. Parameters are left out as well: some of them are secrets, too. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return 'an address that is no URL'
  const { protocol, username, password, host, pathname } = new URL(address)
  const user = `${username}${password === '' ? '' : ':***'}`
  return `${protocol}//${user === '' ? '' : `${user}@`}${host}${pathname}`
}
