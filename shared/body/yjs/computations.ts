import * as Y from 'yjs'
import { type Computation, computation } from '../../computations/computation.ts'
import { atOnce } from '../../computations/slices.ts'
import { linesToDocument } from '../canonical.ts'
import { checkUpdate, RefusedUpdate } from './client-update.ts'
import { cutUpdates } from './cut-updates.ts'
import { FollowingBody } from './following-body.ts'
import { TextRescue } from './rescue.ts'
import { deriveState, openState } from './state.ts'

type Updates = { updates: readonly Uint8Array[] }

/** A thread calls this function by its name: `cutUpdates`. @public */
export function cut({ updates }: Updates): Uint8Array[] {
  return cutUpdates(updates)
}

/** The first state of a body. A thread calls this function by its name. @public */
export function derive({ text }: { text: string }): Uint8Array {
  return deriveState(linesToDocument(text.split('\n')))
}

/** Merges a state and its log into one state without deleted content. A thread calls it by its name. @public */
export function fold({ updates }: Updates): Uint8Array {
  return Y.encodeStateAsUpdate(openState(...updates))
}

/**
 * Whether a Y document holds exactly the body that it is meant to follow. `updates` are the state and its log. A thread
 * calls this function by its name. @public
 */
export function holdsBody({ updates, text }: Updates & { text: string }): boolean {
  const lines = text.split('\n')
  const body = atOnce(FollowingBody.open({ updates, lines }))
  body.distrust()
  const { change, repairs } = atOnce(body.settle(''))
  return change === null && repairs.length === 0
}

/**
 * Applies an update of a client to a copy of its document, as the process of the document would do it. Returns the
 * milliseconds of processor time that it takes; null when the update is refused. A thread calls it by its name. @public
 */
export function tryUpdate({ state, update }: { state: Uint8Array; update: Uint8Array }): number | null {
  const copy = openState(state)
  try {
    checkUpdate(copy, update)
  } catch (error) {
    if (error instanceof RefusedUpdate) return null
    throw error
  }
  const rescue = new TextRescue(copy, { sourceOf: () => 'editor', origin: 'rescue' })
  const before = process.threadCpuUsage()
  rescue.apply(update, 'client')
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

// Yjs takes about 0.05 µs for a byte of a state. A state of this size takes less than 10 ms in each of the
// computations.
const smallBytes = 64 * 1024

/** Declares a computation on updates, which needs a thread unless they are small. */
function updatesComputation<Input extends Updates, Output>(
  declared: Pick<Computation<Input, Output>, 'module' | 'run'>,
): Computation<Input, Output> {
  return computation({
    ...declared,
    isSmall: (input) => bytesOf(input) <= smallBytes,
    cpuMs: (input) => 2000 + bytesOf(input) * 0.005,
  })
}

function bytesOf({ updates }: Updates): number {
  return updates.reduce((sum, { length }) => sum + length, 0)
}

const module = import.meta.url
export const cutting = updatesComputation({ module, run: cut })
export const folding = updatesComputation({ module, run: fold })
export const checking = updatesComputation({ module, run: holdsBody })
export const deriving = computation({
  module,
  run: derive,
  isSmall: ({ text }) => text.length <= smallBytes,
  cpuMs: ({ text }) => 2000 + text.length * 0.005,
})
/** The most milliseconds of processor time that an update of a client may take, besides opening the copy. */
const mostTrialMs = 1000
export const trying = computation({
  module,
  run: tryUpdate,
  isSmall: () => false,
  cpuMs: ({ state }) => mostTrialMs + state.length * 0.0003,
})
