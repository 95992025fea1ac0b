import type { Editor } from '@tiptap/core'
import type { BodyNode } from '../../shared/body/document.ts'
import { isTextblock } from '../../shared/body/nodes.ts'
import { p } from '../document/build.ts'
import { blocksOf, normalised } from '../document/yjs/random-body.ts'
import { allText, Room, type WritableBody } from '../document/yjs/room.ts'
import { headlessEditor } from '../support/headless-editor.ts'
import { t } from '../support/tap.ts'

/*
 * A person composes a letter, as keyboards of phones and of East Asian scripts do, while others change the same block.
 */

const changes: [name: string, change: (body: WritableBody) => void, expected: string[]][] = [
  ['edit a word before it', (body) => retext(body, 1, ['two', 'TWO']), ['first', 'one TWO日本']],
  ['edit the first word', (body) => retext(body, 1, ['one', 'ONE']), ['first', 'ONE two日本']],
  ['write behind it', (body) => retext(body, 1, ['にほ', 'にほ three']), ['first', 'one two日本 three']],
  ['make it a heading', (body) => retype(body, 1), ['first', 'one two日本']],
  ['move it', (body) => body.content.reverse(), ['one two日本', 'first']],
  ['delete it', (body) => body.content.splice(1, 1), ['first', '日本']],
  ['change another block', (body) => retext(body, 0, ['first', 'FIRST']), ['FIRST', 'one two日本']],
  ['write a block before it', (body) => body.content.splice(1, 0, p('between')), ['first', 'between', 'one two日本']],
]

t.test('a composition stays whole, and so does what others write meanwhile', async (t) => {
  for (const [name, change, expected] of changes) {
    const room = new Room(normalised({ type: 'doc', content: [p('first'), p('one two')] }), 1)
    const editor = headlessEditor((room.editors[0] as Room['editors'][number]).doc)
    const shown = () => editor.state.doc.children.at(-1)?.textContent
    const view = editor.view as unknown as { composing: boolean; dom: EventTarget }
    editor.commands.setTextSelection(editor.state.doc.content.size - 1)
    view.composing = true
    compose(editor, 0, 'にほ')
    room.settle()
    room.write(change)
    room.settle()
    const isNear = !/another|before it$/.test(name) || name.startsWith('edit')
    if (isNear) t.equal(shown(), 'one twoにほ', `${name}: the composition goes on`)
    compose(editor, 2, 'にほん')
    compose(editor, 3, '日本')
    view.composing = false
    view.dom.dispatchEvent(new Event('compositionend'))
    await new Promise((resolve) => setTimeout(resolve, 80))
    room.settle()
    const texts = blocksOf(room.body as BodyNode).filter(({ node }) => isTextblock(node.type))
    t.same(
      texts.map(({ node }) => allText(node)),
      expected,
      name,
    )
    t.same(
      editor.state.doc.children.map(({ textContent }) => textContent),
      expected,
      `${name}, as the page shows it`,
    )
    editor.view.dispatch(editor.state.tr.insertText('!'))
    room.settle()
    if (name !== 'delete it') t.match(allText(room.body), '日本!', `${name}: the caret stays behind the composition`)
  }
})

// Replaces so many letters before the caret.
function compose(editor: Editor, letters: number, text: string): void {
  const { from } = editor.state.selection
  editor.view.dispatch(editor.state.tr.insertText(text, from - letters, from))
}

function retype(body: WritableBody, index: number): void {
  const block = body.content[index]
  if (block) Object.assign(block, { type: 'heading', attrs: { ...block.attrs, level: 2 } })
}

// Changes words of a block by hand, as a program that has read the letters composed so far.
function retext(body: WritableBody, index: number, change: [from: string, to: string]): void {
  const part = body.content[index]?.content?.[0]
  if (part) part.text = part.text?.replace(...change)
}
