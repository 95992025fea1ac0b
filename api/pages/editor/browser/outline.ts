import type { Editor } from '@tiptap/core'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { scrollToBlock } from './block-window.ts'

type Heading = { id: string; text: string; level: number }

// The pause after a change, in milliseconds, until the outline follows.
const pauseMs = 300

/** Makes the list of the document's headings, which follows the document. A heading in the list leads to its text. */
export function createOutline(editor: Editor): HTMLElement {
  const outline = document.createElement('nav')
  outline.className = 'contents'
  outline.setAttribute('aria-label', 'Contents')
  let shown = ''
  const update = () => {
    const headings = headingsOf(editor.state.doc)
    const now = JSON.stringify(headings)
    outline.hidden = headings.length < 2
    if (now === shown) return
    shown = now
    const list = document.createElement('ol')
    list.append(...headings.map((heading) => line(editor, heading)))
    outline.replaceChildren(list)
  }
  let timer = 0
  editor.on('update', () => {
    clearTimeout(timer)
    timer = window.setTimeout(update, pauseMs)
  })
  update()
  return outline
}

/** Shows the block that the address of the page names behind its `#`, also when the address changes. */
export function showNamedBlocks(editor: Editor): void {
  // The ids of blocks need no escapes, so the address is taken as it is.
  const show = () => location.hash !== '' && scrollToBlock(editor.view, location.hash.slice(1))
  addEventListener('hashchange', show)
  show()
}

function headingsOf(doc: DocumentNode): Heading[] {
  return doc.content.content.flatMap((node) => {
    const { id, level } = node.attrs
    const isNamed = node.type.name === 'heading' && node.textContent.trim() !== ''
    return isNamed ? [{ id: String(id), level: Number(level), text: node.textContent }] : []
  })
}

function line(editor: Editor, { id, text, level }: Heading): HTMLLIElement {
  const item = document.createElement('li')
  item.className = `rank-${Math.min(level + 1, 4)}`
  const link = document.createElement('a')
  link.href = `#${id}`
  link.dir = 'auto'
  link.textContent = text
  // The address may name this heading already, and then it does not change.
  link.addEventListener('click', () => scrollToBlock(editor.view, id))
  item.append(link)
  return item
}
