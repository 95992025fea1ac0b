import { rm } from 'node:fs/promises'
import { reportOf } from '../../storm/report.ts'
import { runStorm } from '../../storm/storm.ts'
import { t } from '../../support/tap.ts'

const seed = 7

t.test(`a short storm loses nothing that somebody was told is saved (seed ${seed})`, async (t) => {
  const result = await runStorm(t, {
    ...{ seed, editors: 10, programs: 3, largest: 60, seconds: 8, patience: 100 },
    ...{ killEverySeconds: 3.5, restartPostgresAt: 0.6, linkMs: 500, restlessness: { editor: 400, program: 400 } },
  })
  t.comment(reportOf(result))
  t.strictSame(result.violations, [])
  if (result.violations.length === 0) await rm(result.directory, { recursive: true })
})
