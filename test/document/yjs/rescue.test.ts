import * as Y from 'yjs'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { bodyFragment, readDocument, readElement, writeNode } from '../../../shared/body/yjs/encoding.ts'
import { TextRescue } from '../../../shared/body/yjs/rescue.ts'
import { deriveState, openState } from '../../../shared/body/yjs/state.ts'
import { t } from '../../support/tap.ts'
import { bulletList, listItem, paragraph } from './blocks.ts'
import { idFrom, normalised } from './random-body.ts'
import { allText, blockOf, type Editor, elementsWithId, moveToEnd, Room } from './room.ts'

const [first, second, third] = [idFrom(1), idFrom(2), idFrom(3)]

t.test('text typed while a program moves the block goes along, in the order in which it was typed', async (t) => {
  const room = opened()
  const [anna, ben] = editorsOf(room)
  room.write(moveToEnd)
  room.flush()
  // Anna has not seen the move.
  anna.text(first).insert(3, 'X')
  room.deliver(anna)
  anna.text(first).insert(4, 'Y')
  anna.text(first).insert(0, 'Z')
  room.deliver(anna)
  room.settle()
  t.equal(room.textOf(first), 'ZoneXY alpha')
  t.strictSame(room.lost, [])
  t.strictSame(ben.body, room.body)
})

t.test('many removed blocks of one id cost hardly more than a single one when a long block takes their place', (t) => {
  const costOf = (blocks: number) => {
    const doc = new Y.Doc()
    const rescue = new TextRescue(doc, { sourceOf: () => 'editor', origin: 'rescue' })
    const editor = new Y.Doc()
    editor.on('update', (update: Uint8Array) => rescue.apply(update, 'editor'))
    const fragment = bodyFragment(editor)
    const paragraphs = Array.from({ length: blocks }, () => writeNode(paragraph(1, 'x')))
    fragment.insert(0, paragraphs)
    fragment.delete(0, blocks)
    const before = process.threadCpuUsage().user
    fragment.insert(0, [writeNode(paragraph(1, 'a word '.repeat(100_000)))])
    rescue.close()
    return process.threadCpuUsage().user - before
  }
  const [single, many] = [Math.min(costOf(1), costOf(1)), Math.min(costOf(500), costOf(500))]
  t.ok(many < 50 * single, `${many} µs against ${single} µs`)
  t.end()
})

t.test('text typed while a program changes the type of the block stays in the block', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write((body) => {
    Object.assign(blockOf(body, first), { type: 'heading', attrs: { id: first, level: 2 } })
  })
  room.flush()
  anna.text(first).insert(9, '!')
  room.deliver(anna)
  room.settle()
  t.equal(room.textOf(first), 'one alpha!')
  t.equal(room.block(first).type, 'heading')
})

t.test('text typed between the start of a flush and its end is not lost', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write(moveToEnd)
  const finish = room.beginFlush()
  anna.text(first).insert(3, 'X')
  room.deliver(anna)
  finish()
  room.settle()
  t.equal(room.textOf(first), 'oneX alpha')
})

t.test('what an editor types late and deletes again does not come back', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write(moveToEnd)
  room.flush()
  anna.text(first).insert(3, 'XY')
  anna.text(first).delete(3, 1)
  room.deliver(anna)
  anna.text(first).insert(4, 'Z')
  room.deliver(anna)
  anna.text(first).delete(3, 1)
  room.deliver(anna)
  room.settle()
  t.equal(room.textOf(first), 'oneZ alpha')
})

t.test('what an editor deletes late is deleted in the moved block', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write(moveToEnd)
  room.flush()
  anna.text(first).delete(0, 4)
  room.deliver(anna)
  room.settle()
  t.equal(room.textOf(first), 'alpha')
})

t.test('an editor that comes back after several moves brings its text along', async (t) => {
  const room = opened()
  const [anna, ben] = editorsOf(room)
  anna.text(first).insert(3, ' Q')
  anna.text(first).delete(0, 1)
  for (let turn = 0; turn < 3; turn++) {
    room.write(moveToEnd)
    room.flush()
  }
  room.reconnect(anna)
  room.settle()
  t.equal(room.textOf(first), 'ne Q alpha')
  t.strictSame(ben.body, room.body)
})

t.test('an editor that knows of the move deletes nothing by coming back', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write(moveToEnd)
  room.flush()
  anna.receive()
  anna.text(second).insert(0, 'N')
  room.reconnect(anna)
  room.settle()
  t.equal(room.textOf(first), 'one alpha')
  t.equal(room.textOf(second), 'Ntwo beta')
})

t.test('marks and nodes that are typed late keep their form', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write(moveToEnd)
  room.flush()
  const text = anna.text(first)
  text.insert(3, 'bold', { bold: {} })
  text.format(7, 6, { italic: {} })
  room.deliver(anna)
  anna.block(first).insert(1, [writeNode({ type: 'mention', attrs: { id: 'usr_1', label: 'Ann' } })])
  room.deliver(anna)
  room.settle()
  t.strictSame(room.block(first).content, [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'bold', marks: [{ type: 'bold' }] },
    { type: 'text', text: ' alpha', marks: [{ type: 'italic' }] },
    { type: 'mention', attrs: { id: 'usr_1', label: 'Ann' } },
  ])
})

t.test('a program that moves a block and changes its words leaves room for late text', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write((body) => {
    blockOf(body, first).content = [{ type: 'text', text: 'one gamma' }]
    moveToEnd(body)
  })
  room.flush()
  anna.text(first).insert(3, ' X')
  room.deliver(anna)
  anna.text(first).insert(anna.text(first).length, ' Y')
  room.deliver(anna)
  room.settle()
  t.equal(room.textOf(first), 'one X gamma Y')
})

t.test('late text of a block that became something without text stands behind it', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write((body) => {
    const at = body.content.findIndex((node) => node.attrs?.id === first)
    body.content.splice(at, 1, { type: 'horizontalRule', attrs: { id: first } })
  })
  room.flush()
  anna.text(first).insert(3, 'X')
  room.deliver(anna)
  anna.text(first).insert(4, 'Y')
  room.deliver(anna)
  room.settle()
  t.equal(room.block(first).type, 'horizontalRule')
  t.equal(allText(room.body.content[1] as BodyNode), 'XY')
})

t.test('text that arrives while a long move is under way waits for the new place of its block', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  const moved = new Room(room.body, 0, Y.encodeStateAsUpdate(room.live))
  const [block] = elementsWithId(bodyFragment(moved.live), first)
  const node = readElement(block as Y.XmlElement)
  // The removal and the insertion are two updates.
  const updates: Uint8Array[] = []
  moved.live.on('update', (update: Uint8Array) => updates.push(update))
  bodyFragment(moved.live).delete(0, 1)
  bodyFragment(moved.live).insert(2, [writeNode(node)])
  anna.text(first).insert(3, 'X')
  room.deliver(anna)
  room.rescue.apply(updates[0] as Uint8Array, 'stored')
  anna.text(first).insert(4, 'Y')
  room.deliver(anna)
  room.rescue.apply(updates[1] as Uint8Array, 'stored')
  anna.text(first).insert(5, 'Z')
  room.deliver(anna)
  t.equal(allText(readDocument(bodyFragment(room.live)).document as DocNode), 'two betaitem aitem boneXYZ alpha')
})

t.test('text in a block that a program deleted is gone with the block, and nobody is alarmed', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write((body) => {
    body.content.splice(0, 1)
  })
  room.flush()
  anna.text(first).insert(3, 'X')
  room.deliver(anna)
  room.settle()
  t.notMatch(allText(room.body), 'X')
  t.strictSame(room.lost, [])
})

t.test('a new item in a list that a program moves comes along with its text', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write((body) => body.content.unshift(...body.content.splice(2, 1)))
  room.flush()
  const item = { type: 'listItem', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'new' }] }] }
  anna.block(third).insert(1, [writeNode(item), writeNode(item)])
  room.deliver(anna)
  const text = ((anna.block(third).get(1) as Y.XmlElement).get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.insert(3, 'er')
  room.deliver(anna)
  room.settle()
  t.equal(allText(room.block(third)), 'item anewernewitem b')
})

t.test('a task that somebody checks while a program moves the list is checked', async (t) => {
  const task = (id: number, text: string): BodyNode => ({
    type: 'taskItem',
    attrs: { id: idFrom(id), checked: false },
    content: [paragraph(id + 1, text)],
  })
  const body = normalised({
    type: 'doc',
    content: [{ type: 'taskList', attrs: { id: first }, content: [task(10, 'a'), task(20, 'b')] }, paragraph(2, 'two')],
  })
  const room = new Room(body, 1)
  const [anna] = editorsOf(room)
  room.write(moveToEnd)
  room.flush()
  anna.block(idFrom(10)).setAttribute('checked', true as unknown as string)
  room.deliver(anna)
  room.settle()
  t.equal(room.block(idFrom(10)).attrs?.checked, true)
})

t.test('a new node in the middle of a text loses nothing that is typed in either half', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write((body) => {
    blockOf(body, first).content = [
      { type: 'text', text: 'one' },
      { type: 'hardBreak' },
      { type: 'text', text: ' alpha' },
    ]
  })
  room.flush()
  room.write((body) => {
    blockOf(body, first).content = [{ type: 'text', text: 'one alpha' }]
  })
  anna.receive()
  room.flush()
  anna.text(first).insert(1, 'X')
  ;(anna.block(first).get(2) as Y.XmlText).insert(3, 'Y')
  room.deliver(anna)
  room.settle()
  t.equal(room.textOf(first), 'oXne alYpha')
})

t.test('text for a block that nobody remembers is told to its editor', async (t) => {
  const room = opened()
  const [anna] = editorsOf(room)
  room.write(moveToEnd)
  room.flush()
  const reopened = new Room(room.body, 0, Y.encodeStateAsUpdate(room.shadow))
  anna.text(first).insert(3, 'lost words')
  reopened.rescue.apply(Y.encodeStateAsUpdate(anna.doc, Y.encodeStateVector(reopened.live)), anna)
  t.strictSame(reopened.lost, [{ block_id: null, text: 'lost words' }])
})

t.test(
  'text of an editor at another process moves along, put there by that process or, if it has left unheard, by this',
  (t) => {
    const one = paragraph(1, 'one')
    const list = bulletList(3, listItem(10, 'one'))
    const other = 'other'
    const moved = (steps: ('typed' | 'moved' | 'left' | 'heard' | 'joined')[], first = one) => {
      const body = normalised({ type: 'doc', content: [first, paragraph(2, 'two')] })
      const state = deriveState(body)
      const [live, mover, typist] = [openState(state), openState(state), openState(state)]
      const asked: string[] = []
      const sourceOf = (origin: unknown) => (origin === 'mover' ? 'editor' : { process: other })
      const onAwaited = (process: string) => asked.push(process)
      const rescue = new TextRescue(live, { sourceOf, origin: 'rescue', onAwaited })
      rescue.peerJoined(other)
      const element = bodyFragment(typist).get(0) as Y.XmlElement
      const item = first === list && writeNode(listItem(20, ' typed'))
      if (item) element.insert(1, [item])
      else (element.get(0) as Y.XmlText).insert(3, ' typed')
      const fragment = bodyFragment(mover)
      mover.transact(() => {
        fragment.delete(0, 1)
        fragment.insert(1, [writeNode(first)])
      })
      const [typed, move] = [typist, mover].map((doc) => Y.encodeStateAsUpdate(doc, Y.encodeStateVector(live)))
      for (const step of steps) {
        if (step === 'typed') rescue.apply(typed as Uint8Array, 'typist')
        if (step === 'moved') rescue.apply(move as Uint8Array, 'mover')
        if (step === 'heard') rescue.peerHeard(other)
        if (step === 'left') rescue.peerLeft(other)
        if (step === 'joined') rescue.peerJoined(other)
      }
      rescue.close()
      const text = allText({ type: 'doc', content: readDocument(bodyFragment(live)).document.content ?? [] })
      return [text, ...asked]
    }
    t.strictSame(moved(['typed', 'moved']), ['twoone', other], 'the other process puts its text there')
    t.strictSame(moved(['typed', 'left', 'moved']), ['twoone typed'])
    t.strictSame(moved(['typed', 'left', 'joined', 'moved']), ['twoone', other], 'not twice')
    t.strictSame(moved(['typed', 'moved', 'left']), ['twoone typed', other])
    t.strictSame(moved(['moved', 'typed', 'left']), ['twoone typed', other], 'typed before the process had heard')
    t.strictSame(moved(['moved', 'left', 'typed', 'left']), ['twoone typed', other], 'from a process that is gone')
    t.strictSame(moved(['typed', 'moved', 'left'], list), ['twoone typed', other], 'an item that came into a list')
    t.strictSame(moved(['typed', 'moved', 'heard', 'left']), ['twoone', other], 'the other process has put it there')
    t.end()
  },
)

function opened(): Room {
  const list = bulletList(3, listItem(10, 'item a'), listItem(20, 'item b'))
  const body = { type: 'doc', content: [paragraph(1, 'one alpha'), paragraph(2, 'two beta'), list] }
  return new Room(normalised(body), 2)
}

function editorsOf(room: Room): [Editor, Editor] {
  return room.editors as [Editor, Editor]
}
