import { Worker } from 'node:worker_threads'
import type { Report } from './cell-thread.ts'
import type { Effort, Finding } from './measure.ts'
import type { Cell } from './tables.ts'

/** The result of a cell. The cell is linear when there are neither findings nor a failure. */
export type Measured = { cell: Cell; findings: readonly Finding[]; failure: string | null }

/**
 * Measures cells in a thread, one after the other. If a size does not end within `patience` milliseconds, the cell
 * fails and its thread is ended; the next cell gets a new thread.
 */
export class Measurer {
  readonly #effort: Effort
  readonly #patience: number
  #thread: Worker | null = null

  constructor(options: { effort: Effort; patience: number }) {
    this.#effort = options.effort
    this.#patience = options.patience
  }

  /** Measures one cell. Never throws. */
  async measure(cell: Cell): Promise<Measured> {
    const thread = this.#thread ?? new Worker(new URL('./cell-thread.ts', import.meta.url))
    this.#thread = thread
    const { promise, resolve } = Promise.withResolvers<Measured>()
    let trying = 'to begin'
    const giveUp = (failure: string) => {
      this.#thread = null
      void thread.terminate()
      resolve({ cell, findings: [], failure })
    }
    const wait = () => setTimeout(() => giveUp(`no end in ${this.#patience} ms: ${trying}`), this.#patience)
    let timer = wait()
    const onReport = (report: Report) => {
      clearTimeout(timer)
      if ('findings' in report) return resolve({ cell, findings: report.findings, failure: null })
      if ('thrown' in report) return resolve({ cell, findings: [], failure: `${trying}: ${report.thrown}` })
      trying = report.trying
      timer = wait()
    }
    const onError = (error: Error) => giveUp(`${trying}: ${error.message}`)
    const onExit = () => giveUp(`${trying}: the thread was ended`)
    thread.on('message', onReport).on('error', onError).on('exit', onExit)
    thread.postMessage({ cell, effort: this.#effort })
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      thread.off('message', onReport).off('error', onError).off('exit', onExit)
    }
  }

  /** Ends the thread. A measurement that still runs fails. */
  async end(): Promise<void> {
    await this.#thread?.terminate()
  }
}

/** A line for each finding: the reader, the inputs, the costs at n, 4n and 16n, and the code that does the work. */
export function linesOf({ cell, findings, failure }: Measured): string[] {
  const inputs = 'family' in cell ? cell.family : `${JSON.stringify(cell.repeated)} repeated`
  if (failure !== null) return [`${cell.part} × ${inputs}: ${failure}`]
  return findings.map(({ entry, use, grows, samples, culprit }) => {
    const costs = samples.map((sample) => {
      const cost = grows === 'time' ? `${Math.min(sample.cpu, sample.clock).toFixed(1)} ms` : String(sample[grows])
      return `${cost} at ${sample.size}`
    })
    return `${entry}: ${use} × ${inputs}: ${grows} grows: ${costs.join(', ')}; most of it in ${culprit}`
  })
}
