import type { Editor } from '@tiptap/core'
import type { BodyNode } from '../../shared/body/document.ts'
import { node, p } from '../document/build.ts'
import { normalised } from '../document/yjs/random-body.ts'
import { Room } from '../document/yjs/room.ts'
import { headlessEditor } from '../support/headless-editor.ts'
import { t } from '../support/tap.ts'

const cell = () => node('tableCell', {}, p())
const row = () => node('tableRow', {}, cell(), cell())

function exchange(room: Room): void {
  for (const editor of room.editors) room.deliver(editor)
  for (const editor of room.editors) editor.receive()
}

t.test('two people who add rows and columns at once get the table that both expect', (t) => {
  const links: [string, (room: Room) => void][] = [
    ['at once', (room) => room.settle()],
    ['without a save between them', exchange],
    ['when each has written everything', () => undefined],
  ]
  for (const [name, link] of links) {
    for (const caret of [4, 8]) {
      const room = new Room(normalised({ type: 'doc', content: [node('table', {}, row(), row())] }), 2)
      const [anna, ben] = room.editors.map(({ doc }) => headlessEditor(doc)) as [Editor, Editor]
      anna.commands.setTextSelection(caret)
      ben.commands.setTextSelection(4)
      for (let count = 0; count < 10; count += 1) {
        anna.commands.addColumnAfter()
        if (count % 3 === 0) link(room)
        ben.commands.addRowAfter()
        if (count % 4 === 0) link(room)
      }
      room.settle()
      const widths = (table: BodyNode | undefined) => table?.content?.map(({ content }) => content?.length)
      t.same(widths(room.body.content[0]), new Array(12).fill(12), `${name}, from ${caret}`)
      t.same(widths(anna.state.doc.toJSON().content[0]), new Array(12).fill(12), `${name}, as both see it`)
    }
  }
  t.end()
})
