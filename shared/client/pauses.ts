// The first pause between two attempts in milliseconds. Each further one is twice as long.
const firstDelay = 500

/**
 * The milliseconds before the repetition of attempt number `attempt`. `retryAfter` is how many seconds the service asks
 * to wait. Null when the service asks for more than `longest` milliseconds. The time is random, so that clients that
 * failed together do not come back together.
 */
export function delayBefore(
  attempt: number,
  { retryAfter, longest }: { retryAfter: number | undefined; longest: number },
): number | null {
  if (retryAfter === undefined) return backoff(attempt, longest)
  if (retryAfter * 1000 > longest) return null
  return retryAfter * 1000 + Math.random() * firstDelay
}

/** The milliseconds before the repetition of attempt number `attempt`: random, ever more, at most `longest`. */
export function backoff(attempt: number, longest: number): number {
  return Math.min(longest, firstDelay * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)
}

/** Waits for some milliseconds. Rejects with the reason of the signal as soon as it aborts. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
