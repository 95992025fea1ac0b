import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from './database.ts'
import { unavailableCode } from './exit-codes.ts'
import { answer } from './health/queries.ts'
import type { Logger } from './log.ts'
import { answerLimit } from './time-limits.ts'

type Options = { log: Logger; patienceSeconds: number }

/**
 * Waits until the database answers, which it may not do yet when the process starts. Ends the process with
 * `unavailableCode` when it has not answered for `patienceSeconds`.
 */
export async function untilReachable(url: string, options: Options): Promise<void> {
  const absence = new Absence(options)
  for (;;) {
    try {
      const database = await openDatabase({ url, kind: 'events', poolSize: 1 })
      await database.end()
      return
    } catch (error) {
      absence.note(error)
      await sleep(retryMs)
    }
  }
}

/**
 * Asks the database now and then whether it answers, logs when it does not, and ends the process with `unavailableCode`
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

  note(err: unknown): void {
    const { log, patienceSeconds } = this.#options
    if (this.#since === undefined) log.error({ err }, 'the database is out of reach')
    this.#since ??= performance.now()
    if (performance.now() - this.#since < patienceSeconds * 1000) return
    log.fatal({ err, seconds: patienceSeconds }, 'the database has stayed out of reach: the process ends')
    process.exit(unavailableCode)
  }

  end(): void {
    if (this.#since !== undefined) this.#options.log.info('the database answers again')
    this.#since = undefined
  }
}
