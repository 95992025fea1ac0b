import type { Attribute, Attributes, Mark } from '@tiptap/core'
import { Bold } from '@tiptap/extension-bold'
import { Code } from '@tiptap/extension-code'
import { Highlight } from '@tiptap/extension-highlight'
import { Italic } from '@tiptap/extension-italic'
import { Link } from '@tiptap/extension-link'
import { Strike } from '@tiptap/extension-strike'
import { Subscript } from '@tiptap/extension-subscript'
import { Superscript } from '@tiptap/extension-superscript'
import { TextStyle } from '@tiptap/extension-text-style'
import { Underline } from '@tiptap/extension-underline'
import { isAllowedHref } from '../../../../shared/body/addresses.ts'
import { bodyMark } from './body-schema.ts'
import { openableAddress, storedAddress } from './link-addresses.ts'
import { afterOwnChanges } from './own-changes.ts'

const link = Link.configure({
  openOnClick: false,
  defaultProtocol: 'https',
  isAllowedUri: (address) => isAllowedHref(address ?? ''),
  HTMLAttributes: { rel: 'noopener noreferrer nofollow', target: null },
}).extend({
  // An address that is typed becomes a link. An address that a document has when it is opened stays as it is.
  addProseMirrorPlugins() {
    return (this.parent?.() ?? []).map(afterOwnChanges)
  },
})

/** All marks of bodies, in the order of the table of the service. Links are those of the document `documentId`. */
export const marks = (documentId: string): Mark[] => [
  bodyMark(Bold),
  bodyMark(Italic),
  bodyMark(Strike),
  bodyMark(Code),
  bodyMark(Underline),
  bodyMark(Subscript),
  bodyMark(Superscript),
  bodyMark(Highlight.configure({ multicolor: true }), { color: coloured('background-color') }),
  bodyMark(TextStyle, { color: coloured('color') }).extend({
    // Text from elsewhere keeps its meaning, and not its colours, which were chosen for another page.
    parseHTML: () => [{ tag: 'span[data-color]', consuming: false }],
  }),
  bodyMark(link, ownLinkAttributes(documentId)),
]

// A colour that is shown if it is a colour: the text may come from anybody, and a style could also hide a page.
function coloured(property: 'color' | 'background-color'): Partial<Attribute> {
  return {
    parseHTML: (element) => element.getAttribute('data-color'),
    renderHTML({ color }) {
      if (typeof color !== 'string') return {}
      return CSS.supports('color', color)
        ? { 'data-color': color, style: `${property}: ${color}` }
        : { 'data-color': color }
    },
  }
}

// The attributes that a link has in the document. The page shows its own `rel`, opens no new windows, and shows links
// within the service as addresses that a browser can open.
function ownLinkAttributes(documentId: string): Attributes {
  const href: Partial<Attribute> = {
    parseHTML: (element) => storedAddress(element.getAttribute('href') ?? ''),
    renderHTML: ({ href }) => ({ href: openableAddress(String(href ?? ''), documentId) }),
  }
  return { target: { rendered: false }, rel: { rendered: false }, title: {}, href } as Attributes
}
