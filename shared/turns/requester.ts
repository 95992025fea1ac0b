import { AsyncLocalStorage } from 'node:async_hooks'
import type { Requester } from './fair-queue.ts'

/** The requester of the current call, and the signal that aborts when its client no longer waits for the answer. */
type Calling = { requester: Requester; signal: AbortSignal | null }

const calling = new AsyncLocalStorage<Calling>()

const nobody: Calling = { requester: { workspaceId: '', userId: '' }, signal: null }

/**
 * Runs `work` on behalf of a requester. All heavy work inside, however deep, takes its turns as work of this requester
 * and leaves the queue when `signal` aborts. Without a signal the work waits as long as necessary, like the work of a
 * job.
 */
export function onBehalfOf<T>(requester: Requester, work: () => T, signal: AbortSignal | null = null): T {
  return calling.run({ requester, signal }, work)
}

/**
 * The requester and the signal of the current call. Outside a call all work counts as work of one nameless requester.
 */
export function currentCall(): Calling {
  return calling.getStore() ?? nobody
}
