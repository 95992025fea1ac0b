import type { EditorView } from '@tiptap/pm/view'

/**
 * Lets the user copy a long document from outside its text, for instance with everything on the page. The browser
 * copies what is laid out, so the whole document is laid out for this moment. Copies from within the text are made of
 * the document itself.
 */
export function copyWholeDocument({ dom }: EditorView): void {
  document.addEventListener('copy', ({ target }) => {
    const isWithin = target instanceof Node && dom.contains(target)
    if (isWithin || !getSelection()?.containsNode(dom, true)) return
    dom.classList.add('whole')
    setTimeout(() => dom.classList.remove('whole'))
  })
}
