import { AsyncLocalStorage } from 'node:async_hooks'
import type { Requester } from './fair-queue.ts'

/**
 * The requester of the current call, and the signal that aborts when its client no longer waits for the answer. A
 * computation of the call may take at most `mostMs` milliseconds of processor time.
 */
type Calling = { requester: Requester; signal: AbortSignal | null; mostMs: number }

const calling = new AsyncLocalStorage<Calling>()

const nobody: Calling = { requester: { workspaceId: '', userId: '' }, signal: null, mostMs: Infinity }

/**
 * Runs `work` on behalf of a requester. All heavy work inside, however deep, takes its turns as work of this requester
 * and leaves the queue when `signal` aborts. Without a signal the work waits as long as necessary, like the work of a
 * job. Each computation inside is limited to `mostMs` milliseconds of processor time, by default to the limit of the
 * call around `work`.
 */
export function onBehalfOf<T>(
  requester: Requester,
  work: () => T,
  { signal = null, mostMs = currentCall().mostMs }: { signal?: AbortSignal | null; mostMs?: number } = {},
): T {
  return calling.run({ requester, signal, mostMs }, work)
}

/**
 * The requester, the signal and the limit of the current call. Outside a call all work counts as work of one nameless
 * requester.
 */
export function currentCall(): Calling {
  return calling.getStore() ?? nobody
}
