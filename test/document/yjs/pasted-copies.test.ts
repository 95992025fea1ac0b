import type * as Y from 'yjs'
import { topBlockId } from '../../../shared/body/block-lines.ts'
import { canonicalJson } from '../../../shared/body/canonical.ts'
import type { BodyNode } from '../../../shared/body/document.ts'
import { bodyFragment, readDocument, writeNodes } from '../../../shared/body/yjs/encoding.ts'
import { atOnce } from '../../../shared/computations/slices.ts'
import { t } from '../../support/tap.ts'
import { bulletList, listItem, paragraph } from './blocks.ts'
import { follow, opened } from './followed-editor.ts'
import { idFrom } from './random-body.ts'
import { elementsBelow, textsBelow } from './wild-editor.ts'

t.test('a block keeps its id when somebody presses Enter at its start or pastes a copy above it', async (t) => {
  const { body, fragment } = opened(paragraph(1, 'one'), paragraph(2, 'two'))
  fragment.insert(0, writeNodes([{ type: 'paragraph', attrs: { id: idFrom(1) } }, paragraph(2, 'two')]))
  atOnce(body.settle('doc_1@1'))
  const ids = body.lines.map(topBlockId)
  t.strictSame(ids.slice(2), [idFrom(1), idFrom(2)])
  t.equal(new Set(ids).size, 4)
  const live = bodyFragment(body.doc).toArray()
  t.strictSame(
    live.map((child) => (child as Y.XmlElement).getAttribute('id')),
    ids,
  )
})

for (const isTyped of [false, true]) {
  const typing = isTyped ? ', also when somebody types in the block' : ''
  t.test(
    `a program changes the block that it names, and not a copy that somebody pastes above it${typing}`,
    async (t) => {
      const { body, fragment } = opened(paragraph(1, 'one'), paragraph(2, 'two'), paragraph(3, 'three'))
      fragment.insert(0, [(fragment.get(1) as Y.XmlElement).clone()])
      fragment.delete(3)
      if (isTyped) textsBelow(fragment)[2]?.insert(0, 'typed ')
      follow(body, paragraph(1, 'one'), paragraph(2, 'two more'), paragraph(3, 'three'))
      atOnce(body.settle('doc_1@1'))
      t.equal(body.lines[2], canonicalJson(paragraph(2, isTyped ? 'typed two more' : 'two more')))
      t.match(body.lines[0], '"two"', 'the copy stays as it is')
    },
  )

  t.test(`a program changes a list item, and not a copy that somebody pastes above it${typing}`, async (t) => {
    const { body, fragment } = opened(bulletList(10, listItem(20, 'one'), listItem(30, 'two'), listItem(40, 'three')))
    const live = fragment.get(0) as Y.XmlElement
    live.insert(0, [(live.get(1) as Y.XmlElement).clone()])
    live.delete(3)
    if (isTyped) textsBelow(fragment)[2]?.insert(0, 'typed ')
    follow(body, bulletList(10, listItem(20, 'one'), listItem(30, 'two more'), listItem(40, 'three')))
    atOnce(body.settle('doc_1@1'))
    const [copy, one, two] = (JSON.parse(body.lines[0] as string) as BodyNode).content ?? []
    t.strictSame([one, two], [listItem(20, 'one'), listItem(30, isTyped ? 'typed two more' : 'two more')])
    t.match(JSON.stringify(copy), '"two"', 'the copy stays as it is')
  })
}

t.test(
  'a program moves or deletes the block that it names, and not a copy that somebody pastes above it',
  async (t) => {
    const quotation = (...content: BodyNode[]) => ({ type: 'blockquote', attrs: { id: idFrom(9) }, content })
    const [one, two, three] = [paragraph(1, 'one'), paragraph(2, 'two'), paragraph(3, 'three')]
    for (const [from, to] of [
      [[quotation(one), two], [quotation(one, two)]],
      [[quotation(one, two)], [quotation(one), two]],
      [[quotation(one), two], [quotation(one)]],
      [[quotation(one, two)], [quotation(one)]],
      [
        [one, two, three],
        [one, three, two],
      ],
    ] as const) {
      const { body, fragment } = opened(...from)
      fragment.insert(0, writeNodes([two]))
      const copy = bodyFragment(body.doc).get(0)
      follow(body, ...to)
      t.ok(bodyFragment(body.doc).get(0) === copy, 'the copy stays where it is')
      atOnce(body.settle('doc_1@1'))
      t.match(body.lines[0], '"two"')
      t.strictSame(
        body.lines.slice(1),
        to.map((block) => canonicalJson(block)),
      )
    }
  },
)

t.test('a block whose id is repaired keeps its own text, and does not get the text of a copy above it', async (t) => {
  const { body, fragment } = opened(bulletList(1, listItem(2, 'text')))
  fragment.insert(0, [(fragment.get(0) as Y.XmlElement).clone()])
  textsBelow(fragment)[0]?.insert(0, 'copied ')
  elementsBelow(fragment)[4]?.setAttribute('id', 'bad id')
  atOnce(body.settle('doc_1@1'))
  const live = readDocument(bodyFragment(body.doc)).document
  t.strictSame(
    live.content.map((block) => canonicalJson(block)),
    body.lines,
  )
})

t.test('of several new copies of a block that is gone, the first with text keeps the id', async (t) => {
  const { body, fragment } = opened(paragraph(1, 'one'), paragraph(2, 'two'))
  fragment.delete(0)
  fragment.insert(0, writeNodes([{ type: 'paragraph', attrs: { id: idFrom(1) } }, paragraph(1, 'one')]))
  atOnce(body.settle('doc_1@1'))
  t.equal(body.lines[1], canonicalJson(paragraph(1, 'one')))
})

t.test(
  'a program moves and changes a list, and not the copies that somebody pastes into it at that moment',
  async (t) => {
    const pastes: ((live: Y.XmlElement) => void)[] = [
      // A copy of the second item above it, and a copy of the whole list in its first item.
      (live) => live.insert(0, [(live.get(1) as Y.XmlElement).clone()]),
      (live) => (live.get(0) as Y.XmlElement).insert(1, [live.clone()]),
    ]
    for (const paste of pastes) {
      const { body, fragment } = opened(paragraph(1, 'top'), bulletList(10, listItem(20, 'one'), listItem(30, 'two')))
      paste(fragment.get(1) as Y.XmlElement)
      follow(body, bulletList(10, listItem(20, 'one'), listItem(30, 'two more')), paragraph(1, 'top'))
      atOnce(body.settle('doc_1@1'))
      const items = (JSON.parse(body.lines[0] as string) as BodyNode).content ?? []
      t.strictSame(items.at(-1), listItem(30, 'two more'))
      t.equal(JSON.stringify(items).split('"two"').length, 2, 'the copy stays as it is')
      t.equal(items.find(({ attrs }) => attrs?.id === idFrom(20))?.content?.[0]?.attrs?.id, idFrom(21))
    }
  },
)

t.test('somebody drags a list with a pasted copy of it in an item, and the ids stay with the outer list', async (t) => {
  const { body, fragment } = opened(paragraph(1, 'top'), bulletList(10, listItem(20, 'one'), listItem(30, 'two')))
  fragment.doc?.transact(() => {
    const live = fragment.get(1) as Y.XmlElement
    ;(live.get(0) as Y.XmlElement).insert(1, [live.clone()])
    fragment.insert(0, [live.clone()])
    fragment.delete(2)
  })
  follow(body, paragraph(1, 'top'), bulletList(10, listItem(20, 'one'), listItem(30, 'two more')))
  atOnce(body.settle('doc_1@1'))
  t.strictSame((JSON.parse(body.lines[0] as string) as BodyNode).content?.at(-1), listItem(30, 'two more'))
})
