import { createHash } from 'node:crypto'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import {
  type CommonQueryMethods,
  createPool,
  createTypeParserPreset,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type Interceptor,
  type PrimitiveValueExpression,
  type QuerySqlToken,
  SchemaValidationError,
  sql,
} from 'slonik'
import { chooseTls } from '../config/database-address.ts'
import { Refusal } from '../errors/errors.ts'
import { driverFactory } from './driver.ts'
import { isWriteRefusal } from './outages.ts'
import { connectLimit, timeLimits, type WorkKind, withAnswerLimit, withSilenceSettings } from './time-limits.ts'

export { sql } from 'slonik'

/** A pool of connections. */
export type Database = DatabasePool

/**
 * One open transaction. Its statements are awaited one after another: behind a failed statement, those that were sent
 * beside it could run after the rollback, outside of the transaction.
 */
export type Transaction = DatabaseTransactionConnection

/** A pool or a transaction, as far as a read needs it. */
export type Queryable = Pick<
  CommonQueryMethods,
  'any' | 'anyFirst' | 'maybeOne' | 'maybeOneFirst' | 'one' | 'oneFirst' | 'query'
>

/**
 * Opens a pool for one kind of work, by default for requests and jobs. Each row is validated against the schema of its
 * statement. `int8` is read as a number, since ids and counts here are far below 2^53, and `timestamptz` as Unix
 * milliseconds. PostgreSQL shows the sessions under `name`. Throws when the database cannot be reached.
 */
export async function openDatabase(options: {
  url: string
  poolSize?: number
  kind?: WorkKind
  name?: string
}): Promise<Database> {
  const { kind = 'work' } = options
  const refused = { at: Number.NEGATIVE_INFINITY }
  const onError = (error: unknown) => {
    if (isWriteRefusal(error)) refused.at = performance.now()
  }
  await chooseTls(options.url)
  const database = await createPool(withSilenceSettings(options), {
    driverFactory: driverFactory({ kind, onError }),
    maxPoolSize: options.poolSize ?? 10,
    captureStackTrace: false,
    tracing: false,
    connectionTimeout: connectLimit,
    // slonik tries to connect only once. The caller learns at once that the database is out of reach, and tries again
    // itself.
    connectionRetryLimit: 1,
    gracefulTerminationTimeout: 1000,
    idleTimeout: 30_000,
    statementTimeout: timeLimits[kind].statement,
    idleInTransactionSessionTimeout: timeLimits[kind].pause,
    interceptors: [failedStatements, rowValidation],
    // Connections are not reset. slonik's DISCARD ALL after every use would double the cost of a statement and drop
    // prepared statements. No reset is needed, because the service only uses SET LOCAL, which changes nothing of the
    // session.
    resetConnection: async () => {},
    typeParsers: [...createTypeParserPreset().filter(({ name }) => name !== 'int8'), { name: 'int8', parse: Number }],
  })
  refusals.set(database, refused)
  return database
}

const refusals = new WeakMap<Database, { at: number }>()

/** Whether the database has refused a write of this pool within the last `milliseconds`, as with a full disk. */
export function refusedWriteWithin(database: Database, milliseconds: number): boolean {
  return performance.now() - (refusals.get(database)?.at ?? Number.NEGATIVE_INFINITY) < milliseconds
}

/**
 * Runs `work` with the time limits of another kind of work. PostgreSQL keeps these limits until the transaction ends.
 */
export async function withLimitsOf<T>(tx: Queryable, kind: WorkKind, work: () => Promise<T>): Promise<T> {
  const { statement: longest, pause } = timeLimits[kind]
  await tx.query(sql.unsafe`
    SELECT set_config('statement_timeout', ${String(longest)}, true),
      set_config('idle_in_transaction_session_timeout', ${String(pause)}, true)`)
  return withAnswerLimit(kind, work)
}

/**
 * Runs `work` in one transaction. A Refusal rolls the transaction back and is thrown again. The connection stays in the
 * pool, whereas slonik's own `transaction` would close the connection after a throw. `work` runs again after a
 * serialisation failure or a deadlock, at most `retries` times (by default 5). So it must have no effect outside the
 * database, unless `retries` is 0.
 *
 * Neither resolves nor rejects before `work` has ended: work that went on behind the back of its caller would change
 * what the caller uses again, such as the copy of a document.
 */
export async function inTransaction<T>(
  database: Pick<Database, 'connect'>,
  work: (tx: Transaction) => Promise<T>,
  retries?: number,
): Promise<T> {
  let working: Promise<T> | undefined
  const attempt = async (tx: Transaction) => {
    const failures: Error[] = []
    failuresOf.set(tx.transactionId, failures)
    try {
      working = work(tx)
      const value = await working
      // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, which slonik takes for a commit.
      if (failures[0] !== undefined) throw failures[0]
      return value
    } finally {
      failuresOf.delete(tx.transactionId)
    }
  }
  try {
    const outcome = await database.connect(async (connection) => {
      try {
        return { value: await connection.transaction(attempt, retries) }
      } catch (error) {
        if (error instanceof Refusal || error instanceof Undone) return { error }
        throw error
      }
    })
    if ('error' in outcome) throw outcome.error
    return outcome.value
  } finally {
    await working?.catch(() => {})
  }
}

/** Thrown inside a transaction in order to undo it. */
export class Undone extends Error {}

/**
 * Runs `work` in one transaction and undoes everything that it did, also when it succeeds. Rejects with all errors that
 * a commit would reject with. Repeats as `inTransaction` does.
 */
export async function inRehearsal<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  let rehearsed: { value: T } | undefined
  try {
    return await inTransaction(database, async (tx) => {
      rehearsed = { value: await work(tx) }
      // Checks the constraints that a commit would check.
      await tx.query(sql.unsafe`SET CONSTRAINTS ALL IMMEDIATE`)
      throw new Undone()
    })
  } catch (error) {
    if (error instanceof Undone && rehearsed !== undefined) return rehearsed.value
    throw error
  }
}

/**
 * Runs `work` on one unchanging state of the database: in a read-only transaction that sees no commit after its first
 * statement. The transaction blocks no writer, so it gets the time limits of work on a whole knowledge base. `work`
 * runs once, so it may have effects elsewhere.
 */
export function inSnapshot<T>(
  database: Pick<Database, 'transaction'>,
  work: (snapshot: Queryable) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.query(sql.unsafe`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
    return withLimitsOf(tx, 'whole', () => work(tx))
  }, 0)
}

/**
 * Marks a statement that each connection prepares once and then executes by name. Preparing suits the fixed statements
 * of requests and jobs, whose parsing costs more than their execution. Preparing does not suit texts that vary with
 * their input, nor statements whose best plan depends on the values, such as an exhaustive search.
 */
export function prepared<T extends QuerySqlToken>(token: T): T {
  return { ...token, name: statementName(token.sql) }
}

/**
 * Lends a slonik connection to a library that brings its own SQL text, such as pg-boss or the rate limiter. Statements
 * are prepared by name, since these libraries send few different texts very often.
 */
export function foreignStatements(connection: Pick<Queryable, 'query'>) {
  return {
    async executeSql(text: string, values: unknown[] = []): Promise<{ rows: Record<string, unknown>[] }> {
      const result = await connection.query(prepared(statement(text, values)))
      return { rows: result.rows as Record<string, unknown>[] }
    },
  }
}

const names = new Map<string, string>()

/** The name under which connections prepare an SQL text. There are few such texts, all from our code or a library. */
export function statementName(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = createHash('sha1').update(text).digest('base64url')
  names.set(text, name)
  return name
}

const anything: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': { version: 1, vendor: 'foreign', validate: (value) => ({ value: value as Record<string, unknown> }) },
}

function statement(text: string, values: unknown[] = []): QuerySqlToken<typeof anything> {
  return { ...sql.type(anything)``, sql: text, values: values as PrimitiveValueExpression[] }
}

const failuresOf = new Map<string, Error[]>()

const failedStatements: Interceptor = {
  name: 'failed-statements',
  queryExecutionError: ({ transactionId }, _query, error) => {
    failuresOf.get(transactionId ?? '')?.push(error)
    return null
  },
}

const rowValidation: Interceptor = {
  name: 'row-validation',
  transformRow: ({ resultParser }, query, row) => {
    const result = resultParser?.['~standard'].validate(row)
    if (result === undefined) return row
    if (result instanceof Promise) throw new TypeError('row schemas are synchronous')
    if (result.issues) throw new SchemaValidationError(query, row, result.issues)
    return result.value as typeof row
  },
}
