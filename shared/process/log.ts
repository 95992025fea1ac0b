import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from '../config/config.ts'

export type { Logger } from 'pino'

// Whatever object ends up in a log line, these members never do.
const redacted = ['authorization', 'cookie', 'token', 'password', 'secret', 'access_token', 'device_code', 'pepper']
// Errors of a statement carry what it was called with and what it returned: bodies, titles, addresses.
const contents = ['err.values', 'err.row', 'err.detail']

/**
 * The logger of a process on standard output, `service` naming the process type. LOG_FORMAT says whether a line is JSON
 * or for people; by default it is for people where standard output is a terminal.
 */
export function createLogger(options: { service: string; config: Pick<Config, 'LOG_LEVEL' | 'LOG_FORMAT'> }): Logger {
  const { LOG_LEVEL: level, LOG_FORMAT: format } = options.config
  const isForPeople = format === 'text' || (format === 'auto' && process.stdout.isTTY)
  return loggerTo(isForPeople ? pretty(forPeople) : pino.destination(1), { service: options.service, level })
}

/**
 * A logger that writes JSON lines to a stream. Tokens, cookies and passwords are removed wherever they stand up to two
 * levels deep, and so is what a failed statement was about.
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

// One line for each event: time, level, process, message, then the rest.
const forPeople = {
  colorize: process.stdout.isTTY || process.env['FORCE_COLOR'] === '1',
  singleLine: true,
  ignore: 'service',
  messageFormat: '{service}: {msg}',
  translateTime: 'SYS:HH:MM:ss.l',
  sync: true,
}
