import fc from 'fast-check'
import { runsTimes } from '../../support/runs.ts'
import { t } from '../../support/tap.ts'
import { randomBody } from './random-body.ts'
import { RoomSession, randomRoomStep } from './room-session.ts'
import type { PersonEditKind } from './typing.ts'

const typing: PersonEditKind[] = ['erase', 'format']
const everything: PersonEditKind[] = [...typing, 'split', 'join', 'drag', 'remove']

t.test('two people type while programs move, retype and rewrite blocks: every letter is there, once', async (t) => {
  fc.assert(session(2, typing), runsTimes(2))
  t.pass()
})

t.test(
  'three people split, join, drag and delete while programs write: no letter is lost that nobody deleted',
  async (t) => {
    fc.assert(session(3, everything), runsTimes(2))
    t.pass()
  },
)

function session(editors: number, kinds: PersonEditKind[]): fc.IProperty<unknown> {
  const steps = fc.array(randomRoomStep(editors, kinds), { minLength: 3, maxLength: 25 })
  return fc.property(randomBody(), steps, (body, steps) => {
    const session = new RoomSession(body, editors)
    for (const step of steps) session.run(step)
    session.finish()
  })
}
