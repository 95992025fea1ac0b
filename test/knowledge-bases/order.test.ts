import fc from 'fast-check'
import { keysFor, type Position, type Sibling } from '../../shared/knowledge-bases/order.ts'
import { t } from '../support/tap.ts'

type Move = { moved: number; to: 'first' | 'last' | 'before' | 'after'; other: number }

const move = fc.record({
  moved: fc.nat(11),
  to: fc.constantFrom('first', 'last', 'before', 'after'),
  other: fc.nat(11),
}) as fc.Arbitrary<Move>

t.test('after any moves the list is in the order that an array would have', (t) => {
  const ids = Array.from({ length: 12 }, (_, index) => `doc_${index}`)
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), fc.nat(12), (moves, unplaced) => {
      const keys = new Map<string, string | null>(ids.map((id) => [id, null]))
      // Some begin with equal keys, as after a restored deletion.
      for (const id of ids.slice(unplaced)) keys.set(id, 'a0')
      let expected = inOrder(keys).map(({ id }) => id)
      for (const { moved, to, other } of moves) {
        const [id = '', reference = ''] = [ids[moved], ids[other]]
        const position: Position = to === 'before' ? { before: reference } : to === 'after' ? { after: reference } : to
        for (const written of keysFor({ siblings: inOrder(keys), moved: id, position }))
          keys.set(written.id, written.key)
        expected = arranged(expected, { id, reference, to })
        if (JSON.stringify(inOrder(keys).map((sibling) => sibling.id)) !== JSON.stringify(expected)) return false
      }
      return true
    }),
  )
  t.end()
})

t.test('insertions at one place neither make keys grow without end nor renumber the list each time', (t) => {
  const keys = new Map<string, string | null>([
    ['left', 'a0'],
    ['right', 'a1'],
  ])
  let written = 0
  for (let index = 0; index < 3000; index += 1) {
    const id = `doc_${index % 20}`
    const side: Position = index % 2 === 0 ? { after: 'left' } : { before: `doc_${(index + 19) % 20}` }
    const assigned = keysFor({ siblings: inOrder(keys), moved: id, position: side })
    written += assigned.length
    for (const { id, key } of assigned) keys.set(id, key)
  }
  t.ok([...keys.values()].every((key) => (key?.length ?? 0) <= 64))
  t.ok(written < 2 * 3000, `${written} keys were written for 3000 moves`)
  t.end()
})

t.test('a move writes one key, unless documents before the place were never placed', (t) => {
  const siblings = ['a', 'b', 'c', 'd'].map((id) => ({ id, order_key: null }))
  const named = (position: Position, moved = 'd') => keysFor({ siblings, moved, position }).map(({ id }) => id)
  t.strictSame(named('first'), ['d'])
  t.strictSame(named({ before: 'b' }), ['a', 'd'])
  t.strictSame(named({ after: 'b' }), ['a', 'b', 'd'])
  t.strictSame(named('last', 'a'), ['b', 'c', 'd', 'a'])
  t.strictSame(named({ after: 'd' }), [], 'itself')
  t.throws(() => named({ after: 'elsewhere' }), { code: 'invalid_position' })
  t.end()
})

// The siblings as the database lists them: by key and id, then those without a key, which have one title here.
function inOrder(keys: ReadonlyMap<string, string | null>): Sibling[] {
  const siblings = [...keys].map(([id, order_key]) => ({ id, order_key }))
  const rank = ({ order_key, id }: Sibling) => `${order_key === null ? 1 : 0}${order_key ?? ''} ${id}`
  return siblings.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

function arranged(
  ids: readonly string[],
  { id, reference, to }: { id: string; reference: string; to: Move['to'] },
): string[] {
  if ((to === 'before' || to === 'after') && id === reference) return [...ids]
  const others = ids.filter((other) => other !== id)
  const at = { first: 0, last: others.length, before: others.indexOf(reference), after: others.indexOf(reference) + 1 }[
    to
  ]
  return [...others.slice(0, at), id, ...others.slice(at)]
}
