import { requireLinear } from '../../hostile/linear.ts'
import { t } from '../../support/tap.ts'

t.test('Markdown costs no more than its size to read, to assemble, to write back and to import', (t) =>
  requireLinear(t, 'markdown', { every: 25 }),
)
