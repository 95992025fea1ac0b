import { setTimeout as sleep } from 'node:timers/promises'
import { computationLoad, compute } from '../../shared/computations/compute.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { echoing } from '../support/endless.ts'
import { onlyLong } from '../support/run-options.ts'
import { t } from '../support/tap.ts'

t.test('a computation that never ends is ended, and those that wait get another thread', async (t) => {
  const before = computationLoad().ends
  const results = await Promise.allSettled(['endless', 'a', 'endless', 'b', 'c'].map((text) => compute(echoing, text)))
  t.strictSame(
    results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message)),
    ['the computation takes too much time', 'a', 'the computation takes too much time', 'b', 'c'],
  )
  const { running, waiting, ends } = computationLoad()
  t.match({ running, waiting }, { running: 0, waiting: 0 })
  t.equal((ends.done ?? 0) - (before.done ?? 0), 3)
  t.equal((ends.over_limit ?? 0) - (before.over_limit ?? 0), 2)
})

t.test('a computation that fills the memory is ended without the process', onlyLong, async (t) => {
  await t.rejects(compute({ ...echoing, cpuMs: () => 600_000 }, 'greedy'), /too much memory/)
  t.equal(await compute(echoing, 'd'), 'd')
})

t.test('a computation that ends after its limit is refused, also when the event loop was busy', onlyLong, async (t) => {
  await compute(echoing, 'a thread is ready')
  const slow = compute(echoing, 'slow')
  await sleep(100)
  blockEventLoop(3000)
  await t.rejects(slow, /too much time/)
  t.equal(await compute({ ...echoing, cpuMs: () => 600_000 }, 'slow'), 'slow')
})

t.test('a call limits all that is computed in it, so no computation escapes the limit of a worker', async (t) => {
  const patient = { ...echoing, cpuMs: () => 600_000 }
  const inner = () => onBehalfOf('other', () => compute(patient, 'endless'))
  await t.rejects(
    onBehalfOf('u', () => compute(patient, 'endless'), { mostMs: 200 }),
    /too much time/,
  )
  await t.rejects(onBehalfOf('u', inner, { mostMs: 200 }), /too much time/)
})

t.test('a thread is free for another user while one keeps the rest busy', async (t) => {
  const busy = () => onBehalfOf('busy', () => compute(echoing, 'endless'))
  let ended = 0
  const all = Array.from({ length: 6 }, () => busy().catch(() => (ended += 1)))
  t.equal(await onBehalfOf('small', () => compute(echoing, 'x')), 'x')
  t.ok(ended <= 2, `${ended} pieces of the busy user ended first`)
  await Promise.all(all)
})

function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
