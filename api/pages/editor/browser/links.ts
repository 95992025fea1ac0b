import { type Editor, Extension, getMarkRange } from '@tiptap/core'
import { Plugin } from '@tiptap/pm/state'
import { isAllowedHref } from '../../../../shared/body/addresses.ts'
import { ask } from './ask.ts'
import { openableAddress, storedAddress } from './link-addresses.ts'

/**
 * Mod-k asks for the address of a link, as the button of the toolbar does. A click with Control or Command opens a link
 * in a new tab, since a plain click sets the caret. Links are those of the document `documentId`.
 */
export const Links = Extension.create<{ documentId: string }>({
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
 * the address becomes the text.
 */
export async function editLink(editor: Editor): Promise<void> {
  if (!editor.isEditable || !editor.schema.marks['link']) return
  const before: unknown = editor.getAttributes('link')['href']
  const href = typeof before === 'string' ? before : ''
  const answer = await ask({
    title: href === '' ? 'Add a link' : 'Change the link',
    label: 'Address',
    value: href,
    submit: href === '' ? 'Add' : 'Change',
    ...(href !== '' && { remove: 'Remove the link' }),
    // Programs can write any address into a live document.
    ...(isAllowedHref(href) && { open: openableAddress(href, documentIdOf(editor)) }),
  })
  editor.commands.focus()
  if (answer === null || !editor.isEditable) return
  const chain = editor.chain().extendMarkRange('link')
  if (answer.trim() === '') {
    chain.unsetLink().run()
    return
  }
  const address = storedAddress(fullAddress(answer.trim()))
  if (!isAllowedHref(address)) return
  const { empty, $from } = editor.state.selection
  const isWithin = getMarkRange($from, editor.schema.marks['link']) !== undefined
  if (empty && !isWithin)
    chain.insertContent({ type: 'text', text: address, marks: [{ type: 'link', attrs: { href: address } }] }).run()
  else chain.setLink({ href: address }).run()
}

function documentIdOf(editor: Editor): string {
  const { options } = editor.extensionManager.extensions.find(({ name }) => name === 'links') ?? {}
  return (options as { documentId: string }).documentId
}

// People leave out the scheme of an address.
function fullAddress(answer: string): string {
  return /^[\w-]+(\.[\w-]+)+([/?#:]|$)/.test(answer) ? `https://${answer}` : answer
}
