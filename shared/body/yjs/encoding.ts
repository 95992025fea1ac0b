import * as Y from 'yjs'
import type { Attrs, BodyNode, Json, Mark } from '../document.ts'
import { bodySchema, inlineTypes, isTextblock, markTable } from '../nodes.ts'

/**
 * The name of the root type that holds the body. The name is the default of Tiptap's Collaboration extension and must
 * never change, because stored Y documents use it.
 */
const fragmentName = 'default'

/**
 * A content of a Y document that has not been repaired. Block ids may be missing or double, and nodes may stand where
 * the schema forbids them.
 */
export type RawDocument = { type: 'doc'; content: BodyNode[] }

/** A node of a type that the schema does not know. `path` has the child indices from the root. */
export type UnknownNode = { path: number[]; type: string }

/** The type that stands for content which is neither an element nor a text. The schema cannot express such content. */
const foreignType = 'yjs:foreign'

// The deepest level that is read. The schema allows 32 levels, and a body far deeper than 200 levels would exhaust the
// stack.
const deepest = 200

// The name of a mark with a hash. Editors in which marks of one type may overlap write `comment--Ab3dEf9+`: the name
// and eight base64 characters.
const hashedName = /^(.*)--[A-Za-z0-9+/=]{8}$/
// The prefix of the attributes that keep the marks of an inline node other than a text. An XML element of Yjs has
// attributes and no formats.
const elementPrefix = '_mark_'
const rank = new Map(Object.keys(markTable).map((name, index) => [name, index]))

/** A set of marks in the form that Yjs stores: the name of a mark with its attributes. Null ends a format. */
export type Formats = { [mark: string]: Attrs | null }

/** The formats or the XML attributes that a Y document holds. A client can put any value into them. */
type Formatting = { [name: string]: unknown }

/**
 * The options of a reading: the number of levels above the elements that are read. `note` is called for each element
 * that has attributes, with the attributes of its node.
 */
type ReadingOptions = { depth?: number; note?: ((element: Y.XmlElement, attrs: Attrs) => void) | undefined }

type Parts = { marks: Mark[]; content: BodyNode[] }

/** The fragment of a Y document that holds the body. */
export function bodyFragment(doc: Y.Doc): Y.XmlFragment {
  return doc.getXmlFragment(fragmentName)
}

/**
 * Reads the body of a Y document, and lists every node whose type the schema does not know. The Y document is not
 * changed. The readers of the editor bindings are not used, because they delete unknown and incomplete nodes. On a
 * server they would delete such nodes for everyone. The attribute objects belong to the Y document, so callers must not
 * change them.
 */
export function readDocument(
  fragment: Y.XmlFragment,
  reading?: ReadingOptions,
): { document: RawDocument; unknown: UnknownNode[] } {
  const content = readChildren(fragment, reading)
  return { document: { type: 'doc', content }, unknown: unknownIn(content, []) }
}

/** Reads an element of a Y document as a node. Elements on too many levels become foreign nodes. */
export function readElement(element: Y.XmlElement, reading: ReadingOptions = {}): BodyNode {
  const { depth = 0, note } = reading
  if (depth > deepest) return { type: foreignType }
  const { attrs, marks } = splitElementAttributes(element.getAttributes())
  if (attrs) note?.(element, attrs)
  const content = readChildren(element, { depth: depth + 1, note })
  return nodeOf({ type: element.nodeName, attrs, marks, content })
}

/** The node of an element with the given XML attributes, which also hold the marks of the node. */
export function nodeFrom(element: { type: string; attributes: Formatting; content: BodyNode[] }): BodyNode {
  const { type, attributes, content } = element
  return nodeOf({ type, ...splitElementAttributes(attributes), content })
}

function nodeOf({ type, attrs, marks, content }: Pick<BodyNode, 'type' | 'attrs'> & Parts): BodyNode {
  return {
    type,
    ...(attrs && { attrs }),
    ...(content.length > 0 && { content }),
    ...(marks.length > 0 && { marks }),
  }
}

/** The node of a text with the given formats. */
export function textNodeFrom(text: string, formats: Formatting = {}): BodyNode {
  const marks = marksOf(formats)
  return marks.length > 0 ? { type: 'text', text, marks } : { type: 'text', text }
}

/** Reads the children of an element or fragment as nodes. Adjacent texts with equal marks become one text. */
export function readChildren(parent: Y.XmlFragment, reading?: ReadingOptions): BodyNode[] {
  const nodes: BodyNode[] = []
  for (const child of childrenOf(parent)) appendNodes(nodes, readChild(child, reading))
  return nodes
}

/** Reads one child of an element or fragment. A text gives any number of nodes, any other child one node. */
export function readChild(child: unknown, reading?: ReadingOptions): BodyNode[] {
  if (child instanceof Y.XmlText) return readYText(child)
  return [child instanceof Y.XmlElement ? readElement(child, reading) : { type: foreignType }]
}

/** Appends the nodes of a child to the nodes of the children before it. Changes `nodes`. */
export function appendNodes(nodes: BodyNode[], added: readonly BodyNode[]): void {
  for (const node of added) {
    if (node.type === 'text') appendNode(nodes, node)
    else nodes.push(node)
  }
}

/** The children of an element or fragment. A client can put children of any type or value into them, not only XML. */
export function childrenOf(parent: Y.XmlFragment): unknown[] {
  return parent.toArray()
}

/** The block id of a child of a fragment or element, if it has one. Inline nodes have no block id. */
export function idOf(child: unknown): string | undefined {
  const isBlock = child instanceof Y.XmlElement && !inlineTypes.has(child.nodeName)
  const id: unknown = isBlock ? child.getAttribute('id') : undefined
  return typeof id === 'string' ? id : undefined
}

/**
 * Reads a Y text as text nodes, each a stretch of equal marks. Anything else in the Y text, such as an embed, becomes a
 * `yjs:foreign` node of length one.
 */
export function readYText(text: Y.XmlText): BodyNode[] {
  const runs = text.toDelta() as { insert: unknown; attributes?: Attrs }[]
  return runs.map(({ insert, attributes }) => {
    if (typeof insert !== 'string') return { type: foreignType }
    return textNodeFrom(insert, attributes)
  })
}

/** Appends an inline node, and joins a text to a text before it with the same marks. Changes `nodes`. */
export function appendNode(nodes: BodyNode[], node: BodyNode): void {
  const last = nodes.at(-1)
  const joins = last?.type === 'text' && node.type === 'text' && equalMarks(last, node)
  if (joins) nodes[nodes.length - 1] = { ...last, text: `${last.text ?? ''}${node.text ?? ''}` }
  else if (node.type !== 'text' || node.text) nodes.push(node)
}

/**
 * Writes nodes as Y types outside of any document, in the encoding of the editor bindings. A node becomes an element,
 * and a stretch of text nodes becomes one Y text. Equal nodes give equal types.
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
 * Writes a node as a Y element. An empty textblock gets an empty Y text. So two people who start to type at the same
 * moment write into one text.
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

/** Writes text nodes as one Y text. */
export function writeText(texts: readonly BodyNode[]): Y.XmlText {
  const text = new Y.XmlText()
  text.applyDelta(texts.map((node) => ({ insert: node.text ?? '', attributes: formatsOf(node.marks) })))
  return text
}

/** Sets an attribute to any JSON value. Null removes the attribute, because the bindings never store null. */
export function setAttribute(element: Y.XmlElement, name: string, value: Json | undefined): void {
  // Yjs declares attributes as strings, but stores any JSON.
  if (value !== null && value !== undefined) element.setAttribute(name, value as string)
  else if (element.doc) element.removeAttribute(name)
}

/**
 * The Yjs formats of a text with the given marks. No mark of our schema overlaps itself, so the names are never hashed.
 */
export function formatsOf(marks: readonly Mark[] = []): Formats {
  return Object.fromEntries(marks.map((mark) => [mark.type, mark.attrs ?? {}]))
}

/**
 * The marks of a text in the order of the mark table, then unknown marks by name. Null attributes are left out, hashed
 * names lose their hash, and equal marks are kept once.
 */
function marksOf(formats: Formatting): Mark[] {
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

/** The XML attributes that keep the marks of an inline node other than a text, such as a link around an image. */
export function elementFormats(marks: readonly Mark[] = []): Attrs {
  return Object.fromEntries(marks.map((mark) => [elementPrefix + mark.type, mark.attrs ?? {}]))
}

/**
 * Splits the attributes of an XML element into the attributes of the node and the marks of the node. Null attributes
 * are left out.
 */
function splitElementAttributes(attributes: Formatting): { attrs?: Attrs; marks: Mark[] } {
  const formats: Formatting = {}
  const own: Formatting = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith(elementPrefix)) formats[name.slice(elementPrefix.length)] = value
    else if (name !== 'ychange') own[name] = value
  }
  return { attrs: writtenAttrs(own), marks: marksOf(formats) }
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

// The order of keys in a Y.Map differs between replicas, so the keys are sorted. Yjs cannot write the attributes of a
// mark with a member `constructor`, which no mark has.
function writtenAttrs(value: unknown): Attrs | undefined {
  if (typeof value !== 'object' || value === null || value instanceof Y.AbstractType) return undefined
  const entries = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    const isAbsent = member === null || member === undefined || name === 'constructor'
    return isAbsent ? [] : [[name, attributeValue(member)]]
  })
  return entries.length > 0 ? Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) : undefined
}

/**
 * The value of an attribute of a Y document. The only objects that attributes take are lists of numbers. An empty
 * object stands for any other object, so that a repair replaces it: `String` throws for `{"toString":1}`, Yjs throws
 * when `{"constructor":1}` is set, and a type of Yjs is not JSON.
 */
export function attributeValue(value: unknown): Json {
  const isPlain = typeof value !== 'object' || value === null
  const isList = Array.isArray(value) && value.every((member) => typeof member === 'number')
  return isPlain || isList ? (value as Json) : {}
}

function rankOf(mark: Mark): number {
  return rank.get(mark.type) ?? rank.size
}
