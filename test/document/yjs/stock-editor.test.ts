import { Transform } from '@tiptap/pm/transform'
import { initProseMirrorDoc, updateYFragment } from '@tiptap/y-tiptap'
import type { Node } from 'prosemirror-model'
import * as Y from 'yjs'
import type { BodyNode } from '../../../shared/body/document.ts'
import { bodySchema } from '../../../shared/body/nodes.ts'
import { bodyFragment, readDocument } from '../../../shared/body/yjs/encoding.ts'
import { repairDocument } from '../../../shared/body/yjs/repair.ts'
import { type Test, t } from '../../support/tap.ts'
import { paragraph } from './blocks.ts'
import { blocksOf, idFrom, normalised } from './random-body.ts'
import { allText, type Editor, moveToEnd, Room } from './room.ts'

const first = idFrom(1)

t.test('a paragraph that is split at its end or in the middle keeps its id in the first half', async (t) => {
  for (const { offset, halves } of [
    { offset: 3, halves: ['one', ' alpha'] },
    { offset: 9, halves: ['one alpha', ''] },
  ]) {
    const room = opened()
    const [anna] = room.editors as [Editor, Editor]
    change(anna, (transform) => transform.split(1 + offset))
    room.settle()
    t.strictSame(room.body.content.slice(0, 2).map(allText), halves)
    t.equal(room.body.content[0]?.attrs.id, first)
    same(t, room)
  }
})

t.test('two people who split one paragraph at once lose no letter, and every id is there once', async (t) => {
  const room = opened()
  const [anna, ben] = room.editors as [Editor, Editor]
  change(anna, (transform) => transform.split(4))
  change(ben, (transform) => transform.insert(8, bodySchema.text('B')).split(6))
  change(anna, (transform) => transform.insert(2, bodySchema.text('A')))
  room.settle()
  for (const letter of 'ABonealph') t.match(allText(room.body), letter)
  same(t, room)
})

t.test('what a stock editor types into a block that a program moves goes along', async (t) => {
  const room = opened()
  const [anna] = room.editors as [Editor, Editor]
  room.write(moveToEnd)
  room.flush()
  change(anna, (transform) => transform.insert(4, bodySchema.text('X', [bodySchema.mark('bold')])))
  room.deliver(anna)
  change(anna, (transform) => transform.insert(5, bodySchema.node('hardBreak')))
  room.deliver(anna)
  change(anna, (transform) => transform.insert(6, bodySchema.text('Y')))
  room.deliver(anna)
  room.settle()
  t.strictSame(room.block(first).content, [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'X', marks: [{ type: 'bold' }] },
    { type: 'hardBreak' },
    { type: 'text', text: 'Y alpha' },
  ])
  same(t, room)
})

t.test(
  'Enter in a block that a program moves keeps the second half beside the old place, and the ids apart',
  async (t) => {
    const room = opened()
    const [anna] = room.editors as [Editor, Editor]
    room.write(moveToEnd)
    room.flush()
    change(anna, (transform) => transform.split(4))
    room.settle()
    t.strictSame(room.body.content.map(allText).sort(), [' alpha', 'one', 'three', 'two beta'])
    same(t, room)
  },
)

t.test('two processes that repair the same state make the same ids', async (t) => {
  const room = opened()
  const [anna] = room.editors as [Editor, Editor]
  change(anna, (transform) => transform.split(4).split(2))
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(anna.doc))
  const [left, right] = [anna.doc, copy].map((doc) =>
    repairDocument(readDocument(bodyFragment(doc)).document, 'doc_1@7'),
  )
  t.strictSame(left, right)
})

/** Makes a change as a stock Tiptap editor does: in its own document, from which the Y document is updated. */
function change(editor: Editor, make: (transform: Transform) => unknown): void {
  const fragment = bodyFragment(editor.doc)
  const { doc, meta } = initProseMirrorDoc(fragment, bodySchema) as {
    doc: Node
    meta: Parameters<typeof updateYFragment>[3]
  }
  const transform = new Transform(doc)
  make(transform)
  updateYFragment(editor.doc, fragment, transform.doc, meta)
}

function opened(): Room {
  const content = [paragraph(1, 'one alpha'), paragraph(2, 'two beta'), paragraph(3, 'three')]
  return new Room(normalised({ type: 'doc', content }), 2)
}

function same(t: Test, room: Room): void {
  const ids = blocksOf(room.body as BodyNode).map(({ node }) => node.attrs?.id)
  t.equal(new Set(ids).size, ids.length, 'every id is there once')
  for (const { body } of room.editors) t.strictSame(body, room.body)
}
