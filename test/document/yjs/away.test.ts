import * as Y from 'yjs'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { bodyFragment } from '../../../shared/body/yjs/encoding.ts'
import { compact } from '../../../shared/body/yjs/state.ts'
import { t } from '../../support/tap.ts'
import { paragraph } from './blocks.ts'
import { blocksOf, idFrom, normalised } from './random-body.ts'
import { blockOf, type Editor, moveToEnd, Room } from './room.ts'

const [first, second] = [idFrom(1), idFrom(2)]

t.test('two tabs of one person write into one document, and each tab keeps its own undo', async (t) => {
  const room = opened()
  const [left, right] = room.editors as [Editor, Editor]
  const undo = new Y.UndoManager(bodyFragment(left.doc))
  left.text(first).insert(0, 'L')
  right.text(first).insert(0, 'R')
  room.settle()
  t.match(room.textOf(first), /^(LR|RL)one$/)
  undo.undo()
  room.settle()
  t.equal(room.textOf(first), 'Rone')
})

t.test('an editor that was away for hours loses nothing when the log was folded meanwhile', async (t) => {
  const room = opened()
  const [away, present] = room.editors as [Editor, Editor]
  away.text(first).insert(3, ' typed in the train')
  const folded: Uint8Array[] = []
  for (let hour = 0; hour < 300; hour++) {
    present.text(second).insert(0, `${hour % 10}`)
    present.text(second).delete(1, present.text(second).length - 1)
    room.settle()
    folded.push(Y.encodeStateAsUpdate(room.shadow))
  }
  // A process that opens the document later knows only the folded state.
  const reopened = new Room(room.body, 1, compact(folded.at(-1) as Uint8Array, []))
  reopened.rescue.apply(Y.encodeStateAsUpdate(away.doc, Y.encodeStateVector(reopened.live)), reopened.editors[0])
  reopened.settle()
  t.equal(reopened.textOf(first), 'one typed in the train')
  t.equal(reopened.textOf(second), '9')
  t.strictSame(reopened.lost, [])
})

t.test(
  'thousands of updates of an editor that was away come as one update, also into a block that moved',
  async (t) => {
    const room = opened()
    const [away] = room.editors as [Editor, Editor]
    let want = 'one'
    for (let index = 0; index < 3000; index++) {
      const place = (index * 7) % (want.length + 1)
      const letter = 'abcdefghij'.charAt(index % 10)
      away.text(first).insert(place, letter)
      want = want.slice(0, place) + letter + want.slice(place)
      if (index % 5 === 0) {
        away.text(first).delete(0, 1)
        want = want.slice(1)
      }
    }
    room.write(moveToEnd)
    room.flush()
    room.reconnect(away)
    room.settle()
    t.equal(room.textOf(first), want)
  },
)

t.test('a rollback while somebody types takes back the old words and keeps the new', async (t) => {
  const room = opened()
  const [anna] = room.editors as [Editor, Editor]
  const before = room.body
  room.write((body) => {
    const block = blockOf(body, first)
    block.content = [{ type: 'text', text: 'one and all the rest' }]
    body.content.splice(1, 1)
  })
  room.settle()
  anna.text(first).insert(0, 'new ')
  room.body = before
  const finish = room.beginFlush()
  anna.text(first).insert(4, 'words ')
  room.deliver(anna)
  finish()
  room.settle()
  t.equal(room.textOf(first), 'new words one')
  t.equal(room.textOf(second), 'two')
})

t.test('undo after a program moved the block brings nothing back twice, and later undo works', async (t) => {
  const room = opened()
  const [anna] = room.editors as [Editor, Editor]
  const undo = new Y.UndoManager(bodyFragment(anna.doc), { captureTimeout: 0 })
  anna.text(first).insert(3, ' typed')
  anna.text(first).delete(0, 1)
  room.settle()
  room.write(moveToEnd)
  room.settle()
  anna.text(second).insert(0, 'X')
  undo.undo()
  room.settle()
  t.equal(room.textOf(second), 'two', 'the newest change is undone')
  undo.undo()
  undo.undo()
  room.settle()
  t.equal(room.textOf(first), 'ne typed', 'what moved away stays as it is')
  t.equal(room.body.content.length, 3)
})

t.test('undo after a PUT replaced the body takes back only what the person typed', async (t) => {
  const room = opened()
  const [anna] = room.editors as [Editor, Editor]
  const undo = new Y.UndoManager(bodyFragment(anna.doc), { captureTimeout: 0 })
  anna.text(first).insert(3, ' typed')
  room.settle()
  room.body = body(paragraph(11, 'one typed words of a program'), paragraph(12, 'two'), paragraph(13, 'three'))
  room.settle()
  undo.undo()
  room.settle()
  t.equal(room.textOf(idFrom(11)), 'one words of a program')
  t.equal(room.textOf(idFrom(12)), 'two')
})

t.test('undo of a drag that a program has followed by a move leaves each block id once', async (t) => {
  const room = opened()
  const [anna] = room.editors as [Editor, Editor]
  const undo = new Y.UndoManager(bodyFragment(anna.doc), { captureTimeout: 0 })
  anna.doc.transact(() => {
    const copy = anna.block(first).clone()
    bodyFragment(anna.doc).delete(0, 1)
    bodyFragment(anna.doc).insert(1, [copy])
  })
  room.settle()
  room.write((body) => body.content.push(...body.content.splice(1, 1)))
  room.settle()
  undo.undo()
  room.settle()
  const ids = blocksOf(room.body as BodyNode).map(({ node }) => node.attrs?.id)
  t.equal(new Set(ids).size, ids.length)
  t.ok(ids.includes(first) && ids.includes(second))
})

function opened(): Room {
  return new Room(body(paragraph(1, 'one'), paragraph(2, 'two'), paragraph(3, 'three')), 2)
}

function body(...content: BodyNode[]): DocNode {
  return normalised({ type: 'doc', content })
}
