import { readdirSync, readFileSync } from 'node:fs'

/** A process of this machine. `milliseconds` is its processor time, with the time of its children that have ended. */
export type Process = { pid: number; parent: number; milliseconds: number; megabytes: number; command: string }

/** Reads all processes from Linux's /proc. Throws on other systems. */
export function allProcesses(): Process[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (processOf(name) ?? []) : []))
}

// A process may end while it is read. A tick is 10 ms, a page 4 kB.
function processOf(name: string): Process | undefined {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + Number(value), 0)
    return {
      pid: Number(name),
      parent: Number(fields[1]),
      milliseconds: ticks * 10,
      megabytes: (Number(fields[21]) * 4096) / 2 ** 20,
      command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '),
    }
  } catch {
    return undefined
  }
}

/**
 * The processor time of the living threads of a process in milliseconds, finer than a tick. It is 0 for a process that
 * has ended.
 */
export function processorMilliseconds(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.reduce((sum, thread) => sum + runMilliseconds(`/proc/${pid}/task/${thread}/schedstat`), 0)
  } catch {
    return 0
  }
}

// The first number of the file is the time on a processor in nanoseconds.
function runMilliseconds(file: string): number {
  return Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6
}
