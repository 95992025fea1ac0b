import type { Logger } from './log.ts'

const stopLimitMs = 8000

/** The two steps by which a process stops: `drain`, which may take any time, then `stop`. */
export type Stopping = {
  /** Serves on until load balancers have noticed that the process is about to stop. */
  drain?: () => Promise<void>
  /** Finishes the work that has begun and releases locks and connections. */
  stop: () => Promise<void>
}

/**
 * Runs `drain` and then `stop` on the first SIGTERM or SIGINT. The process ends by itself when no work is left. An
 * error in either function is logged and ends the process at once with exit code 1. A `stop` that takes more than 8
 * seconds ends the process in the same way, since without the database it might wait for ever.
 */
export function onStopSignal(log: Logger, { drain, stop }: Stopping): void {
  let stopping = false
  const run = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'draining')
    try {
      await drain?.()
      endLate(log)
      await stop()
      log.info('stopped')
    } catch (err) {
      log.fatal({ err }, 'could not drain')
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void run(signal))
}

function endLate(log: Logger): void {
  setTimeout(() => {
    log.fatal({ patience: stopLimitMs }, 'could not drain in time')
    process.exit(1)
  }, stopLimitMs).unref()
}
