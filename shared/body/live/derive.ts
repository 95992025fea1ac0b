import { computation } from '../../computations/computation.ts'
import { linesToDocument } from '../canonical.ts'
import { textComputation } from '../stored-body.ts'
import { compact, deriveState } from '../yjs/state.ts'

/** Derives the first Y state of a stored body. A thread calls this function by its name. @public */
export function deriveFromText({ text }: { text: string }): Uint8Array {
  return deriveState(linesToDocument(text.split('\n')))
}

/** A stored Y state, and the updates logged since the state was stored. */
type StateAndLog = { state: Uint8Array; updates: readonly Uint8Array[] }

/** Folds a log into its state. A thread calls this function by its name. @public */
export function foldIntoState({ state, updates }: StateAndLog): Uint8Array {
  return compact(state, updates)
}

const module = import.meta.url
export const deriving = textComputation({ module, run: deriveFromText })
export const folding = computation({
  module,
  run: foldIntoState,
  isSmall: (input) => bytesOf(input) <= smallState,
  cpuMs: (input) => Math.min(10_000, 2000 + bytesOf(input) * 0.002),
})

// Yjs decodes and encodes so many bytes within about 10 ms.
const smallState = 64 * 1024

function bytesOf({ state, updates }: StateAndLog): number {
  return updates.reduce((sum, { length }) => sum + length, state.length)
}
