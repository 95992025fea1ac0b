import { rm } from 'node:fs/promises'
import { reportOf } from '../../storm/report.ts'
import { runStorm } from '../../storm/storm.ts'
import { t } from '../../support/tap.ts'

const seed = 7

t.test(`a storm of three minutes loses nothing that somebody was told is saved (seed ${seed})`, async (t) => {
  const result = await runStorm(t, {
    ...{ seed, editors: 10, programs: 3, largest: 60, seconds: 180, patience: 180 },
    ...{ killEverySeconds: 20, restartPostgresAt: 0.5, linkMs: 500, restlessness: { editor: 400, program: 400 } },
  })
  t.comment(reportOf(result))
  t.strictSame(result.violations, [])
  if (result.violations.length === 0) await rm(result.directory, { recursive: true })
})
