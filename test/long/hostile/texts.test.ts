import { requireLinear } from '../../hostile/linear.ts'
import { t } from '../../support/tap.ts'

t.test('words, names, addresses and answers of a model cost no more than their size', (t) =>
  requireLinear(t, 'texts', { every: 40 }),
)

t.test('headers, parameters and JSON cost no more than their size', (t) => requireLinear(t, 'requests', { every: 20 }))
