import type { Node } from '@tiptap/core'
import { Table, TableCell, TableHeader, TableRow, TableView } from '@tiptap/extension-table'
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
  bodyNode(Table).configure({ HTMLAttributes: { dir: 'auto' }, View: ScrollingTable }),
  bodyNode(TableRow),
  bodyNode(TableCell),
  bodyNode(TableHeader),
]
