import type { Config } from '../../shared/config/config.ts'
import { inTransaction } from '../../shared/database/database.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import { completeAttempt } from '../runtime/attempts.ts'
import { defineWorker } from '../runtime/job-worker.ts'
import type { Runtime, Worker } from '../runtime/runtime.ts'

/** A sweep: what it does each time its cron expression (UTC) comes due; it returns how many things it dealt with. */
export type Sweep = {
  queue: Queue<object>
  cron: string
  /** Whether it is scheduled at all; it always is unless this says otherwise. */
  scheduled?: (config: Config) => boolean
  sweep: (runtime: Runtime) => Promise<number>
}

/** Makes a worker of a sweep, together with its schedule; a run that was missed while nothing ran is made up once. */
export function defineSweep({ queue, cron, scheduled = () => true, sweep }: Sweep): Worker {
  const worker = defineWorker<object>({
    queue,
    async run(runtime, job) {
      const count = await sweep(runtime)
      runtime.log.info({ queue: queue.name, count }, 'swept')
      await inTransaction(runtime.database, (tx) => completeAttempt(tx, { runtime, queue, job }))
      return 'done'
    },
  })
  return {
    name: worker.name,
    async start(runtime) {
      const { boss } = runtime.jobs
      if (scheduled(runtime.config)) await boss.schedule(queue.name, cron, {}, { missed: 'once' })
      else await boss.unschedule(queue.name)
      return worker.start(runtime)
    },
  }
}
