import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The user of the current call, and the signal that aborts when the client no longer waits for the answer. A
 * computation of the call may take at most `mostMs` milliseconds of processor time.
 */
type Calling = { userId: string; signal: AbortSignal | null; mostMs: number }

const calling = new AsyncLocalStorage<Calling>()

const nobody: Calling = { userId: '', signal: null, mostMs: Infinity }

/**
 * Runs `work` on behalf of a user. For a visitor the address stands in for the user, for a job the workspace. All heavy
 * work inside, however deep, counts as work of this user (`turns.ts`) and leaves the queue when `signal` aborts.
 * Without a signal the work waits as long as necessary, like the work of a job. Each computation inside is limited to
 * `mostMs` milliseconds of processor time, by default to the limit of the call around `work`.
 */
export function onBehalfOf<T>(
  userId: string,
  work: () => T,
  { signal = null, mostMs = currentCall().mostMs }: { signal?: AbortSignal | null; mostMs?: number } = {},
): T {
  return calling.run({ userId, signal, mostMs }, work)
}

/** The user, the signal and the limit of the current call. Outside a call all work counts as work of nobody. */
export function currentCall(): Calling {
  return calling.getStore() ?? nobody
}
