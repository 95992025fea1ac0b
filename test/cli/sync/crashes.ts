import { LocalWriter } from '../../../shared/cli/sync/local-write.ts'
import { SyncState } from '../../../shared/cli/sync/state.ts'

/** The end of a process that was killed. */
export class Crash extends Error {}

/**
 * Runs a sync that is killed at a step: before or after the step has had its effect, in turn. Steps are calls of the
 * service, notes of the state, and what is done to files. Rejects with a Crash if the sync has taken so many steps.
 */
export async function crashing<T>(steps: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  let [taken, isDead] = [0, false]
  // Ends the pauses of the client, which takes a failed call for a failure of the network.
  const end = new AbortController()
  const step = () => {
    taken += 1
    if (taken <= steps) return
    isDead = true
    end.abort(new Crash())
  }
  const around = <A extends unknown[], R>(call: (...input: A) => R) => {
    return function (this: unknown, ...input: A): R {
      if (isDead) throw new Crash()
      if (steps % 2 === 0) step()
      if (isDead) throw new Crash()
      const result = call.apply(this, input)
      if (steps % 2 === 1) step()
      if (!isDead) return result
      if (result instanceof Promise) return result.then(() => Promise.reject(new Crash())) as R
      throw new Crash()
    }
  }
  const { fetch } = globalThis
  const { note, keepText } = SyncState.prototype
  const { write, move, remove, settle, keepCopy } = LocalWriter.prototype
  try {
    globalThis.fetch = around(fetch)
    Object.assign(SyncState.prototype, { note: around(note), keepText: around(keepText) })
    Object.assign(LocalWriter.prototype, {
      write: around(write),
      move: around(move),
      remove: around(remove),
      settle: around(settle),
      keepCopy: around(keepCopy),
    })
    return await work(end.signal)
  } catch (error) {
    if (isDead) throw new Crash()
    throw error
  } finally {
    isDead = true
    globalThis.fetch = fetch
    Object.assign(SyncState.prototype, { note, keepText })
    Object.assign(LocalWriter.prototype, { write, move, remove, settle, keepCopy })
  }
}
