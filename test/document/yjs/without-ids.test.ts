import fc from 'fast-check'
import * as Y from 'yjs'
import { idsInLine } from '../../../shared/body/block-lines.ts'
import { canonicalJson, linesToDocument } from '../../../shared/body/canonical.ts'
import { bodyFragment, writeNodes } from '../../../shared/body/yjs/encoding.ts'
import { atOnce } from '../../../shared/computations/slices.ts'
import { t } from '../../support/tap.ts'
import { bulletList, listItem, paragraph } from './blocks.ts'
import { EditedBody, randomTurn } from './edited-body.ts'
import { opened } from './followed-editor.ts'
import { idFrom, normalised, randomBody } from './random-body.ts'
import { elementsBelow, textsBelow } from './wild-editor.ts'

/*
 * An editor that does not know the attribute `id` removes it from each node around the text that somebody types. Such
 * an editor has to lose nothing that an editor which knows the attribute would keep.
 */

t.test(
  'an editor that does not know ids and a program change the same blocks, and every id and change is kept',
  async (t) => {
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
    )
    t.pass()
  },
)

t.test('a program changes a block from which an editor removes the id at that moment', async (t) => {
  const session = new EditedBody(normalised({ type: 'doc', content: [paragraph(1, 'one'), paragraph(2, 'two')] }), {
    knowsIds: false,
  })
  session.type({ kind: 'type', at: 1, place: 0 })
  const to = normalised({ type: 'doc', content: [paragraph(1, 'one'), paragraph(2, 'two more')] })
  t.strictSame(
    session.settled(to),
    [paragraph(1, 'one'), paragraph(2, 'wtwo more')].map((block) => canonicalJson(block)),
  )
})

t.test(
  'a block that an editor without ids adds keeps the id that it gets, while somebody types on in it',
  async (t) => {
    const session = new EditedBody(
      normalised({ type: 'doc', content: [{ type: 'paragraph', attrs: { id: idFrom(1) } }] }),
      { knowsIds: false },
    )
    session.type({ kind: 'enter', at: 0, place: 0 })
    const [, added] = idsIn(session.settled())
    for (const count of [1, 2, 3]) {
      session.type({ kind: 'type', at: 1, place: 0 })
      t.strictSame(idsIn(session.settled()), [idFrom(1), added], `typed ${count} times`)
    }
  },
)

t.test('blocks keep their ids and carets when an editor that does not know ids types in them', async (t) => {
  const list = bulletList(10, listItem(20, 'one'), listItem(30, 'two'), listItem(40, 'three'))
  const { body, fragment } = opened(paragraph(1, 'first'), list)
  const before = body.lines
  for (const [index, word] of ['a', 'b'].entries()) {
    fragment.doc?.transact(() => {
      for (const element of elementsBelow(fragment)) element.removeAttribute('id')
      textsBelow(fragment)[2]?.insert(0, word)
    })
    const elements = elementsBelow(bodyFragment(body.doc))
    const { updates, repairs } = atOnce(body.settle(`doc_1@${index}`))
    t.strictSame(new Set(repairs.map(({ kind }) => kind)), new Set(['id_restored']))
    t.strictSame(elementsBelow(bodyFragment(body.doc)), elements, 'no element was made anew')
    for (const update of updates) Y.applyUpdate(fragment.doc as Y.Doc, update)
  }
  t.strictSame(body.lines, [before[0], before[1]?.replace('two', 'batwo')])
})

t.test('all list items keep their ids when an editor that does not know ids adds an item between them', async (t) => {
  const list = bulletList(10, listItem(20, 'one'), listItem(30, 'two'), listItem(40, 'three'))
  const { body, fragment } = opened(list)
  fragment.doc?.transact(() => {
    for (const element of elementsBelow(fragment)) element.removeAttribute('id')
    const live = fragment.get(0) as Y.XmlElement
    live.insert(2, writeNodes([{ type: 'listItem', content: [{ type: 'paragraph' }] }]))
  })
  atOnce(body.settle('doc_1@1'))
  const ids = idsInLine(body.lines[0] as string)
  t.strictSame([...ids.slice(0, 5), ...ids.slice(7)], idsInLine(canonicalJson(list)))
})

function idsIn(lines: readonly string[]): unknown[] {
  return linesToDocument(lines).content.map(({ attrs }) => attrs.id)
}

function same(got: readonly string[], want: readonly string[]): void {
  if (got.join('\n') !== want.join('\n')) throw new Error(`got\n${got.join('\n')}\nwant\n${want.join('\n')}`)
}
