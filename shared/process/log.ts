import { createRequire } from 'node:module'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/config.ts'

export type { Logger } from 'pino'

// These members of a logged object never reach a log line.
const redacted = ['authorization', 'cookie', 'token', 'password', 'secret', 'access_token', 'device_code', 'pepper']
// An error of a statement carries the values and rows of the statement, such as bodies, titles and addresses. These
// members are left out too.
const contents = ['err.values', 'err.row', 'err.detail']

// One line for each event: time, level, process, message, then the other members.
const forPeople = {
  colorize: process.stdout.isTTY || process.env['FORCE_COLOR'] === '1',
  singleLine: true,
  ignore: 'service',
  messageFormat: '{service}: {msg}',
  translateTime: 'SYS:HH:MM:ss.l',
  sync: true,
}

/**
 * The logger of a process, on standard output; `service` is the process type. LOG_FORMAT chooses lines of JSON or lines
 * for people. By default, lines are for people where standard output is a terminal.
 */
export function createLogger(options: { service: string; config: Pick<Config, 'LOG_LEVEL' | 'LOG_FORMAT'> }): Logger {
  const { LOG_LEVEL: level, LOG_FORMAT: format } = options.config
  const isForPeople = format === 'text' || (format === 'auto' && process.stdout.isTTY)
  return loggerTo(isForPeople ? linesForPeople() : pino.destination(1), { service: options.service, level })
}

/**
 * The logger of a process, which also gets what Node would print as plain text: warnings, and the error that ends the
 * process, with exit code 1.
 */
export function createProcessLogger(options: Parameters<typeof createLogger>[0]): Logger {
  const log = createLogger(options)
  process.removeAllListeners('warning')
  // A warning may hold whole objects, such as a request.
  process.on('warning', ({ name, message, stack }) => log.warn({ name, stack }, message))
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'an unexpected error ended the process')
    process.exit(1)
  })
  return log
}

// The library is loaded here, so that a process that logs JSON does not load it.
function linesForPeople(): DestinationStream {
  const pretty: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty')
  return pretty(forPeople)
}

/**
 * A logger that writes JSON lines to a stream. The logger removes tokens, cookies and passwords up to two levels deep
 * in a logged object, and the values and rows of a failed statement. @internal
 */
export function loggerTo(destination: DestinationStream, options: { service: string; level: string }): Logger {
  const secrets = redacted.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
  return pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: [...secrets, ...contents], remove: true },
    },
    destination,
  )
}
