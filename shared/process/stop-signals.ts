import type { Logger } from './log.ts'

const patience = 8000

/** How a process stops: first `drain`, however long it takes, then `stop`. */
export type Stopping = {
  /** Keeps serving until others have noticed that the process is about to stop. */
  drain?: () => Promise<void>
  /** Finishes what has begun and gives back what is held. */
  stop: () => Promise<void>
}

/**
 * Runs `drain` and `stop` once on the first SIGTERM or SIGINT. The process ends by itself when nothing is left. What
 * either throws is logged and makes the process end at once with an exit code of 1. So does a `stop` of more than 8
 * seconds: with the database gone, what is held may never come back.
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
    log.fatal({ patience }, 'could not drain in time')
    process.exit(1)
  }, patience).unref()
}
