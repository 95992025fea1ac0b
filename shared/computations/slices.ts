/**
 * A computation that is cut in slices. At each `yield` the event loop may take a turn, so that nobody waits for the
 * whole computation. A slice takes well under a millisecond.
 */
export type Slices<T> = Generator<void, T, void>

// The longest stretch, in milliseconds, that `inSlices` computes without a turn of the event loop.
const stretchMs = 8

/** Computes everything at once. */
export function atOnce<T>(slices: Slices<T>): T {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}

/**
 * Computes with turns of the event loop in between. A computation of less than eight milliseconds runs without a turn.
 * `pause` waits for the next turn. Rejects with the error of the computation.
 *
 * Of several computations, one goes on in each turn of the event loop. So a turn is never as long as all of them.
 */
export async function inSlices<T>(slices: Slices<T>, pause: () => Promise<unknown> = ownTurn): Promise<T> {
  let started = performance.now()
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
    if (performance.now() - started < stretchMs) continue
    await pause()
    started = performance.now()
  }
}

/** Waits for a turn of the event loop in which nobody else who calls this function goes on. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(nextTurn)
  })
}

const waiting: (() => void)[] = []

function nextTurn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(nextTurn)
}
