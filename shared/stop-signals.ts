import type { Logger } from './log.ts'

const patience = 8000

/**
 * Runs `drain` once on the first SIGTERM or SIGINT: finish what has begun, give back what is held. The process ends by
 * itself when nothing is left. What drain throws is logged and makes it end at once with an exit code of 1, and so does
 * a drain of more than 8 seconds: with the database gone, what is held may never come back.
 */
export function onStopSignal(log: Logger, drain: () => Promise<void>): void {
  let draining = false
  const stop = async (signal: string) => {
    if (draining) return
    draining = true
    log.info({ signal }, 'draining')
    setTimeout(() => {
      log.fatal({ patience }, 'could not drain in time')
      process.exit(1)
    }, patience).unref()
    try {
      await drain()
      log.info('stopped')
    } catch (err) {
      log.fatal({ err }, 'could not drain')
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
}
