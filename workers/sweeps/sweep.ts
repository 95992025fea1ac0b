import type { Config } from '../../shared/config/config.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import { groupOf } from '../../shared/jobs/send.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import type { Runtime, Worker } from '../runtime/runtime.ts'
import { defineWorker } from '../runtime/work.ts'

/** A sweep: work that is done whenever its cron expression (UTC) is due. */
export type Sweep = {
  queue: Queue<object>
  cron: string
  /** Whether the sweep is scheduled. A sweep without this member is scheduled. */
  scheduled?: (config: Config) => boolean
  /** Does the work, in transactions of its own. Returns how many rows or files it dealt with, for the log. */
  sweep: (runtime: Runtime) => Promise<number>
}

/**
 * Makes a worker of a sweep and schedules it. When several runs were missed because no worker ran, a single run makes
 * up for all of them.
 */
export function defineSweep({ queue, cron, scheduled = () => true, sweep }: Sweep): Worker {
  const worker = defineWorker<object>({
    queue,
    async run(runtime) {
      const count = await onBehalfOf('', () => sweep(runtime), { mostMs: runtime.config.WORKER_COMPUTE_MS })
      runtime.log.info({ queue: queue.name, count }, 'swept')
      return { outcome: 'done' }
    },
  })
  return {
    name: worker.name,
    async start(runtime) {
      const { boss } = runtime.jobs
      if (scheduled(runtime.config)) await boss.schedule(queue.name, cron, {}, { missed: 'once', group: groupOf({}) })
      else await boss.unschedule(queue.name)
      return worker.start(runtime)
    },
  }
}
