import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exitFailed, runCommandLine, UsageError } from '../../shared/process/command-line.ts'
import { reportOf } from './report.ts'
import { runStorm } from './storm.ts'

const usage = `usage: npm run storm [-- options]

People type and programs write in the same documents, while collab processes are killed and PostgreSQL restarts. At the
end the command checks that everybody has the same documents, and that nothing is lost which somebody was told is saved.
It starts a service of its own: PostgreSQL, two API processes, two collab processes and the workers.

  --minutes N    how long people type, 10 by default
  --seed N       determines what each editor and each program chooses, 1 by default
  --editors N    stock Hocuspocus providers, 20 by default; one of them is behind a link of 2 s
  --programs N   clients that write over the API, 4 by default
  --blocks N     blocks of the largest of the five documents, 1,000 by default
  --kill N       seconds between two kills of a collab process, 30 by default; 0 kills none
  --patience N   seconds to wait at the end until everybody has everything, 180 by default
  --calm         neither kills, nor restarts PostgreSQL, nor slows a link
  --help         prints this

Exit codes: 0 nothing is wrong, 1 something is wrong or the run failed, 2 the command line makes no sense.`

const flags = {
  minutes: { type: 'string', default: '10' },
  seed: { type: 'string', default: '1' },
  editors: { type: 'string', default: '20' },
  programs: { type: 'string', default: '4' },
  blocks: { type: 'string', default: '1000' },
  kill: { type: 'string', default: '30' },
  patience: { type: 'string', default: '180' },
  calm: { type: 'boolean', default: false },
} as const

await runCommandLine({ usage, options: flags }, async ({ values }) => {
  const [minutes, seed, editors] = [numberOf('minutes'), numberOf('seed'), numberOf('editors')]
  const [programs, largest, kill] = [numberOf('programs'), numberOf('blocks'), numberOf('kill')]
  const { calm } = values
  const ends: (() => unknown)[] = []
  try {
    const t = { teardown: (end: () => unknown) => void ends.unshift(end) }
    const result = await runStorm(t, {
      ...{ seed, editors, programs, largest, seconds: minutes * 60, patience: numberOf('patience') },
      killEverySeconds: calm || kill === 0 ? null : kill,
      restartPostgresAt: calm ? null : 0.5,
      linkMs: calm ? null : 2000,
      restlessness: { editor: 600, program: 700 },
    })
    const report = reportOf(result)
    await writeFile(join(result.directory, 'report.txt'), report)
    process.stdout.write(report)
    if (result.violations.length > 0) process.exitCode = exitFailed
  } finally {
    for (const end of ends) await end()
  }

  function numberOf(name: Exclude<keyof typeof flags, 'calm'>): number {
    const value = Number(values[name])
    if (values[name] === '' || !(value >= 0)) throw new UsageError(`--${name} takes a number, not '${values[name]}'`)
    return value
  }
})
