import t from 'tap'
import { hold } from './hold.ts'

t.test('words, names, addresses and answers of a model cost no more than their size', (t) =>
  hold(t, 'texts', { every: 40 }),
)

t.test('headers, parameters and JSON cost no more than their size', (t) => hold(t, 'requests', { every: 20 }))
