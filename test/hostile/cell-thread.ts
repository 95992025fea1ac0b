import { parentPort } from 'node:worker_threads'
import { type Effort, type Finding, findGrowth, type OnTry } from './measure.ts'
import { type Cell, groupsOf } from './tables.ts'
import { WorkCounter } from './work.ts'

/** The task of the thread. */
export type Order = { cell: Cell; effort: Effort }

/** A message of the thread: before each try its size, and at the end the findings. */
export type Report = { trying: string } | { findings: Finding[] } | { thrown: string }

const counter = new WorkCounter()

parentPort?.on('message', async ({ cell, effort }: Order) => {
  const say = (report: Report) => parentPort?.postMessage(report)
  const onTry: OnTry = ({ groups, size, before }) => {
    const uses = groups.flatMap((group) => Object.keys(group.uses).map((use) => `${group.entry}: ${use}`))
    const costs = before.map((sample) => `${sample.work} at ${sample.size}`).join(', ')
    say({ trying: `${uses.length === 1 ? uses[0] : `${uses.length} readers`} at ${size}, after ${costs || 'nothing'}` })
  }
  try {
    say({ findings: await findGrowth({ counter, effort, onTry }, await groupsOf(cell)) })
  } catch (error) {
    say({ thrown: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
