import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

// Linux counts processor time in hundredths of a second, whatever the clock of the kernel.
const ticksPerSecond = 100

/**
 * The seconds of processor time that this process and all processes below it have used so far, including those that
 * have ended. Where there is no /proc, the seconds of this process alone.
 */
export function treeCpuSeconds(): number {
  const processes = readdirOrNone('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(name) ?? []) : []))
  if (processes.length === 0) return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
  const children = Map.groupBy(processes, ({ parent }) => parent)
  let ticks = 0
  const below = processes.filter(({ pid }) => pid === process.pid)
  for (const one of below) {
    ticks += one.ticks
    below.push(...(children.get(one.pid) ?? []))
  }
  return ticks / ticksPerSecond
}

// A process as /proc describes it (proc_pid_stat(5)): the time of its children counts from when they have ended. The
// name of its command may contain spaces and parentheses.
function readProcess(pid: string): { pid: number; parent: number; ticks: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { pid: Number(pid), parent: Number(fields[1]), ticks }
  } catch {
    return null
  }
}

function readdirOrNone(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

// What `calibrate` takes on the machine for which the budget was set, in milliseconds of processor time.
const referenceMs = 40

/**
 * Counts the processor time of a run. A short calculation, repeated during the run, tells how fast the machine is at
 * the time, so that neither a slow machine nor other work beside the run makes the scaled figure larger.
 */
export class CpuBudget {
  readonly #calibrations: number[] = [calibrate()]
  readonly #timers = [
    setInterval(() => this.#calibrations.push(calibrate()), 10_000),
    setInterval(() => this.#count(), 3000),
  ]
  #last = 0
  #sum = 0

  /** Ends the count, after all processes of the run have ended. */
  end(): { cpuSeconds: number; scaled: number } {
    for (const timer of this.#timers) clearInterval(timer)
    this.#count()
    // The kernel counts in steps of some milliseconds, so only a mean tells much. The first one compiles the code.
    const [, ...times] = this.#calibrations
    const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length
    return { cpuSeconds: this.#sum, scaled: times.length === 0 ? this.#sum : (this.#sum * referenceMs) / mean }
  }

  // The time of a process that outlives its parent, as those of Chromium do, is no longer in the tree at the end.
  #count(): void {
    const now = treeCpuSeconds()
    this.#sum += Math.max(0, now - this.#last)
    this.#last = now
  }
}

const bytes = Buffer.alloc(2 ** 20)
const text = JSON.stringify(Array.from({ length: 500 }, (_, index) => ({ id: index, text: `block ${index}` })))

// Objects, strings and digests, as a test has them. Returns the milliseconds of processor time.
function calibrate(): number {
  const before = process.cpuUsage()
  for (let round = 0; round < 100; round += 1) JSON.stringify(JSON.parse(text))
  for (let round = 0; round < 20; round += 1) createHash('sha256').update(bytes).digest()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
