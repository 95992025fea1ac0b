import { AsyncLocalStorage } from 'node:async_hooks'
import type { Requester } from './fair-queue.ts'

/** On whose behalf a call runs, and when whoever asked no longer waits for the answer. */
type Calling = { requester: Requester; signal: AbortSignal | null }

const calling = new AsyncLocalStorage<Calling>()

const nobody: Calling = { requester: { workspaceId: '', userId: '' }, signal: null }

/**
 * Runs `work` on behalf of a requester: whatever waits for a turn in it, however deep, waits among the work of that
 * requester, and leaves the queue when `signal` aborts.
 */
export function onBehalfOf<T>(requester: Requester, work: () => T, signal: AbortSignal | null = null): T {
  return calling.run({ requester, signal }, work)
}

/** On whose behalf the current call runs; outside any call all work counts as that of one requester. */
export function currentCall(): Calling {
  return calling.getStore() ?? nobody
}
