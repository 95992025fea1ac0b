import fc from 'fast-check'
import { test } from 'tap'
import { documentToLines, linesToDocument } from '../../shared/body/canonical.ts'
import { runs } from '../support/property-runs.ts'
import { EditedBody, randomTurn } from './edited-body.ts'
import { idFrom, normalised, randomBody } from './random-body.ts'

/*
 * An editor that does not know the attribute `id` removes it from each node around the text that somebody types. Such
 * an editor has to lose nothing that an editor which knows the attribute would keep.
 */

test('an editor that does not know ids and a program change the same blocks, and every id and change is kept', async (t) => {
  fc.assert(
    fc.property(randomBody(), fc.array(randomTurn(), { minLength: 1, maxLength: 6 }), (body, turns) => {
      const [knowing, forgetting] = [
        new EditedBody(body, { knowsIds: true }),
        new EditedBody(body, { knowsIds: false }),
      ]
      for (const [index, one] of turns.entries()) {
        const lines = knowing.flush(one, index)
        same(forgetting.flush(one, index), lines)
      }
    }),
    runs,
  )
  t.pass()
})

test('a program changes a block from which an editor removes the id at that moment', async (t) => {
  const paragraph = (number: number, text: string) => ({
    type: 'paragraph',
    attrs: { id: idFrom(number) },
    content: [{ type: 'text', text }],
  })
  const session = new EditedBody(normalised({ type: 'doc', content: [paragraph(1, 'one'), paragraph(2, 'two')] }), {
    knowsIds: false,
  })
  session.type({ kind: 'type', at: 1, place: 0 })
  const to = normalised({ type: 'doc', content: [paragraph(1, 'one'), paragraph(2, 'two more')] })
  t.strictSame(
    session.settled(to),
    documentToLines({ ...to, content: [paragraph(1, 'one'), paragraph(2, 'wtwo more')] }),
  )
})

test('a block that an editor without ids adds keeps the id that it gets, while somebody types on in it', async (t) => {
  const session = new EditedBody(
    normalised({ type: 'doc', content: [{ type: 'paragraph', attrs: { id: idFrom(1) } }] }),
    {
      knowsIds: false,
    },
  )
  session.type({ kind: 'enter', at: 0, place: 0 })
  const [, added] = idsIn(session.settled())
  for (const count of [1, 2, 3]) {
    session.type({ kind: 'type', at: 1, place: 0 })
    t.strictSame(idsIn(session.settled()), [idFrom(1), added], `typed ${count} times`)
  }
})

function idsIn(lines: readonly string[]): unknown[] {
  return linesToDocument(lines).content.map(({ attrs }) => attrs.id)
}

function same(got: readonly string[], want: readonly string[]): void {
  if (got.join('\n') !== want.join('\n')) throw new Error(`got\n${got.join('\n')}\nwant\n${want.join('\n')}`)
}
