import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

// Whatever object ends up in a log line, these members never do.
const redacted = ['authorization', 'cookie', 'token', 'password', 'secret', 'access_token', 'device_code', 'pepper']
// Errors of a statement carry what it was called with and what it returned: bodies, titles, addresses.
const contents = ['err.values', 'err.row', 'err.detail']

/**
 * The process's logger: JSON lines on standard output, or on `destination`, `service` naming the process type. Tokens,
 * cookies and passwords are removed wherever they stand up to two levels deep, and so is what a failed statement was
 * about.
 */
export function createLogger(
  options: { service: string; level: string },
  destination: DestinationStream = pino.destination(1),
): Logger {
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
