import t from 'tap'
import { hold } from './hold.ts'

t.test('Markdown costs no more than its size to read, to assemble, to write back and to import', (t) =>
  hold(t, 'markdown', { every: 25 }),
)
