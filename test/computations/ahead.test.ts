import t from 'tap'
import { computingAhead } from '../../shared/computations/ahead.ts'
import { computation } from '../../shared/computations/computation.ts'
import { computationLoad } from '../../shared/computations/compute.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { echoing } from '../support/endless.ts'

t.test('a transaction that lacks a result runs again with the result, which is computed once', async (t) => {
  const before = computationLoad().ends.done
  let rounds = 0
  const results = await computingAhead(async (ahead) => {
    rounds += 1
    return [ahead.result(echoing, 'a'), ahead.result(echoing, 'a')]
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
  t.equal(await computingAhead(async (ahead) => ahead.result(echoing, ahead.result(numbering, 'a'))), 'a 1')
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

t.test('whoever loses every race comes through at last', async (t) => {
  let round = 0
  const losing = computingAhead(async (ahead) => {
    round += 1
    return ahead.result(echoing, `${round}`)
  })
  t.equal(await losing, '10')
})
