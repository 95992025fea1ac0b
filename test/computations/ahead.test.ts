import { computingAhead } from '../../shared/computations/ahead.ts'
import { computation } from '../../shared/computations/computation.ts'
import { computationLoad } from '../../shared/computations/compute.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { echoing } from '../support/endless.ts'
import { onlyLong } from '../support/run-options.ts'
import { t } from '../support/tap.ts'

t.test('a transaction that lacks a result runs again with the result, which is computed once', async (t) => {
  const before = computationLoad().ends.done
  let rounds = 0
  const results = await computingAhead(async (ahead) => {
    rounds += 1
    return [await ahead.result(echoing, 'a'), await ahead.result(echoing, 'a')]
  })
  t.strictSame(results, ['a', 'a'])
  t.equal(rounds, 2)
  t.equal(computationLoad().ends.done - before, 1)
})

t.test('what has changed while it was computed is computed again', async (t) => {
  const inputs = ['old', 'new', 'new']
  t.equal(await computingAhead(async (ahead) => ahead.result(echoing, inputs.shift() ?? 'too many')), 'new')
  t.strictSame(inputs, [])
})

t.test('a small result stays the same, so that what is made from it is found', async (t) => {
  let made = 0
  const numbering = computation({
    module: import.meta.url,
    run(text: string) {
      made += 1
      return `${text} ${made}`
    },
    isSmall: () => true,
    cpuMs: () => 1000,
  })
  t.equal(await computingAhead(async (ahead) => ahead.result(echoing, await ahead.result(numbering, 'a'))), 'a 1')
})

t.test('what fails is told where the result is asked for, after the checks that come before', async (t) => {
  let isDeleted = false
  const writing = computingAhead(async (ahead) => {
    if (isDeleted) throw new Refusal('document_not_found', { details: { id: 'doc_1' } })
    isDeleted = true
    return ahead.result(echoing, 'endless')
  })
  await t.rejects(writing, { code: 'document_not_found' })
  const failing = computingAhead(async (ahead) => ahead.result(echoing, 'endless'))
  await t.rejects(failing, { name: 'ComputationLimitError' })
})

t.test('whoever loses every race prepares twice again, and then comes through', async (t) => {
  const before = computationLoad().ends.done
  const running: number[] = []
  const losing = computingAhead(async (ahead) => {
    running.push(computationLoad().running)
    return ahead.result(echoing, `${running.length}`)
  })
  t.equal(await losing, '5')
  t.equal(computationLoad().ends.done - before, 4, 'the last result, too, was computed in a thread')
  t.strictSame(running, [0, 0, 0, 0, 1], 'and the turn for it was there before the locks')
})

t.test('whoever loses every race with an endless input ends like everybody', async (t) => {
  let round = 0
  const losing = computingAhead(async (ahead) => {
    round += 1
    return ahead.result(echoing, round === 5 ? 'endless' : `${round}`)
  })
  await t.rejects(losing, { name: 'ComputationLimitError' })
})

t.test('a transaction that needs many large results computes them within one turn', async (t) => {
  const before = computationLoad().ends.done
  const running: number[] = []
  const results = await computingAhead(async (ahead) => {
    running.push(computationLoad().running)
    return [await ahead.result(echoing, 'a'), await ahead.result(echoing, 'b'), await ahead.result(echoing, 'c')]
  })
  t.strictSame(results, ['a', 'b', 'c'])
  t.strictSame(running, [0, 0, 1])
  t.equal(computationLoad().ends.done - before, 3)
})

t.test('many small results need no turn', async (t) => {
  const small = { ...echoing, isSmall: () => true }
  let rounds = 0
  const results = await computingAhead(async (ahead) => {
    rounds += 1
    return [await ahead.result(small, 'a'), await ahead.result(small, 'b')]
  })
  t.strictSame(results, ['a', 'b'])
  t.equal(rounds, 1)
})

t.test('nobody holds locks for as long as a computation of many seconds may take', onlyLong, async (t) => {
  const patient = { ...echoing, cpuMs: () => 60_000 }
  const writing = computingAhead(async (ahead) => {
    await ahead.result(patient, 'a')
    return ahead.result(patient, 'endless')
  })
  await t.rejects(writing, { code: 'service_unavailable', headers: { 'Retry-After': '30' } })
})

t.test('an effect outside the database happens without locks, once, and what is not kept is released', async (t) => {
  const acquired: string[] = []
  const released: string[] = []
  let rounds = 0
  const copying = (input: string) => ({
    name: 'copies',
    input,
    acquire: async () => {
      acquired.push(input)
      return `copy of ${input}`
    },
    release: async (copy: string) => {
      released.push(copy)
      throw new Error('a failed release hides nothing')
    },
  })
  const inputs = ['old', 'new', 'new', 'new']
  const result = await computingAhead(async (ahead) => {
    rounds += 1
    const copy = await ahead.acquired(copying(inputs.shift() ?? 'too many'))
    t.strictSame(released, [], 'what a transaction uses is released only after it')
    return [copy, await ahead.result(echoing, copy)]
  })
  t.strictSame(result, ['copy of new', 'copy of new'])
  t.strictSame(
    [acquired, released],
    [
      ['old', 'new'],
      ['copy of old', 'copy of new'],
    ],
  )
  t.equal(rounds, 4)

  const failing = computingAhead(async (ahead) => {
    await ahead.acquired(copying('third'))
    throw new Refusal('document_not_found', { details: { id: 'doc_1' } })
  })
  await t.rejects(failing, { code: 'document_not_found' })
  t.equal(released.at(-1), 'copy of third')
})
