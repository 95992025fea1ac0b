import { type Editor, Extension } from '@tiptap/core'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { NodeSelection, Plugin } from '@tiptap/pm/state'
import { ask } from './ask.ts'
import { KeptPlace } from './insertion.ts'
import type { Warn } from './status-line.ts'

type Source = { attribute: string; title: string; label: string; multiline: boolean }

const formula = { attribute: 'latex', title: 'Change the formula', label: 'LaTeX', multiline: true }
const html = { attribute: 'html', title: 'Change the HTML', label: 'HTML' }
const picture = {
  attribute: 'alt',
  title: 'Describe the picture',
  label: 'For people who do not see it',
  multiline: false,
}

// The nodes that are written in a dialog, because they have no text of their own in the document.
const sources: { [type: string]: Source } = {
  blockMath: formula,
  inlineMath: formula,
  htmlBlock: { ...html, multiline: true },
  htmlInline: { ...html, multiline: false },
  frontmatter: { attribute: 'yaml', title: 'Change the properties', label: 'YAML', multiline: true },
  image: picture,
  inlineImage: picture,
}

/** A double click, or Enter on a selected node, opens the dialog in which the source of the node is written. */
export const SourceEditing = Extension.create<{ warn: Warn }>({
  name: 'sourceEditing',
  addKeyboardShortcuts() {
    return {
      Enter: () => {
        const { selection } = this.editor.state
        if (!(selection instanceof NodeSelection)) return false
        return editSource(this.editor, { node: selection.node, position: selection.from, ...this.options })
      },
    }
  },
  addProseMirrorPlugins() {
    const { editor, options } = this
    return [
      new Plugin({
        props: {
          handleDoubleClickOn: (_view, _at, node, position) => editSource(editor, { node, position, ...options }),
        },
      }),
    ]
  },
})

/** Asks for the language of the block of code around the selection, and sets it unless others have changed it. */
export async function chooseLanguage(editor: Editor): Promise<void> {
  const { $from } = editor.state.selection
  const { parent: code } = $from
  if (code.type.name !== 'codeBlock' || !editor.isEditable) return
  const place = new KeptPlace(editor, $from.start())
  const value = String(code.attrs['language'] ?? '')
  const answer = await ask({ title: 'Language of the code', label: 'Such as ts or python', value, submit: 'Set' })
  place.forget()
  editor.commands.focus()
  if (answer === null || answer.trim() === value) return
  const $now = editor.state.doc.resolve(place.position)
  if ($now.parent.sameMarkup(code) && editor.isEditable)
    editor.view.dispatch(editor.state.tr.setNodeAttribute($now.before(), 'language', answer.trim() || null))
  else
    optionsOf(editor).warn('Somebody else has changed this code meanwhile. It did not get the language:', {
      quote: answer,
    })
}

function optionsOf(editor: Editor): { warn: Warn } {
  return editor.extensionManager.extensions.find(({ name }) => name === 'sourceEditing')?.options
}

type Edited = { node: DocumentNode; position: number; warn: Warn }

function editSource(editor: Editor, edited: Edited): boolean {
  const source = sources[edited.node.type.name]
  if (source === undefined || !editor.isEditable) return false
  void change(editor, { source, ...edited })
  return true
}

async function change(editor: Editor, edited: Edited & { source: Source }): Promise<void> {
  const { source, node, position, warn } = edited
  const { attribute, title, label, multiline } = source
  const before = String(node.attrs[attribute] ?? '')
  // Others may write meanwhile, so the place is kept as they leave it.
  const place = new KeptPlace(editor, position)
  const answer = await ask({ title, label, value: before, multiline, submit: 'Change' })
  place.forget()
  editor.commands.focus()
  if (answer === null || answer === before) return
  const now = editor.state.doc.nodeAt(place.position)
  if (now?.sameMarkup(node) && editor.isEditable)
    editor.view.dispatch(editor.state.tr.setNodeAttribute(place.position, attribute, answer))
  else warn('Somebody else has changed this meanwhile. Your text was not put there:', { quote: answer })
}
