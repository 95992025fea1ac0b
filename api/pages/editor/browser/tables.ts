import type { Node } from '@tiptap/core'
import { isChangeOrigin } from '@tiptap/extension-collaboration'
import { Table, TableCell, TableHeader, TableRow, TableView } from '@tiptap/extension-table'
import type { Plugin } from '@tiptap/pm/state'
import { bodyNode } from './body-schema.ts'

// A wide table scrolls by itself. The keys that scroll need a stop in the table for people who cannot write in it.
class ScrollingTable extends TableView {
  constructor(...options: ConstructorParameters<typeof TableView>) {
    super(...options)
    this.dom.tabIndex = 0
    this.dom.setAttribute('role', 'group')
    this.dom.setAttribute('aria-label', 'Table')
  }
}

/** Tables, whose cells hold blocks. A table has the direction of its first letter. */
export const tables: Node[] = [
  bodyNode(Table)
    .configure({ HTMLAttributes: { dir: 'auto' }, View: ScrollingTable })
    .extend({
      addProseMirrorPlugins() {
        return (this.parent?.() ?? []).map(afterOwnChanges)
      },
    }),
  bodyNode(TableRow),
  bodyNode(TableCell),
  bodyNode(TableHeader),
]

// A table whose rows have different lengths gets the missing cells from the plugin. When a row and a column are added at
// once, each editor would add cells of its own, so an editor does this only after a change of its own.
function afterOwnChanges(plugin: Plugin): Plugin {
  const { appendTransaction } = plugin.spec
  plugin.spec.appendTransaction = (transactions, before, state) =>
    transactions.every(isChangeOrigin) ? null : appendTransaction?.call(plugin, transactions, before, state)
  return plugin
}
