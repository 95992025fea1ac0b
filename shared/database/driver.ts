import pg from 'pg'
import {
  createDriverFactory,
  type DriverConfiguration,
  type DriverFactory,
  type DriverTypeParser,
  parseDsn,
} from 'slonik'
import { asDriverError } from './driver-errors.ts'
import { type Answer, fieldsOf, Pipeline } from './pipeline.ts'
import type { WorkKind } from './time-limits.ts'
import { transactionBegins } from './transaction.ts'

/**
 * The driver through which slonik uses our connections. slonik itself sends one statement at a time. A `Transaction`
 * sends its statements through the pipeline of the connection, without waiting for answers. `onError` is called with
 * the error of every failed statement.
 */
export function pipelineDriver(options: { kind: WorkKind; onError: (error: unknown) => void }): DriverFactory {
  return createDriverFactory(async ({ driverConfiguration }) => {
    const configuration = clientConfiguration(driverConfiguration)
    return {
      createPoolClient: async ({ clientEventEmitter }) => {
        const client = new pg.Client(configuration)
        const pipeline = new Pipeline(client, options)
        client.on('error', (error) => {
          // After a reset, node-postgres reports the close of the connection as a second error. By then slonik has
          // given up the client and listens no more. An error without a listener would end the process.
          if (clientEventEmitter.listenerCount('error') === 0) return
          clientEventEmitter.emit('error', asDriverError(error, noStatement))
        })
        client.on('notice', ({ message = '' }) => clientEventEmitter.emit('notice', { message }))
        return {
          connect: async () => {
            await client.connect()
          },
          end: () => pipeline.end(),
          query: (text, values, words) => execute(pipeline, { text, ...(values && { values }), name: words?.name }),
          stream: () => {
            throw new Error('a pipeline has no cursors')
          },
        }
      },
    }
  })
}

const noStatement = { sql: '', values: [] }

// slonik begins and ends a transaction with the texts of the first three cases. The pipeline sends its own statements
// instead.
async function execute(pipeline: Pipeline, statement: Parameters<Pipeline['ask']>[0]) {
  switch (statement.text) {
    case 'START TRANSACTION':
      transactionBegins(pipeline)
      return nothing
    case 'COMMIT':
      await pipeline.commit()
      return nothing
    case 'ROLLBACK':
      await pipeline.rollback()
      return nothing
    default:
      return driverResult(await pipeline.ask(statement))
  }
}

const nothing = driverResult({ command: '', rowCount: 0, oid: 0, fields: [], rows: [] })

function driverResult(answer: Answer) {
  const { command, rowCount, rows } = answer
  return { command: command as 'SELECT', fields: fieldsOf(answer), rowCount, rows }
}

function clientConfiguration(configuration: DriverConfiguration): pg.ClientConfig & { pipeline: true } {
  const dsn = parseDsn(configuration.connectionUri)
  const { connectionTimeout, statementTimeout, idleInTransactionSessionTimeout } = configuration
  return {
    pipeline: true,
    application_name: dsn.applicationName,
    database: dsn.databaseName,
    // The parameter `host` may name a folder of Unix sockets. The parameter takes precedence over the host of the URL,
    // as in libpq and node-postgres.
    host: new URL(configuration.connectionUri).searchParams.get('host') ?? dsn.host,
    options: dsn.options,
    password: dsn.password,
    port: dsn.port,
    user: dsn.username,
    ssl: configuration.ssl ?? sslOf(dsn.sslMode),
    connectionTimeoutMillis: Number(connectionTimeout),
    statement_timeout: Number(statementTimeout),
    idle_in_transaction_session_timeout: Number(idleInTransactionSessionTimeout),
    types: { getTypeParser: typeParsers(configuration.typeParsers) },
  }
}

function sslOf(mode: ReturnType<typeof parseDsn>['sslMode']): pg.ClientConfig['ssl'] {
  return mode === 'no-verify' ? { rejectUnauthorized: false } : mode === 'require'
}

// The numbers that PostgreSQL has given to types and to the arrays of these types. The numbers never change.
const typeNumbers: Record<string, readonly [type: number, array: number]> = {
  int8: [20, 1016],
  date: [1082, 1182],
  timestamp: [1114, 1115],
  timestamptz: [1184, 1185],
  interval: [1186, 1187],
  numeric: [1700, 1231],
}

const textArray = 1009

function typeParsers(parsers: readonly DriverTypeParser[]): typeof pg.types.getTypeParser {
  const known = new Map<number, (text: string) => unknown>()
  const elements = pg.types.getTypeParser(textArray as number) as (text: string) => (string | null)[]
  for (const { name, parse } of parsers) {
    const numbers = typeNumbers[name]
    if (numbers === undefined) throw new Error(`the number of the type ${name} is not listed`)
    known.set(numbers[0], parse)
    known.set(numbers[1], (text) => elements(text).map((element) => (element === null ? null : parse(element))))
  }
  return ((type: number, format: 'text') => known.get(type) ?? pg.types.getTypeParser(type, format)) as never
}
