import { attachmentIdOf, attachmentSrc } from './addresses.ts'
import type { Attrs, BodyNode, DocNode, Mark } from './document.ts'

/** Returns the address to which an address changes; undefined if it stays, and null if what it names is gone. */
export type AddressChange = (address: string) => string | null | undefined

/** A body with other addresses in its links, images and raw HTML. An image that is gone stays, empty. */
export function withAddresses(document: DocNode, change: AddressChange): DocNode {
  const copy = structuredClone(document)
  visit(copy, (node) => {
    for (const mark of node.marks ?? []) if (mark.type === 'link') changeLink(mark, change)
    const { html, src, attachmentId } = node.attrs ?? {}
    if (typeof html === 'string') node.attrs = { ...node.attrs, html: withHtmlAddresses(html, change) }
    const address = typeof attachmentId === 'string' ? attachmentSrc(attachmentId) : src
    const changed = typeof address === 'string' ? change(address) : undefined
    if (changed !== undefined) node.attrs = imageAt(node.attrs, changed)
  })
  return copy
}

// Raw HTML with other addresses in its attributes `src` and `href`.
function withHtmlAddresses(html: string, change: AddressChange): string {
  return html.replace(htmlAddress, (written, start: string, quoted: string) => {
    const quote = /^["']/.exec(quoted)?.[0] ?? ''
    const address = quoted.slice(quote.length, quoted.length - quote.length)
    const changed = change(address.replaceAll('&amp;', '&'))
    return changed == null ? written : `${start}"${changed.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`
  })
}

// No address is longer than 8,192 characters, and the search for the end of a value has to end.
const htmlAddress = /(\s(?:src|href)\s{0,20}=\s{0,20})("[^"]{0,8192}"|'[^']{0,8192}'|[^\s"'<>=`]{1,8192})/gi

function imageAt(attrs: Attrs | undefined, src: string | null): Attrs {
  return { ...attrs, src, attachmentId: src === null ? null : attachmentIdOf(src) }
}

function changeLink(link: Mark, change: AddressChange): void {
  const href = link.attrs?.['href']
  const changed = typeof href === 'string' ? change(href) : undefined
  if (changed != null) link.attrs = { ...link.attrs, href: changed }
}

function visit(node: DocNode | BodyNode, act: (node: BodyNode) => void): void {
  for (const child of node.content ?? []) {
    act(child)
    visit(child, act)
  }
}
