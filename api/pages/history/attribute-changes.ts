import type { BodyNode, Json } from '../../../shared/body/document.ts'
import { plainText } from '../../../shared/body/text.ts'
import { cutText } from '../../../shared/schema/strings.ts'

/**
 * A changed attribute in words. `part` names the node inside of a block that has changed; it is null when the block
 * itself has. A side is null where the attribute was not set there.
 */
export type AttributeChange = { part: string | null; name: string; from: string | null; to: string | null }

/** The attributes in which two sides of a node differ, the type of the node first. The block id is left out. */
export function attributeChanges(
  { before, after }: { before: BodyNode; after: BodyNode },
  { isPart }: { isPart: boolean },
): AttributeChange[] {
  const [old, current] = [before.attrs ?? {}, after.attrs ?? {}]
  const names = [...new Set([...Object.keys(old), ...Object.keys(current)])].filter((name) => name !== 'id')
  const changes = [
    { name: 'Kind', from: typeName(before.type), to: typeName(after.type) },
    ...names.map((name) => ({
      name: attributeNames[name] ?? name,
      from: worded(old[name]),
      to: worded(current[name]),
    })),
  ].filter(({ from, to }) => from !== to)
  const part = isPart && changes.length > 0 ? partOf(after) : null
  return changes.map((change) => ({ part, ...change }))
}

/**
 * The change of the order of the parts that both sides of a node have. The parts are named by their places on the old
 * side, from 1. Empty when the order is the same.
 */
export function orderChange(
  { before, after }: { before: BodyNode; after: BodyNode },
  { isPart }: { isPart: boolean },
): AttributeChange[] {
  const ids = new Set(after.content?.map(idOf))
  const kept = (before.content ?? []).map(idOf).filter((id) => ids.has(id))
  const places = new Map(kept.map((id, index) => [id, index + 1]))
  const order = (after.content ?? []).flatMap((part) => places.get(idOf(part)) ?? [])
  if (order.every((place, index) => place === index + 1)) return []
  const [from, to] = [[...places.values()], order].map((list) => {
    return list.slice(0, mostPlaces).join(', ') + (list.length > mostPlaces ? ', …' : '')
  })
  return [{ part: isPart ? partOf(after) : null, name: 'Order of the parts', from: from ?? null, to: to ?? null }]
}

const mostPlaces = 20

/** The name of a type of blocks for people. */
export function typeName(type: string): string {
  return typeNames[type] ?? type
}

// A part by its type and the beginning of its text.
function partOf(node: BodyNode): string {
  const text = plainText(node).replace(/\s+/g, ' ').trim()
  const begin = cutText(text, excerptLength)
  return text === '' ? typeName(node.type) : `${typeName(node.type)} “${begin}${begin.length < text.length ? '…' : ''}”`
}

const excerptLength = 40

function idOf(node: BodyNode): string {
  return String(node.attrs?.['id'])
}

function worded(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const typeNames: { [type: string]: string } = {
  paragraph: 'Paragraph',
  heading: 'Heading',
  blockquote: 'Quote',
  bulletList: 'List',
  orderedList: 'Numbered list',
  listItem: 'Item',
  taskList: 'Task list',
  taskItem: 'Task',
  codeBlock: 'Code',
  horizontalRule: 'Line',
  image: 'Picture',
  callout: 'Callout',
  details: 'Details',
  detailsSummary: 'Title of details',
  detailsContent: 'Content of details',
  blockMath: 'Formula',
  footnoteDefinition: 'Footnote',
  frontmatter: 'Front matter',
  htmlBlock: 'HTML',
  table: 'Table',
  tableRow: 'Row',
  tableCell: 'Cell',
  tableHeader: 'Head cell',
}

const attributeNames: { [name: string]: string } = {
  level: 'Level',
  textAlign: 'Alignment',
  start: 'First number',
  checked: 'Done',
  language: 'Language',
  attachmentId: 'File',
  src: 'Address',
  alt: 'Description',
  title: 'Title',
  width: 'Width',
  height: 'Height',
  kind: 'Kind of callout',
  open: 'Open',
  latex: 'Formula',
  label: 'Label',
  yaml: 'Front matter',
  html: 'HTML',
  colspan: 'Columns',
  rowspan: 'Rows',
  colwidth: 'Column widths',
}
