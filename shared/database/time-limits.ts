import { AsyncLocalStorage } from 'node:async_hooks'
import { databaseAddress } from '../config/database-address.ts'

/**
 * Time limits by kind of work, in milliseconds. PostgreSQL ends a statement after `statement`, and a session that is
 * idle inside a transaction after `pause`. Both limits bound how long others wait for the locks of a transaction.
 */
export const timeLimits = {
  /** Numbering and reading the event log, for which every event stream waits. */
  events: { statement: 4000, pause: 4000 },
  /**
   * Requests, jobs and the job queue. A statement that waits 11 s for a lock outlasts a silent owner of the lock, whose
   * session ends after 8 s.
   */
  work: { statement: 11_000, pause: 8000 },
  /** Work on a whole knowledge base: its export, its deletion, the commands of an operator. */
  whole: { statement: 60_000, pause: 120_000 },
} as const

/** A kind of work that has its own time limits. */
export type WorkKind = keyof typeof timeLimits

/**
 * How long a process waits for the answer to a statement, in milliseconds. PostgreSQL has ended the statement by then,
 * so a missing answer means that the network has lost the statement or the answer.
 */
export function answerLimit(kind: WorkKind): number {
  return timeLimits[kind].statement + 1500
}

/** How long a new connection may take, in milliseconds. */
export const connectLimit = 5000

/**
 * Settings by which PostgreSQL ends a session whose client has been silent for eight seconds, and so releases its
 * locks. TCP alone would take fifteen minutes to two hours.
 */
const silenceSettings = {
  tcp_keepalives_idle: '4',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '2',
  tcp_user_timeout: '8000',
  client_connection_check_interval: '2000',
}

/**
 * Settings of a session that change how values are written and read, and where tables are. A database or a role may
 * have others.
 */
const valueSettings = {
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: String.raw`read\ committed`,
  search_path: 'public',
}

/**
 * Completes the URL of a database: adds the `name` under which PostgreSQL shows the session, the silence settings,
 * which `options` of the URL may replace, and the value settings, which nothing replaces.
 */
export function withSilenceSettings({ url, name }: { url: string; name?: string }): string {
  const complete = new URL(databaseAddress(url))
  if (name !== undefined) complete.searchParams.set('application_name', name)
  const asOptions = (settings: object) => Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  const given = complete.searchParams.get('options') ?? ''
  const options = [...asOptions(silenceSettings), given, ...asOptions(valueSettings)]
  complete.searchParams.set('options', options.filter((option) => option !== '').join(' '))
  return complete.href
}

const longer = new AsyncLocalStorage<WorkKind>()

/** Runs `work` with the answer limits of a kind of work, whatever connection its statements use. */
export function withAnswerLimit<T>(kind: WorkKind, work: () => Promise<T>): Promise<T> {
  return longer.run(kind, work)
}

/** The kind of work of the enclosing `withAnswerLimit`; undefined outside. */
export function currentWorkKind(): WorkKind | undefined {
  return longer.getStore()
}
