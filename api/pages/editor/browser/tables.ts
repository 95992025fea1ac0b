import type { Editor, Node } from '@tiptap/core'
import { Table, TableCell, TableHeader, TableRow, TableView } from '@tiptap/extension-table'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import type { Plugin } from '@tiptap/pm/state'
import { TableMap } from '@tiptap/pm/tables'
import { bodyNode } from './body-schema.ts'
import { afterOwnChanges } from './own-changes.ts'

// A wide table scrolls by itself. The keys that scroll need a stop in the table for people who cannot write in it.
class ScrollingTable extends TableView {
  constructor(...options: ConstructorParameters<typeof TableView>) {
    super(...options)
    this.dom.tabIndex = 0
    this.dom.dir = 'auto'
    this.dom.setAttribute('role', 'group')
    this.dom.setAttribute('aria-label', 'Table')
  }
}

/** Tables, whose cells hold blocks. A table has the direction of its first letter. */
export const tables: Node[] = [
  bodyNode(Table)
    .configure({ View: ScrollingTable })
    .extend({
      // A table whose rows have different lengths gets the missing cells from a plugin. When others add a row and a
      // column at once, each editor would add cells of its own. So the editor repairs only what it has broken, and the
      // service makes all other tables whole when it stores them.
      addProseMirrorPlugins() {
        return (this.parent?.() ?? []).map(afterOwnChanges).map(ofWholeTables)
      },
      addKeyboardShortcuts() {
        return {
          ...this.parent?.(),
          ArrowUp: ({ editor }) => leaveTable(editor, 'up'),
          ArrowDown: ({ editor }) => leaveTable(editor, 'down'),
          // Chromium takes the text before a table with empty cells for the end of the document.
          'Control-Home': ({ editor }) => editor.commands.focus('start'),
          'Control-End': ({ editor }) => editor.commands.focus('end'),
        }
      },
    }),
  bodyNode(TableRow),
  bodyNode(TableCell),
  bodyNode(TableHeader),
]

function ofWholeTables(plugin: Plugin): Plugin {
  const { appendTransaction } = plugin.spec
  if (appendTransaction === undefined) return plugin
  plugin.spec.appendTransaction = (transactions, before, state) => {
    const repair = appendTransaction.call(plugin, transactions, before, state)
    return repair?.docChanged && hasBrokenTable(before.doc) ? null : repair
  }
  return plugin
}

function hasBrokenTable(doc: DocumentNode): boolean {
  let isBroken = false
  doc.descendants((node) => {
    if (node.type.name === 'table') isBroken ||= (TableMap.get(node).problems ?? []).length > 0
    return !isBroken && !node.isTextblock
  })
  return isBroken
}

// Where nothing stands before or behind a table, the arrow that leads out of the table makes a paragraph there. Without
// a mouse, nobody could write there otherwise.
function leaveTable({ state, view, commands }: Editor, direction: 'up' | 'down'): boolean {
  const { $head, empty } = state.selection
  let depth = $head.depth
  while (depth > 0 && $head.node(depth).type.name !== 'table') depth -= 1
  if (depth === 0 || !empty || !view.endOfTextblock(direction)) return false
  // The table within the block around it, the row within the table, and everything within the cell.
  const withinCell = Array.from({ length: $head.depth - depth - 2 }, (_, index) => depth + 2 + index)
  const isEdge = [depth - 1, depth, ...withinCell].every((level) => {
    const edge = direction === 'up' ? 0 : $head.node(level).childCount - 1
    return $head.index(level) === edge
  })
  if (!isEdge) return false
  const at = direction === 'up' ? $head.before(depth) : $head.after(depth)
  return commands.insertContentAt(at, { type: 'paragraph' }) && commands.setTextSelection(at + 1)
}
