import * as Y from 'yjs'
import type { Attrs, BodyNode, Json, Mark } from '../document.ts'
import { bodySchema, inlineTypes, isTextblock, markTable } from '../nodes.ts'

/** The root type that holds the body: the default field of Tiptap's Collaboration extension. Never rename it. */
const fragmentName = 'default'

/**
 * What a Y document holds, as it stands: block ids may be missing or doubled and nodes may be where the schema does
 * not allow them, until `repairDocument` has seen it.
 */
export type RawDocument = { type: 'doc'; content: BodyNode[] }

/** A place the schema has no word for: child indices from the root, and the name found there. */
export type UnknownNode = { path: number[]; type: string }

/** The type under which content that is neither element nor text is read; nothing of it can be expressed. */
const foreignType = 'yjs:foreign'

// Far above what the schema allows (32), far below what a stack holds.
const deepest = 200

/** The fragment of a Y document that holds the body. */
export function bodyFragment(doc: Y.Doc): Y.XmlFragment {
  return doc.getXmlFragment(fragmentName)
}

/**
 * The body of a Y document, and every node in it whose type the schema does not know. Reads only: the readers of the
 * editor bindings delete what they do not know or what is incomplete, which on a server would delete it for everyone.
 * The attribute objects are those of the Y document, so do not change them.
 */
export function readDocument(fragment: Y.XmlFragment): { document: RawDocument; unknown: UnknownNode[] } {
  const content = readChildren(fragment)
  return { document: { type: 'doc', content }, unknown: unknownIn(content, []) }
}

/** One element of a Y document as a node. Elements nested beyond reason come out as foreign nodes. */
export function readElement(element: Y.XmlElement, depth = 0): BodyNode {
  if (depth > deepest) return { type: foreignType }
  const { attrs, marks } = splitElementAttributes(element.getAttributes())
  const content = readChildren(element, depth + 1)
  return {
    type: element.nodeName,
    ...(attrs && { attrs }),
    ...(content.length > 0 && { content }),
    ...(marks.length > 0 && { marks }),
  }
}

/** The children of an element or fragment as nodes; texts that stand side by side with equal marks become one. */
export function readChildren(parent: Y.XmlFragment, depth = 0): BodyNode[] {
  const nodes: BodyNode[] = []
  for (const child of childrenOf(parent)) {
    if (child instanceof Y.XmlText) for (const node of readText(child)) appendNode(nodes, node)
    else nodes.push(child instanceof Y.XmlElement ? readElement(child, depth) : { type: foreignType })
  }
  return nodes
}

/** The children of an element or fragment. A client can put any type or value there, not only XML. */
export function childrenOf(parent: Y.XmlFragment): unknown[] {
  return parent.toArray()
}

/** The block id a child of a fragment or element carries, if any. Inline nodes carry none, as in `blockIdOf`. */
export function idOf(child: unknown): string | undefined {
  const isBlock = child instanceof Y.XmlElement && !inlineTypes.has(child.nodeName)
  const id: unknown = isBlock ? child.getAttribute('id') : undefined
  return typeof id === 'string' ? id : undefined
}

/** The runs of a Y text as text nodes. What is no text (an embed) comes out as a `yjs:foreign` node of length one. */
export function readText(text: Y.XmlText): BodyNode[] {
  const runs = text.toDelta() as { insert: unknown; attributes?: Attrs }[]
  return runs.map(({ insert, attributes }) => {
    if (typeof insert !== 'string') return { type: foreignType }
    const marks = marksOf(attributes)
    return marks.length > 0 ? { type: 'text', text: insert, marks } : { type: 'text', text: insert }
  })
}

/** Appends an inline node, joining text to a text before it that has the same marks. Changes `nodes`. */
export function appendNode(nodes: BodyNode[], node: BodyNode): void {
  const last = nodes.at(-1)
  const joins = last?.type === 'text' && node.type === 'text' && equalMarks(last, node)
  if (joins) nodes[nodes.length - 1] = { ...last, text: `${last.text ?? ''}${node.text ?? ''}` }
  else if (node.type !== 'text' || node.text) nodes.push(node)
}

function equalMarks(a: BodyNode, b: BodyNode): boolean {
  if (a.marks === b.marks) return true
  return JSON.stringify(a.marks ?? []) === JSON.stringify(b.marks ?? [])
}

function unknownIn(nodes: readonly BodyNode[], path: number[]): UnknownNode[] {
  return nodes.flatMap((node, index) => {
    const here = [...path, index]
    const below = node.content ? unknownIn(node.content, here) : []
    return Object.hasOwn(bodySchema.nodes, node.type) ? below : [{ path: here, type: node.type }, ...below]
  })
}

/**
 * Nodes as Y types that are not part of a document yet, in the encoding of the editor bindings: an element for a
 * node, one Y text for each stretch of text nodes. Equal nodes give equal types.
 */
export function writeNodes(nodes: readonly BodyNode[]): (Y.XmlElement | Y.XmlText)[] {
  const types: (Y.XmlElement | Y.XmlText)[] = []
  let texts: BodyNode[] = []
  const flush = () => {
    if (texts.length > 0) types.push(writeText(texts))
    texts = []
  }
  for (const node of nodes) {
    if (node.type === 'text') texts.push(node)
    else {
      flush()
      types.push(writeNode(node))
    }
  }
  flush()
  return types
}

/**
 * One node as a Y element. An empty textblock gets an empty Y text, so that two people who start typing in it at the
 * same moment write into one text and not into two beside each other.
 */
export function writeNode(node: BodyNode): Y.XmlElement {
  const element = new Y.XmlElement(node.type)
  const attributes = { ...node.attrs, ...elementFormats(node.marks) }
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value)
  const children = writeNodes(node.content ?? [])
  if (children.length === 0 && isTextblock(node.type)) children.push(new Y.XmlText())
  element.insert(0, children)
  return element
}

/** Text nodes as one Y text. */
export function writeText(texts: readonly BodyNode[]): Y.XmlText {
  const text = new Y.XmlText()
  text.applyDelta(texts.map((node) => ({ insert: node.text ?? '', attributes: formatsOf(node.marks) })))
  return text
}

/** Sets an attribute to any JSON value; null, which the bindings never store, removes it. */
export function setAttribute(element: Y.XmlElement, name: string, value: Json | undefined): void {
  // The declared type of Yjs knows strings only; what it stores is any JSON.
  if (value !== null && value !== undefined) element.setAttribute(name, value as string)
  else if (element.doc) element.removeAttribute(name)
}

/** Marks as Yjs knows them: mark name to the mark's attributes; null ends a format. */
export type Formats = { [mark: string]: Attrs | null }

// Editors that let a mark overlap itself write `comment--Ab3dEf9+`: the name and eight base64 characters.
const hashedName = /^(.*)--[A-Za-z0-9+/=]{8}$/
// Where the marks of an inline node that is no text are kept, since an XML element has attributes only.
const elementPrefix = '_mark_'
const rank = new Map(Object.keys(markTable).map((name, index) => [name, index]))

/** The formats of a text run. No mark of our schema overlaps itself, so the names are never hashed. */
export function formatsOf(marks: readonly Mark[] = []): Formats {
  return Object.fromEntries(marks.map((mark) => [mark.type, mark.attrs ?? {}]))
}

/**
 * The marks of a text run in schema order, unknown names last by name. Attributes that are null are left out, hashed
 * names are read as plain ones, and of equal marks one is kept.
 */
export function marksOf(formats: { [name: string]: unknown } = {}): Mark[] {
  const marks = new Map<string, Mark>()
  for (const [name, value] of Object.entries(formats)) {
    if (name === 'ychange' || value === null) continue
    const type = hashedName.exec(name)?.[1] ?? name
    const attrs = writtenAttrs(value)
    const mark = attrs ? { type, attrs } : { type }
    marks.set(JSON.stringify(mark), mark)
  }
  return [...marks.values()].sort((a, b) => rankOf(a) - rankOf(b) || (a.type < b.type ? -1 : 1))
}

/** The XML attributes that carry the marks of an inline node that is no text, such as a link around an image. */
export function elementFormats(marks: readonly Mark[] = []): Attrs {
  return Object.fromEntries(marks.map((mark) => [elementPrefix + mark.type, mark.attrs ?? {}]))
}

/** Splits the attributes of an XML element into those of the node and its marks. Null attributes are left out. */
export function splitElementAttributes(attributes: { [name: string]: unknown }): { attrs?: Attrs; marks: Mark[] } {
  const formats: { [name: string]: unknown } = {}
  const own: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith(elementPrefix)) formats[name.slice(elementPrefix.length)] = value
    else if (name !== 'ychange') own[name] = value
  }
  return { attrs: writtenAttrs(own), marks: marksOf(formats) }
}

// Key order in a Y.Map differs between replicas, so it is made the same here.
function writtenAttrs(value: unknown): Attrs | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const entries = Object.entries(value as Attrs).filter(([, member]) => member !== null && member !== undefined)
  return entries.length > 0 ? Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) : undefined
}

function rankOf(mark: Mark): number {
  return rank.get(mark.type) ?? rank.size
}
