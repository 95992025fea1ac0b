import fc from 'fast-check'
import { test } from 'tap'
import { runs } from '../support/property-runs.ts'
import { FollowedSession, followedStep } from './followed-session.ts'
import { randomBody } from './random-body.ts'

test('a flush that reads only what changed stores what a flush of the whole document would store', async (t) => {
  fc.assert(
    fc.property(randomBody(), fc.array(followedStep(), { minLength: 3, maxLength: 30 }), (body, steps) => {
      const session = new FollowedSession(body)
      for (const one of steps) session.run(one)
      session.settle()
      session.settle()
    }),
    runs,
  )
  t.pass()
})
