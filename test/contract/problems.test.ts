import fc from 'fast-check'
import Type from 'typebox'
import { Check, Errors } from 'typebox/value'
import { firstProblems } from '../../api/http/problems.ts'
import { Text } from '../../shared/schema/strings.ts'
import { t } from '../support/tap.ts'

const Item = Type.Object({ id: Type.Integer(), tags: Type.Optional(Type.Array(Text({ max: 3 }), { maxItems: 4 })) })
const Step = Type.Union(
  [
    Type.Object({ op: Type.Literal('put'), value: Type.Integer() }),
    Type.Object({ op: Type.Literal('drop'), all: Type.Boolean() }),
  ],
  { 'x-discriminator': 'op' },
)
const Request = Type.Refine(
  Type.Object({
    name: Text({ min: 1 }),
    step: Type.Optional(Step),
    wanted: Type.Optional(Type.Union([Text(), Type.Array(Text())])),
    items: Type.Optional(Type.Array(Item)),
  }),
  ({ name, wanted }) => name !== wanted,
  () => 'must want something else',
)

const scalar = fc.oneof(fc.constantFrom('', 'a', 'ab', 'abcd', '\u0000', null, true, 1, 1.5), fc.string())
const item = fc.oneof(
  scalar,
  fc.record({ id: fc.oneof(fc.integer(), scalar), tags: fc.array(scalar, { maxLength: 6 }) }, { requiredKeys: [] }),
)
const step = fc.oneof(
  scalar,
  fc.record({ op: fc.oneof(fc.constantFrom('put', 'drop'), scalar), value: scalar, all: scalar }, { requiredKeys: [] }),
)
const request = fc.oneof(
  scalar,
  fc.record(
    {
      name: scalar,
      step,
      wanted: fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
      items: fc.oneof(scalar, fc.array(item, { maxLength: 5 })),
    },
    { requiredKeys: [] },
  ),
)

t.test('a value has problems exactly when its schema refuses it', async (t) => {
  fc.assert(fc.property(request, (value) => firstProblems(Request, value, 20).length > 0 !== Check(Request, value)))
  t.pass('for every value')
})

t.test('whoever mends what is named has a request that is accepted', async (t) => {
  fc.assert(
    fc.property(request, (value) => {
      const named = [...new Set(firstProblems(Request, value, 1000).map(({ path }) => path))]
      const known = Errors(Request, value).filter(({ keyword }) => keyword !== 'required')
      // For an array of a wrong length the array is named, not its elements. For a union, the members of the
      // alternative that the value is meant to be are named.
      const isNamed = (path: string) =>
        named.includes(path) ||
        named.includes(path.replace(/\/\d+$/, '')) ||
        named.some((one) => one.startsWith(`${path}/`))
      return known.every(({ instancePath }) => isNamed(instancePath) || instancePath.startsWith('/step/'))
    }),
  )
  t.same(firstProblems(Request, {}, 20), [{ path: '/name', message: 'is required' }])
  t.same(firstProblems(Request, { name: 'a', wanted: 'a' }, 20), [{ path: '', message: 'must want something else' }])
  t.same(firstProblems(Request, { name: 'a', items: [{ id: 1 }, { id: 1, tags: ['abc', 'abcd'] }] }, 20), [
    { path: '/items/1/tags/1', message: 'must be 0 to 3 characters, without U+0000 or lone surrogates' },
  ])
})

t.test('a union is answered for the alternative that its discriminator names, and for no other', async (t) => {
  fc.assert(
    fc.property(step, (value) => {
      const { op } = (typeof value === 'object' ? value : null) ?? {}
      const [own, other] = op === 'put' ? ['/value', '/all'] : ['/all', '/value']
      const paths = firstProblems(Step, value, 20).map(({ path }) => path)
      if (op !== 'put' && op !== 'drop') return paths.length === 1 && ['', '/op'].includes(String(paths[0]))
      return paths.every((path) => path === own) && !paths.includes(other)
    }),
  )
  t.pass('for every value')
})

t.test('a request of millions of wrong elements costs no more than its first problems', async (t) => {
  const visits = (make: (length: number) => unknown[], length: number) => {
    let visited = 0
    const items = new Proxy(make(length), {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^\d+$/.test(key)) visited += 1
        return Reflect.get(target, key, receiver)
      },
    })
    t.ok(firstProblems(Request, { name: 'a', items }, 20).length <= 20)
    return visited
  }
  const wrong = (length: number) => Array.from({ length }, () => 1)
  t.equal(visits(wrong, 4000), visits(wrong, 1000), 'wrong from the beginning')
  const wrongAtLast = (length: number) => [...Array.from({ length }, () => ({ id: 1 })), 1]
  t.ok(visits(wrongAtLast, 4000) <= 4.1 * visits(wrongAtLast, 1000), 'wrong at the end')
})
