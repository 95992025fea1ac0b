import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/*
 * A measured process loads this module first (`node --import`). On SIGUSR2 it prints how long its event loop was
 * blocked at most since the last signal, and its memory after a garbage collection. It measures the event loop from the
 * first signal on.
 */

/** What a measured process prints, as JSON behind the word `probe`. */
export type Probed = {
  /**
   * The longest work of the main thread between two turns of the event loop, in milliseconds of processor time. So it
   * does not contain what other processes of the machine have taken away.
   */
  longestBlock: number
  /** Bytes of the heap, and of buffers outside it, after a garbage collection. */
  memory: number
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const intervalMs = 2
let longestBlock = 0
let worked: number | null = null

process.on('SIGUSR2', async () => {
  if (worked === null) setInterval(tick, intervalMs).unref()
  tick()
  const longest = longestBlock
  // A collection frees buffers whose objects an earlier one has found dead. Sent messages are let go a moment later.
  for (let turn = 0; turn < 3; turn += 1) {
    await sleep(100)
    collectGarbage()
  }
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`probe ${JSON.stringify({ longestBlock: longest, memory: heapUsed + external })}\n`)
  worked = milliseconds()
  longestBlock = 0
})

function tick(): void {
  const now = milliseconds()
  if (worked !== null) longestBlock = Math.max(longestBlock, now - worked)
  worked = now
}

function milliseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
