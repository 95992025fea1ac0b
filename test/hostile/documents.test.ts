import t from 'tap'
import { hold } from './hold.ts'

t.test('a body costs no more than its size, wherever in it a hostile text stands', (t) =>
  hold(t, 'documents', { every: 8, first: 16 }),
)

t.test('a body costs no more than its size, whatever its blocks are', (t) => hold(t, 'bodies'))
