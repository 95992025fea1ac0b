import { seconds } from '../frame/arguments.ts'
import { type Cli, examples } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'

/** `jobs`: jobs of models that somebody has asked for. */
export function registerJobs({ program, run }: Cli): void {
  const jobs = program
    .command('jobs')
    .summary('wait for summaries and translations')
    .description('Jobs of models: summaries (sjob_…) and translations (tjob_…).')
    .addHelpText('after', examples(['jobs wait sjob_01J9Z3V5K8Q2W4E6R7T9Y1P3S5', 'until the summary is there']))
  jobs
    .command('wait')
    .argument('<jobs...>', 'ids of jobs')
    .summary('wait until jobs have ended')
    .description('Waits until all of the jobs have ended. The exit code is 1 unless all of them have succeeded.')
    .option('--timeout <seconds>', 'the longest time to wait; without an end by default', seconds)
    .addHelpText('after', examples(['jobs wait sjob_01J9Z3V5K8Q2W4E6R7T9Y1P3S5 --timeout 60', 'for a minute at most']))
    .action((ids: string[], { timeout }: { timeout?: number }) =>
      run(async ({ out, connect, interrupts }) => {
        const { service } = await connect()
        const options = {
          signal: interrupts.signal,
          timeout: timeout === undefined ? Number.POSITIVE_INFINITY : timeout * 1000,
        }
        out.progress(ids.length === 1 ? `waiting for ${ids[0]} …` : `waiting for ${ids.length} jobs …`)
        const ended = await Promise.all(
          ids.map(async (id) => {
            const job = await service.waitForJob(id, options)
            out.item(job, () =>
              out.line(id, '  ', { text: job.status, style: job.status === 'succeeded' ? 'green' : 'red' }),
            )
            return job
          }),
        )
        const unsuccessful = ended.filter(({ status }) => status !== 'succeeded')
        if (unsuccessful.length === 0) return
        throw new Failure('failed', 'job_failed', {
          message: `${unsuccessful.length} of ${ids.length} jobs did not succeed.`,
          lines: unsuccessful.map(
            ({ id, error, obsolete_reason }) => `  ${id}: ${error?.message ?? obsolete_reason ?? ''}`,
          ),
        })
      }),
    )
}
