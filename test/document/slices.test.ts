import { inSlices, type Slices } from '../../shared/computations/slices.ts'
import { t } from '../support/tap.ts'

t.test('long computations for several documents share the event loop, one of them in each turn', async (t) => {
  let turn = 0
  const count = () => {
    turn += 1
    if (isCounting) setImmediate(count)
  }
  let isCounting = true
  setImmediate(count)
  const advances: number[] = []
  const computation = function* (): Slices<void> {
    for (let step = 0; step < 5; step++) {
      // The first step of each computation runs in the turn in which it was started.
      if (step > 0) advances.push(turn)
      const end = performance.now() + 10
      while (performance.now() < end);
      yield
    }
  }
  await Promise.all([inSlices(computation()), inSlices(computation()), inSlices(computation())])
  isCounting = false
  t.equal(advances.length, 12)
  t.equal(new Set(advances).size, advances.length, advances.join(' '))
})
