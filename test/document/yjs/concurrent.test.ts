import fc from 'fast-check'
import { runsTimes } from '../../support/runs.ts'
import { t } from '../../support/tap.ts'
import { randomBody } from './random-body.ts'
import { randomStep, Session } from './session.ts'

t.test(
  'two people type while programs write: all end with one document and no word outside lost blocks is gone',
  async (t) => {
    fc.assert(
      fc.property(randomBody(), fc.array(randomStep(), { minLength: 3, maxLength: 25 }), (body, steps) => {
        const session = new Session(body)
        for (const one of steps) session.run(one)
        session.finish()
      }),
      runsTimes(2),
    )
    t.pass()
  },
)
