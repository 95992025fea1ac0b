import type { Node } from '@tiptap/core'
import { Details, DetailsContent, DetailsSummary } from '@tiptap/extension-details'
import { bodyNode } from './body-schema.ts'

/**
 * Text that opens and closes. Opening it is a matter of the reader's page. It changes nothing in the document, whose
 * attribute `open` says how the text is shown at first.
 */
export const details: Node[] = [
  bodyNode(Details).extend({ addNodeView: () => detailsView }),
  bodyNode(DetailsSummary),
  bodyNode(DetailsContent).extend({ addNodeView: () => null as never }),
]

function detailsView({ node }: { node: { attrs: { [name: string]: unknown } } }) {
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
  setOpen(node.attrs['open'] === true)
  button.addEventListener('click', () => setOpen(!dom.classList.contains('is-open')))
  dom.append(button, contentDOM)
  const type = (node as { type?: unknown }).type
  return {
    dom,
    contentDOM,
    ignoreMutation: (mutation: { type: string; target: globalThis.Node }) =>
      mutation.type !== 'selection' && !contentDOM.contains(mutation.target),
    update: (updated: { type: unknown }) => updated.type === type,
  }
}
