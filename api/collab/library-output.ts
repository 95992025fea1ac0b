import type { Logger } from '../../shared/process/log.ts'

// The pause after a logged error, in milliseconds.
const pauseMs = 1000

/**
 * Replaces the console, to which Hocuspocus and y-protocols print what they catch. Their lines may hold texts and names
 * of clients. So only the kind and the place of an error are logged. Errors without a message are our own ways to
 * refuse something, and are left out. At most one error in a second is logged, because clients can cause them at will.
 */
export function logLibraryErrors(log: Logger): void {
  let nextAt = Number.NEGATIVE_INFINITY
  const note = (...printed: unknown[]) => {
    const error = printed.find((value) => value instanceof Error)
    if (error === undefined || error.message === '' || performance.now() < nextAt) return
    nextAt = performance.now() + pauseMs
    log.warn(placeOf(error), 'a library has caught an error')
  }
  for (const method of ['log', 'info', 'warn', 'error'] as const) console[method] = note
}

// The message of an error can quote the text that could not be read, and the stack begins with the message.
function placeOf({ name, message, stack = '' }: Error): { error: string; frames: string[] } {
  const frames = stack
    .slice(stack.indexOf(message) + message.length)
    .trim()
    .split('\n')
  return { error: name, frames: frames.map((line) => line.trim()) }
}
