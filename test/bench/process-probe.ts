import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/*
 * A measured process loads this module first (`node --import`). On SIGUSR2 it prints how long its event loop was blocked
 * at most since the last signal, and its memory after a garbage collection. It measures the event loop from the first
 * signal on.
 */

/** The line that a measured process prints, as JSON behind `probe `. */
export type Probed = {
  /** The longest time in milliseconds in which no timer could run. */
  longestBlock: number
  /** Bytes of the heap, and of buffers outside it, after a garbage collection. */
  memory: number
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const intervalMs = 2
let ticked = 0
let longestBlock = 0

process.on('SIGUSR2', () => {
  if (ticked === 0) setInterval(tick, intervalMs).unref()
  tick()
  const longest = longestBlock
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`probe ${JSON.stringify({ longestBlock: longest, memory: heapUsed + external })}\n`)
  ticked = performance.now()
  longestBlock = 0
})

function tick(): void {
  const now = performance.now()
  if (ticked > 0) longestBlock = Math.max(longestBlock, now - ticked - intervalMs)
  ticked = now
}
