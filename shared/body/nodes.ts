import { type AttributeSpec, type MarkSpec, type NodeSpec, Schema } from 'prosemirror-model'
import {
  type Attribute,
  alignmentAttribute,
  columnWidths,
  flag,
  integerAttribute,
  oneOf,
  optionalCaption,
  optionalSize,
  optionalText,
  requiredAddress,
  requiredText,
  writtenAddress,
  writtenCaption,
  writtenFlag,
  writtenText,
} from './attributes.ts'

type Attributes = { [name: string]: Attribute }
type NodeRow = { content?: string; group?: 'block' | 'inline'; attrs?: Attributes; traits?: Partial<NodeSpec> }
type MarkRow = { attrs?: Attributes; excludes?: string }

const picture: Attributes = {
  attachmentId: writtenText,
  src: writtenAddress,
  alt: writtenCaption,
  title: writtenCaption,
  width: optionalSize,
  height: optionalSize,
}
const cell: Attributes = {
  colspan: integerAttribute({ from: 1, to: 1000, default: 1 }),
  rowspan: integerAttribute({ from: 1, to: 1000, default: 1 }),
  colwidth: columnWidths,
}
const textblock = { content: 'inline*', group: 'block' } as const

/**
 * All nodes. A row has the content of a node, the group in which the node may stand, and its attributes besides the
 * block id.
 */
export const nodeTable: { [type: string]: NodeRow } = {
  doc: { content: 'block+' },
  paragraph: { ...textblock, attrs: { textAlign: alignmentAttribute } },
  heading: {
    ...textblock,
    attrs: { level: integerAttribute({ from: 1, to: 6, default: 1, always: true }), textAlign: alignmentAttribute },
    traits: { defining: true },
  },
  blockquote: { content: 'block+', group: 'block', traits: { defining: true } },
  bulletList: { content: 'listItem+', group: 'block' },
  orderedList: { content: 'listItem+', group: 'block', attrs: { start: integerAttribute({ from: 0, default: 1 }) } },
  listItem: { content: 'paragraph block*', traits: { defining: true } },
  taskList: { content: 'taskItem+', group: 'block' },
  taskItem: { content: 'paragraph block*', attrs: { checked: writtenFlag }, traits: { defining: true } },
  codeBlock: {
    content: 'text*',
    group: 'block',
    attrs: { language: optionalText },
    traits: { marks: '', code: true, defining: true },
  },
  horizontalRule: { group: 'block' },
  image: { group: 'block', attrs: picture, traits: { draggable: true } },
  callout: {
    content: 'block+',
    group: 'block',
    attrs: { kind: oneOf(['note', 'tip', 'important', 'warning', 'caution'], 'note') },
    traits: { defining: true },
  },
  details: {
    content: 'detailsSummary detailsContent',
    group: 'block',
    attrs: { open: flag },
    traits: { defining: true, isolating: true },
  },
  detailsSummary: { content: 'inline*', traits: { defining: true, isolating: true } },
  detailsContent: { content: 'block+', traits: { defining: true } },
  blockMath: { group: 'block', attrs: { latex: requiredText }, traits: { atom: true } },
  footnoteDefinition: {
    content: 'block+',
    group: 'block',
    attrs: { label: requiredText },
    traits: { defining: true, isolating: true },
  },
  frontmatter: { group: 'block', attrs: { yaml: requiredText }, traits: { atom: true } },
  htmlBlock: { group: 'block', attrs: { html: requiredText }, traits: { atom: true } },
  table: { content: 'tableRow+', group: 'block', traits: { isolating: true, tableRole: 'table' } },
  tableRow: { content: '(tableCell | tableHeader)+', traits: { tableRole: 'row' } },
  tableCell: { content: 'block+', attrs: cell, traits: { isolating: true, tableRole: 'cell' } },
  tableHeader: { content: 'block+', attrs: cell, traits: { isolating: true, tableRole: 'header_cell' } },
  text: { group: 'inline' },
  hardBreak: { group: 'inline', traits: { selectable: false } },
  inlineImage: { group: 'inline', attrs: picture, traits: { draggable: true } },
  inlineMath: { group: 'inline', attrs: { latex: requiredText }, traits: { atom: true } },
  footnoteReference: { group: 'inline', attrs: { label: requiredText }, traits: { atom: true } },
  htmlInline: { group: 'inline', attrs: { html: requiredText }, traits: { atom: true } },
  mention: { group: 'inline', attrs: { id: requiredText, label: optionalText }, traits: { atom: true } },
}

const allButLink = 'bold italic strike code underline subscript superscript highlight textStyle'

/** All marks, in the order in which a node lists its marks. Beside `code` only `link` may stand. */
export const markTable: { [type: string]: MarkRow } = {
  bold: {},
  italic: {},
  strike: {},
  code: { excludes: allButLink },
  underline: {},
  subscript: {},
  superscript: {},
  highlight: { attrs: { color: optionalText } },
  textStyle: { attrs: { color: optionalText } },
  link: { attrs: { href: requiredAddress, title: optionalCaption, target: optionalText, rel: optionalText } },
}

/** The types of nodes that stand within a line of text and have no block id. */
export const inlineTypes: ReadonlySet<string> = new Set(
  Object.keys(nodeTable).filter((type) => nodeTable[type]?.group === 'inline'),
)

const textblockTypes = new Set(
  Object.keys(nodeTable).filter((type) => /^(inline|text)\*$/.test(nodeTable[type]?.content ?? '')),
)

/** True if nodes of the type hold inline content. A `codeBlock` does; its only inline content is text. */
export function isTextblock(type: string): boolean {
  return textblockTypes.has(type)
}

/** True if nodes of the type have a block id: all types but `doc` and the inline types. */
export function isBlockType(type: string): boolean {
  return type !== 'doc' && Object.hasOwn(nodeTable, type) && !inlineTypes.has(type)
}

/**
 * The node table and the mark table as a ProseMirror schema. The normaliser matches contents against the schema, and
 * editors of the same document can load it.
 */
export const bodySchema = new Schema({
  nodes: Object.fromEntries(Object.entries(nodeTable).map(([type, row]) => [type, nodeSpec(type, row)])),
  marks: Object.fromEntries(Object.entries(markTable).map(([type, row]) => [type, markSpec(row)])),
})

function nodeSpec(type: string, row: NodeRow): NodeSpec {
  const spec: NodeSpec = { ...row.traits, attrs: attributeSpecs(row.attrs) }
  if (row.content !== undefined) spec.content = row.content
  if (row.group !== undefined) spec.group = row.group
  if (inlineTypes.has(type) && type !== 'text') spec.inline = true
  if (isBlockType(type)) spec.attrs = { id: { default: null }, ...spec.attrs }
  return spec
}

function markSpec(row: MarkRow): MarkSpec {
  const spec: MarkSpec = { attrs: attributeSpecs(row.attrs) }
  if (row.excludes !== undefined) spec.excludes = row.excludes
  return spec
}

function attributeSpecs(attributes: Attributes = {}): { [name: string]: AttributeSpec } {
  const entries = Object.entries(attributes)
  return Object.fromEntries(entries.map(([name, a]) => [name, a.required ? {} : { default: a.default }]))
}
