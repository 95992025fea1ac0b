import { reproducedBodies } from '../../hostile/bodies.ts'
import { requireLinear } from '../../hostile/linear.ts'
import { t } from '../../support/tap.ts'

// The worst texts of Markdown and of raw HTML. Forty readers read each of them at two dozen positions.
const texts = new Set(['ordered list markers', 'comments', 'nested div'])

t.test('a body costs no more than its size, wherever in it a hostile text stands', (t) =>
  requireLinear(t, 'documents', { families: texts, first: 16 }),
)

t.test('a body costs no more than its size, whatever its blocks are', (t) =>
  requireLinear(t, 'bodies', { families: reproducedBodies, every: 20 }),
)
