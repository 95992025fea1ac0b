import type { Editor, Node } from '@tiptap/core'
import { Details, DetailsContent, DetailsSummary } from '@tiptap/extension-details'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { bodyNode } from './body-schema.ts'

/**
 * Text that opens and closes. Opening it is a matter of the reader's page. It changes nothing in the document, whose
 * attribute `open` says how the text is shown at first.
 */
export const details: Node[] = [
  bodyNode(Details).extend({
    addNodeView: () => detailsView,
    addKeyboardShortcuts() {
      const stock = this.parent?.() ?? {}
      return { ...stock, Enter: (press) => enterEmptyContent(press.editor) || (stock['Enter']?.(press) ?? false) }
    },
  }),
  bodyNode(DetailsSummary),
  bodyNode(DetailsContent).extend({ addNodeView: () => null as never }),
]

// Enter in the summary leads to the text below while that text is empty. Otherwise it makes a new paragraph.
function enterEmptyContent(editor: Editor): boolean {
  const { $head } = editor.state.selection
  if ($head.parent.type.name !== 'detailsSummary') return false
  const first = editor.state.doc.nodeAt($head.after())?.firstChild
  if (!first?.isTextblock || first.content.size > 0) return false
  return editor.commands.setTextSelection($head.after() + 2)
}

function detailsView({ node }: { node: DocumentNode }) {
  const dom = document.createElement('div')
  const button = document.createElement('button')
  const contentDOM = document.createElement('div')
  dom.className = 'details'
  dom.dir = 'auto'
  button.type = 'button'
  button.contentEditable = 'false'
  const setOpen = (open: boolean) => {
    dom.classList.toggle('is-open', open)
    button.setAttribute('aria-expanded', String(open))
    button.setAttribute('aria-label', open ? 'Hide the details' : 'Show the details')
  }
  // Details that nobody has written yet are open, since their writer is about to go on.
  setOpen(node.attrs['open'] === true || node.lastChild?.textContent === '')
  button.addEventListener('click', () => setOpen(!dom.classList.contains('is-open')))
  dom.append(button, contentDOM)
  return {
    dom,
    contentDOM,
    ignoreMutation: (mutation: { type: string; target: globalThis.Node }) =>
      mutation.type !== 'selection' && !contentDOM.contains(mutation.target),
    update: (updated: DocumentNode) => updated.type === node.type,
  }
}
