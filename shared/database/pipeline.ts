import type pg from 'pg'
import { BackendTerminatedError } from 'slonik'
import { asDriverError, codeOf } from './driver-errors.ts'
import { answerLimit, currentWorkKind, type WorkKind } from './time-limits.ts'

/** A statement as PostgreSQL gets it. A connection parses a statement with a `name` only once. */
export type Statement = { text: string; values?: readonly unknown[]; name?: string | undefined }

/** What PostgreSQL answers to a statement. */
export type Answer = pg.QueryResult<Record<string, unknown>>

/** The columns of an answer as slonik names them. */
export function fieldsOf({ fields }: Answer): { dataTypeId: number; name: string }[] {
  return fields.map(({ dataTypeID, name }) => ({ dataTypeId: dataTypeID, name }))
}

// The state of the open transaction. `begun` is true once BEGIN was sent; `failure` is the error of the statement that
// failed first.
type OpenTransaction = { begun: boolean; failure: Error | undefined }

/**
 * A connection that sends statements without waiting for the answers to the statements before them. PostgreSQL executes
 * the statements in the order in which they were sent. All statements that are sent before the process returns to its
 * event loop go out in one system call.
 *
 * Every statement gets an answer or an error in time: the time limit of a statement begins when the statement before it
 * was answered. A connection that misses a limit is closed, since nothing can tell a slow network from a silent one.
 * Nobody has to await a promise of this class: its rejection never ends the process as unhandled.
 */
export class Pipeline {
  readonly #client: pg.Client
  readonly #kind: WorkKind
  readonly #onError: (error: unknown) => void
  /** The time limits of the statements that have no answer yet, in milliseconds, in the order of sending. */
  readonly #unanswered: number[] = []
  /** When PostgreSQL began with the oldest statement that has no answer yet, in milliseconds of `performance.now()`. */
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #wakesAt = Number.POSITIVE_INFINITY
  #lost: BackendTerminatedError | undefined
  #transaction: OpenTransaction | undefined
  #corked = false

  /** `onError` is called with the error of every failed statement. */
  constructor(client: pg.Client, options: { kind: WorkKind; onError: (error: unknown) => void }) {
    this.#client = client
    this.#kind = options.kind
    this.#onError = options.onError
    client.on('error', (error) => this.#lose(error))
  }

  /** Begins a transaction. BEGIN travels with the first statement; a transaction without statements costs nothing. */
  begin(): void {
    this.#transaction = { begun: false, failure: undefined }
  }

  /** Sends a statement. In a transaction that has failed, it rejects with the first failure. */
  ask(statement: Statement): Promise<Answer> {
    const transaction = this.#transaction
    if (transaction !== undefined && !transaction.begun) {
      transaction.begun = true
      void this.#send({ text: 'BEGIN' }, transaction)
    }
    return this.#send(statement, transaction)
  }

  /**
   * Commits what was sent since `begin`, without waiting for the answers first. Resolves only when PostgreSQL has
   * committed. PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK. In that case this function throws
   * the error of the statement that failed first.
   */
  async commit(): Promise<void> {
    const transaction = this.#transaction
    if (transaction?.failure !== undefined) throw transaction.failure
    this.#transaction = undefined
    if (transaction === undefined || !transaction.begun) return
    const { command } = await this.#send({ text: 'COMMIT' }, transaction)
    if (transaction.failure !== undefined) throw transaction.failure
    if (command !== 'COMMIT') throw new Error(`PostgreSQL answered ${command} to COMMIT`)
  }

  /** Undoes what was sent since `begin`, and ends the transaction. */
  async rollback(): Promise<void> {
    const begun = this.#transaction?.begun ?? false
    this.#transaction = undefined
    if (begun) await this.#send({ text: 'ROLLBACK' }, undefined)
  }

  /** Closes the connection. Statements without an answer reject. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#unanswered.length === 0) await this.#client.end()
    else this.#stream.destroy()
  }

  #send({ text, values, name }: Statement, transaction: OpenTransaction | undefined): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    promise.catch(() => {})
    if (this.#lost !== undefined) {
      reject(this.#failed(this.#lost, transaction))
      return promise
    }
    this.#cork()
    this.#unanswered.push(answerLimit(currentWorkKind() ?? this.#kind))
    if (this.#unanswered.length === 1) this.#progress()
    let answered = false
    this.#client.query({ text, values: values as unknown[], ...(name && { name }) }, (error, result) => {
      if (answered) return
      answered = true
      this.#unanswered.shift()
      this.#progress()
      if (error) reject(this.#failed(asDriverError(error, { sql: text, values: values ?? [] }), transaction))
      else resolve(result)
    })
    return promise
  }

  // Returns the error that explains most. When the connection was closed because an answer was missing, this is the
  // error about the missing answer. In a failed transaction this is the first failure, not "current transaction is
  // aborted".
  #failed(error: Error, transaction: OpenTransaction | undefined): Error {
    if (error !== this.#lost) this.#onError(error)
    const reason = this.#lost?.cause instanceof NoAnswerError ? this.#lost : error
    if (transaction === undefined) return reason
    transaction.failure ??= reason
    return codeOf(error) === abortedTransaction ? transaction.failure : reason
  }

  // Holds the written bytes back until the process returns to its event loop, and then sends all of them at once.
  #cork(): void {
    if (this.#corked) return
    this.#corked = true
    const stream = this.#stream
    stream.cork()
    process.nextTick(() => {
      this.#corked = false
      stream.uncork()
    })
  }

  // Notes that PostgreSQL begins with the next statement. A timer that is set already and fires earlier may stay, since
  // the timer looks at the limit again when it fires.
  #progress(): void {
    this.#since = performance.now()
    const [limit] = this.#unanswered
    if (limit !== undefined && this.#since + limit < this.#wakesAt) this.#wakeIn(limit, () => this.#watch())
  }

  // Looks whether the statement that PostgreSQL executes has reached its limit. This process may have been too busy to
  // read an answer in time. So the process gets `graceMs` more to read the answers that have arrived.
  #watch(): void {
    const [limit] = this.#unanswered
    if (limit === undefined) return
    const left = this.#since + limit - performance.now()
    if (left > 0) this.#wakeIn(left, () => this.#watch())
    else this.#wakeIn(graceMs, () => this.#giveUp(limit))
  }

  #giveUp(limit: number): void {
    if (this.#unanswered.length === 0 || performance.now() < this.#since + limit) {
      this.#watch()
    } else {
      this.#lose(new NoAnswerError(`The database has not answered within ${limit} ms`))
      this.#stream.destroy()
    }
  }

  // The socket keeps the process alive while statements have no answer, so the timer need not.
  #wakeIn(milliseconds: number, next: () => void): void {
    clearTimeout(this.#timer)
    this.#wakesAt = performance.now() + milliseconds
    this.#timer = setTimeout(() => {
      this.#wakesAt = Number.POSITIVE_INFINITY
      next()
    }, milliseconds).unref()
  }

  #lose(reason: Error): void {
    this.#lost ??= new BackendTerminatedError(reason)
  }

  // node-postgres has no public way to cork or destroy its stream, so we reach into the client. TLS replaces the
  // stream, so the stream is looked up each time.
  get #stream() {
    return (this.#client as unknown as { connection: pg.Connection }).connection.stream
  }
}

class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

const abortedTransaction = '25P02'
const graceMs = 100
