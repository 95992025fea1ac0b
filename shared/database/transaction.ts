import { AsyncLocalStorage } from 'node:async_hooks'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import {
  type CommonQueryMethods,
  type DatabasePool,
  DataIntegrityError,
  NotFoundError,
  type QuerySqlToken,
  SchemaValidationError,
} from 'slonik'
import { type Answer, fieldsOf, type Pipeline } from './pipeline.ts'

/** A pool or a transaction, as far as a read needs it. */
export type Queryable = Pick<
  CommonQueryMethods,
  'any' | 'anyFirst' | 'maybeOne' | 'maybeOneFirst' | 'one' | 'oneFirst' | 'query'
>

type Token = QuerySqlToken<StandardSchemaV1>
type Row = Record<string, unknown>

/**
 * One open transaction. Its statements are executed in the order of the calls, and no call waits for the answers to the
 * calls before it. So statements that do not need one another's answers travel together. Use `send` for statements
 * whose answer nobody reads, and await several other statements with `Promise.all`.
 *
 * A failed statement fails the transaction, whoever awaited its answer: every later call rejects with the first
 * failure, and so does the commit.
 */
export class Transaction implements Queryable {
  readonly #pipeline: Pipeline
  #open = true

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline
  }

  /**
   * Sends a statement whose answer nobody reads. The commit waits for the statement, and fails if the statement fails.
   */
  send(token: QuerySqlToken): void {
    void this.#ask(token)
  }

  readonly query: Queryable['query'] = async (token) => {
    const answer = await this.#ask(token)
    return {
      type: 'QueryResult',
      command: answer.command as 'SELECT',
      fields: fieldsOf(answer),
      notices: [],
      rowCount: answer.rowCount ?? 0,
      rows: answer.rows.map((row) => validRow(token, row)) as never,
    }
  }

  readonly any: Queryable['any'] = async (token) => (await this.#rows(token)) as never

  readonly anyFirst: Queryable['anyFirst'] = async (token) => (await this.#rows(token)).map(firstColumn) as never

  readonly maybeOne: Queryable['maybeOne'] = async (token) => (await this.#maybeRow(token)) as never

  readonly maybeOneFirst: Queryable['maybeOneFirst'] = async (token) => {
    const row = await this.#maybeRow(token)
    return (row === null ? null : firstColumn(row)) as never
  }

  readonly one: Queryable['one'] = async (token) => (await this.#row(token)) as never

  readonly oneFirst: Queryable['oneFirst'] = async (token) => firstColumn(await this.#row(token)) as never

  /** Undoes everything that the transaction did. Afterwards the transaction takes no statement. */
  async undo(): Promise<void> {
    this.close()
    await this.#pipeline.rollback()
  }

  /** Refuses all further statements, since the connection has another owner soon. */
  close(): void {
    this.#open = false
  }

  #ask(token: Token): Promise<Answer> {
    if (!this.#open) throw new Error('the transaction is over')
    const { sql, values, name } = token
    return this.#pipeline.ask({ text: sql.replaceAll('$slonik_', '$'), values, name })
  }

  async #rows(token: Token): Promise<Row[]> {
    const { rows } = await this.#ask(token)
    return rows.map((row) => validRow(token, row))
  }

  async #maybeRow(token: Token): Promise<Row | null> {
    const rows = await this.#rows(token)
    if (rows.length > 1) throw new DataIntegrityError('Query returned multiple rows.', token)
    return rows[0] ?? null
  }

  async #row(token: Token): Promise<Row> {
    const row = await this.#maybeRow(token)
    if (row === null) throw new NotFoundError('Query returned no rows.', token)
    return row
  }
}

/** Checks a row against the schema of its statement. Throws SchemaValidationError: the statement has a bug. */
export function validRow(token: Pick<Token, 'parser' | 'sql' | 'values'>, row: Row): Row {
  const result = token.parser['~standard'].validate(row)
  if (result instanceof Promise) throw new TypeError('row schemas are synchronous')
  if (result.issues) throw new SchemaValidationError(token, row as never, result.issues)
  return result.value as Row
}

function firstColumn(row: Row): unknown {
  return Object.values(row)[0]
}

/**
 * Runs `work` in a transaction of slonik, which commits, rolls back after an error, and repeats after a serialisation
 * failure or a deadlock. COMMIT travels with the last statements of `work`. Neither resolves nor rejects before `work`
 * has ended.
 */
export async function transactionOf<T>(
  begin: DatabasePool['transaction'],
  work: (tx: Transaction) => Promise<T>,
  retries?: number,
): Promise<T> {
  const opening: Opening = { pipeline: undefined }
  let working: Promise<T> | undefined
  const run = async () => {
    if (opening.pipeline === undefined) throw new Error('the driver has no pipeline')
    const tx = new Transaction(opening.pipeline)
    try {
      working = work(tx)
      return await working
    } finally {
      tx.close()
    }
  }
  try {
    return await openings.run(opening, () => begin(run, retries))
  } finally {
    // When the connection is lost, slonik rejects at once. Work that went on behind the back of its caller would change
    // what the caller uses again, such as the copy of a document.
    await working?.catch(() => {})
  }
}

/** Called by the driver when slonik begins a transaction: gives the pipeline of the connection to `transactionOf`. */
export function transactionBegins(pipeline: Pipeline): void {
  pipeline.begin()
  const opening = openings.getStore()
  if (opening !== undefined) opening.pipeline = pipeline
}

type Opening = { pipeline: Pipeline | undefined }

// slonik does not tell which connection it has chosen for a transaction. The driver knows the connection, and runs
// inside the call of `transactionOf`. So the driver puts the pipeline into this storage.
const openings = new AsyncLocalStorage<Opening>()
