import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * How long the database may take, by kind of work, in milliseconds: PostgreSQL ends a statement after `statement`, and a
 * session that stands idle inside a transaction after `pause`. Both bound how long others wait for its locks.
 */
export const timeLimits = {
  /** Numbering the log of events and following it, for which every stream waits. */
  events: { statement: 4000, pause: 4000 },
  /** Requests, jobs and the job queue. Whoever waits for a lock outlasts a silent owner of the lock. */
  work: { statement: 11_000, pause: 8000 },
  /** What covers a whole knowledge base: exports, its deletion, commands of an operator. */
  whole: { statement: 60_000, pause: 120_000 },
} as const

/** A kind of work of `timeLimits`. */
export type WorkKind = keyof typeof timeLimits

/**
 * How long we wait for the answer to a statement, in milliseconds: PostgreSQL has ended the statement by then, so no
 * answer means that the network has lost the statement or the answer.
 */
export function answerLimit(kind: WorkKind): number {
  return timeLimits[kind].statement + 1500
}

/** How long a new connection may take, in milliseconds. */
export const connectLimit = 5000

/**
 * Settings of a session by which PostgreSQL drops a client that has been silent for eight seconds and releases its
 * locks, also while it computes or waits for that client: TCP alone takes fifteen minutes to two hours.
 */
const silenceSettings = {
  tcp_keepalives_idle: '4',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '2',
  tcp_user_timeout: '8000',
  client_connection_check_interval: '2000',
}

/** The URL of a database with the settings above; settings that the URL itself names in `options` win. */
export function withSilenceSettings(url: string): string {
  const complete = new URL(url)
  const ours = Object.entries(silenceSettings).map(([name, value]) => `-c ${name}=${value}`)
  const given = complete.searchParams.get('options') ?? ''
  complete.searchParams.set('options', [...ours, given].join(' ').trim())
  return complete.href
}

const longer = new AsyncLocalStorage<WorkKind>()

/** Runs `work` with the deadlines of a kind at our end, whatever connection its statements go to. */
export function withAnswerLimit<T>(kind: WorkKind, work: () => Promise<T>): Promise<T> {
  return longer.run(kind, work)
}

/** The kind of work that `withAnswerLimit` names here; undefined outside. */
export function currentWorkKind(): WorkKind | undefined {
  return longer.getStore()
}
