import { type Editor, Extension } from '@tiptap/core'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { NodeSelection, Plugin, type Transaction } from '@tiptap/pm/state'
import { ask } from './ask.ts'

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
export const SourceEditing = Extension.create({
  name: 'sourceEditing',
  addKeyboardShortcuts() {
    return {
      Enter: () => {
        const { selection } = this.editor.state
        return selection instanceof NodeSelection && editSource(this.editor, selection.node, selection.from)
      },
    }
  },
  addProseMirrorPlugins() {
    const { editor } = this
    return [
      new Plugin({
        props: { handleDoubleClickOn: (_view, _at, node, position) => editSource(editor, node, position) },
      }),
    ]
  },
})

function editSource(editor: Editor, node: DocumentNode, position: number): boolean {
  const source = sources[node.type.name]
  if (source === undefined || !editor.isEditable) return false
  void change(editor, { source, node, position })
  return true
}

async function change(editor: Editor, place: { source: Source; node: DocumentNode; position: number }): Promise<void> {
  const { source, node, position } = place
  const { attribute, title, label, multiline } = source
  const before = String(node.attrs[attribute] ?? '')
  // Others may write meanwhile, so the place is kept as they leave it.
  let mapped = editor.utils.createMappablePosition(position)
  const follow = ({ transaction }: { transaction: Transaction }) => {
    mapped = editor.utils.getUpdatedPosition(mapped, transaction).position
  }
  editor.on('transaction', follow)
  const answer = await ask({ title, label, value: before, multiline, submit: 'Change' })
  editor.off('transaction', follow)
  editor.commands.focus()
  if (answer === null || answer === before) return
  const now = editor.state.doc.nodeAt(mapped.position)
  if (now?.type !== node.type) return
  editor.view.dispatch(editor.state.tr.setNodeAttribute(mapped.position, attribute, answer))
}
