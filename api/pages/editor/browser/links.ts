import { type Editor, Extension, getMarkRange } from '@tiptap/core'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { Plugin } from '@tiptap/pm/state'
import { isAllowedHref } from '../../../../shared/body/addresses.ts'
import { ask } from './ask.ts'
import { KeptPlace } from './insertion.ts'
import { openableAddress, storedAddress } from './link-addresses.ts'
import type { Warn } from './status-line.ts'

type LinkOptions = { documentId: string; warn: Warn }

/**
 * Mod-k asks for the address of a link, as the button of the toolbar does. A click with Control or Command opens a link
 * in a new tab, since a plain click sets the caret. Links are those of the document `documentId`.
 */
export const Links = Extension.create<LinkOptions>({
  name: 'links',
  addKeyboardShortcuts() {
    return {
      'Mod-k': () => {
        void editLink(this.editor)
        return true
      },
    }
  },
  addProseMirrorPlugins() {
    return [
      new Plugin({
        props: {
          handleClick(view, _position, { target, ctrlKey, metaKey }) {
            const link = target instanceof Element ? target.closest('a[href]') : null
            if (!(link instanceof HTMLAnchorElement) || !view.editable || !(ctrlKey || metaKey)) return false
            window.open(link.href, '_blank', 'noopener,noreferrer')
            return true
          },
        },
      }),
    ]
  },
})

/**
 * Asks for the address of the link at the selection, and makes, changes or removes the link. Without a selected text
 * the address becomes the text. What others change meanwhile stays, and an address that is not taken is shown.
 */
export async function editLink(editor: Editor): Promise<void> {
  if (!editor.isEditable || !editor.schema.marks['link']) return
  const { documentId, warn } = optionsOf(editor)
  const { from, to } = linkedRange(editor)
  const href = addressIn(editor.state.doc, { from, to })
  const places = [from, to].map((position) => new KeptPlace(editor, position))
  const answer = await ask({
    title: href === '' ? 'Add a link' : 'Change the link',
    label: 'Address',
    value: href,
    submit: href === '' ? 'Add' : 'Change',
    ...(href !== '' && { remove: 'Remove the link' }),
    // Programs can write any address into a live document.
    ...(isAllowedHref(href) && { open: openableAddress(href, documentId) }),
  })
  const [begin = from, end = to] = places.map(({ position }) => position)
  for (const place of places) place.forget()
  editor.commands.focus()
  if (answer === null || answer === href) return
  const range = { from: begin, to: end }
  const isGone = from < to && (begin === end || addressIn(editor.state.doc, range) !== href)
  if (isGone || !editor.isEditable)
    return warn('Somebody else has changed this text meanwhile. Your address was not put there:', { quote: answer })
  const chain = editor.chain().setTextSelection(range)
  if (answer.trim() === '') {
    chain.unsetLink().run()
    return
  }
  const address = storedAddress(fullAddress(answer.trim()))
  if (!isAllowedHref(address)) return warn('A link cannot have this address:', { quote: answer })
  const text = { type: 'text', text: address, marks: [{ type: 'link', attrs: { href: address } }] }
  if (begin === end) chain.insertContent(text).run()
  else chain.setLink({ href: address }).run()
}

// The whole link around the selection, or what is selected.
function linkedRange({ state, schema }: Editor): { from: number; to: number } {
  const { $from, from, to } = state.selection
  const link = schema.marks['link'] && getMarkRange($from, schema.marks['link'])
  return link && link.from <= from && link.to >= to ? link : { from, to }
}

// The address of the first link in a range; empty without a link.
function addressIn(doc: DocumentNode, { from, to }: { from: number; to: number }): string {
  let found = ''
  doc.nodesBetween(from, to, ({ marks }) => {
    const href: unknown = marks.find(({ type }) => type.name === 'link')?.attrs['href']
    if (found === '' && typeof href === 'string') found = href
  })
  return found
}

function optionsOf(editor: Editor): LinkOptions {
  return editor.extensionManager.extensions.find(({ name }) => name === 'links')?.options
}

// People leave out the scheme of an address.
function fullAddress(answer: string): string {
  return /^[\w-]+(\.[\w-]+)+([/?#:]|$)/.test(answer) ? `https://${answer}` : answer
}
