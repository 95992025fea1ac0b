import type { AlignType, PhrasingContent, RootContent, TableCell } from 'mdast'
import { maximumNodes } from '../body-limits.ts'
import type { BodyNode } from '../document.ts'
import { isTextblock } from '../nodes.ts'
import { type ExportContext, exportImage, exportInline, inside, warn } from './export-inline.ts'

/**
 * Writes a table as a GFM table: one line for each row, the first row as the header, and one paragraph in each cell.
 */
export function exportTable(node: BodyNode, context: ExportContext): RootContent[] {
  const rows = node.content ?? []
  const width = rows.reduce((most, row) => Math.max(most, row.content?.length ?? 0), 0)
  if (width * rows.length > maximumNodes) return exportNarrowTable(rows, context)
  warnShape(rows, context)
  const align = columnAlignment(rows)
  const children = rows.map((row) => ({
    type: 'tableRow' as const,
    children: (row.content ?? []).map((cell, column) => exportCell(cell, align[column] ?? null, context)),
  }))
  return [{ type: 'table', align, children }]
}

// Markdown fills each row up to the longest row. With a few long rows among many rows, the text would be larger than
// any body may be.
function exportNarrowTable(rows: BodyNode[], context: ExportContext): RootContent[] {
  warn(context, 'table_flattened', 'A table with rows of very different lengths is written with one cell a row.')
  const children = rows.map((row) => {
    const lines = (row.content ?? []).flatMap((cell) => (cell.content ?? []).map((block) => ({ cell, block })))
    const written = lines.map(({ cell, block }) => exportLine(block, inside(context, cell, 'cell')))
    return { type: 'tableRow' as const, children: [{ type: 'tableCell' as const, children: joined(written) }] }
  })
  return [{ type: 'table', align: [null], children }]
}

function exportCell(cell: BodyNode, align: AlignType, context: ExportContext): TableCell {
  const own = inside(context, cell, 'cell')
  if (cell.attrs?.colspan !== undefined || cell.attrs?.rowspan !== undefined) {
    warn(own, 'table_flattened', 'Merged cells are written as single ones.')
  }
  if (cell.attrs?.colwidth !== undefined) warn(own, 'attrs_dropped', 'The width of a column is left out.')
  const blocks = cell.content ?? []
  if (blocks.length !== 1 || blocks[0]?.type !== 'paragraph') {
    warn(own, 'table_flattened', 'The blocks of a cell are joined into one line.')
  }
  for (const block of blocks) {
    if (block.attrs?.textAlign != null && block.attrs.textAlign !== align) {
      warn(own, 'attrs_dropped', 'The alignment of a text is left out.')
    }
  }
  return { type: 'tableCell', children: joined(blocks.map((block) => exportLine(block, own))) }
}

// A cell of a Markdown table has one line. The texts and images of all blocks in the cell are written on this line.
function exportLine(block: BodyNode, context: ExportContext): PhrasingContent[] {
  if (block.type === 'image') return [exportImage(block, context)]
  if (block.type === 'codeBlock') {
    const value = (block.content ?? []).map((child) => child.text ?? '').join('')
    return joined(value.split(/\r\n?|\n/).map(codeLine))
  }
  if (isTextblock(block.type)) return exportInline(block.content, context)
  const verbatim = block.attrs?.latex ?? block.attrs?.html
  if (typeof verbatim === 'string') return verbatim === '' ? [] : [{ type: 'text', value: verbatim }]
  return joined((block.content ?? []).map((child) => exportLine(child, context)))
}

// Code in a cell cannot contain a backslash before a bar, so such code is written as text.
function codeLine(value: string): PhrasingContent[] {
  if (value === '') return []
  return [{ type: value.includes('\\|') ? 'text' : 'inlineCode', value }]
}

function joined(lines: PhrasingContent[][]): PhrasingContent[] {
  const filled = lines.filter((line) => line.length > 0)
  return filled.flatMap((line, index) => (index === 0 ? line : [{ type: 'html', value: '<br>' }, ...line]))
}

// A column is aligned if all its cells have the same alignment. The alignment of a Markdown column is kept on the
// paragraphs of its cells.
function columnAlignment(rows: BodyNode[]): AlignType[] {
  const width = rows[0]?.content?.length ?? 0
  return Array.from({ length: width }, (_, column) => {
    const values = new Set(rows.map((row) => row.content?.[column]?.content?.[0]?.attrs?.textAlign ?? null))
    const [value] = values
    return values.size === 1 && (value === 'left' || value === 'center' || value === 'right') ? value : null
  })
}

function warnShape(rows: BodyNode[], context: ExportContext): void {
  const isHeader = (cell: BodyNode) => cell.type === 'tableHeader'
  const [first, ...rest] = rows.map((row) => row.content ?? [])
  if (!first?.every(isHeader) || rest.some((cells) => cells.some(isHeader))) {
    warn(context, 'table_flattened', 'The first row, and no other cell, becomes the header of the table.')
  }
  if (rest.some((cells) => cells.length !== first?.length)) {
    warn(context, 'table_flattened', 'Rows of different lengths are filled up with empty cells.')
  }
}
