import type { Logger } from './log.ts'

/**
 * Runs `drain` once on the first SIGTERM or SIGINT: finish what has begun, give back what is held. The process ends by
 * itself when nothing is left; what drain throws is logged and makes it end at once with an exit code of 1.
 */
export function onStopSignal(log: Logger, drain: () => Promise<void>): void {
  let draining = false
  const stop = async (signal: string) => {
    if (draining) return
    draining = true
    log.info({ signal }, 'draining')
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
