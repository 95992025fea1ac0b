import t from 'tap'
import { reportOf } from './report.ts'
import { runStorm } from './storm.ts'

const seed = 7

t.test(`a short storm loses nothing that somebody was told is saved (seed ${seed})`, async (t) => {
  const result = await runStorm(t, {
    ...{ seed, editors: 10, programs: 3, largest: 80, seconds: 9, patience: 180 },
    ...{ killEverySeconds: 3, restartPostgresAt: 0.6, linkMs: 500, restlessness: { editor: 400, program: 400 } },
  })
  t.comment(reportOf(result))
  t.strictSame(result.violations, [])
})
