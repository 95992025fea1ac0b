import * as Y from 'yjs'
import type { BodyNode } from '../document.ts'
import { nodeFrom, textNodeFrom } from './encoding.ts'
import type { IdRange } from './id-ranges.ts'
import { attributeItems, itemsIn } from './yjs-internals.ts'

/** A Y type that was deleted with what it held: the element of a block, or a text of a block that stayed. */
export type RemovedType = Y.XmlElement | Y.XmlText

/** A stretch of a line whose ids follow each other. Its text has one UTF-16 code unit for each id. */
export type LinePart = IdRange & { text: string }

/**
 * A part of an item in a removed line. It is late if the editor inserted it without knowing of the removal, and gone if
 * somebody deleted it on purpose.
 */
export type Part = IdRange & { state: 'known' | 'late' | 'gone' }

/** Divides the ids of an item by their state, in ascending order. */
export type Division = (range: IdRange) => readonly Part[]

type Formats = { [name: string]: unknown }

/** A part with the formats that hold there: those of the old line, and those that the editor of the late text saw. */
export type Visit = { item: Y.Item; part: Part; known: Formats; seen: Formats }

/**
 * The items of a line in document order: the items of its texts, and the elements between the texts. Items that were
 * deleted are among them, as long as Yjs has not collected them.
 */
export function* lineItems(type: RemovedType): Generator<Y.Item> {
  for (const item of itemsIn(type)) {
    const child = typeOf(item)
    if (child instanceof Y.XmlText && type instanceof Y.XmlElement) yield* lineItems(child)
    else yield item
  }
}

/** The Y type that an item holds, if it holds one. */
export function typeOf(item: Y.Item): Y.AbstractType<unknown> | undefined {
  return item.content instanceof Y.ContentType ? item.content.type : undefined
}

/** The ids of an item. */
export function rangeOf(item: Y.Item): IdRange {
  return { client: item.id.client, clock: item.id.clock, length: item.length }
}

/** The line of a live block: everything that is not deleted. */
export function liveLine(element: Y.XmlElement): LinePart[] {
  const items = [...lineItems(element)].filter((item) => !item.deleted && item.countable)
  return items.map((item) => linePart(item, rangeOf(item)))
}

/** The part of an item with the given ids. A node other than a text counts as U+FFFC. */
export function linePart(item: Y.Item, { client, clock, length }: IdRange): LinePart {
  const start = clock - item.id.clock
  const { content } = item
  const text = content instanceof Y.ContentString ? content.str.slice(start, start + length) : '\ufffc'.repeat(length)
  return { client, clock, length, text }
}

/** Goes through a removed line in document order. */
export function* walkLine(type: RemovedType, divide: Division): Generator<Visit> {
  let known: Formats = {}
  let seen: Formats = {}
  for (const item of lineItems(type)) {
    for (const part of divide(rangeOf(item))) {
      if (!(item.content instanceof Y.ContentFormat)) yield { item, part, known, seen }
      else {
        const { key, value } = item.content
        if (part.state !== 'late') known = { ...known, [key]: value }
        if (part.state !== 'gone') seen = { ...seen, [key]: value }
      }
    }
  }
}

/** Reads the nodes of a late part. Call it before Yjs frees the part. Nodes that lie too deep are left out. */
export function lateNodes({ item, part, seen }: Omit<Visit, 'known'>, divide: Division, depth = 0): BodyNode[] {
  const type = typeOf(item)
  if (item.content instanceof Y.ContentString) return [textNodeFrom(linePart(item, part).text, seen)]
  return type instanceof Y.XmlElement && depth < deepest ? [lateNode(type, divide, depth + 1)] : []
}

const deepest = 200

function lateNode(element: Y.XmlElement, divide: Division, depth: number): BodyNode {
  const attributes = Object.fromEntries(
    [...attributeItems(element)].map(([name, item]) => [name, item.content.getContent().at(-1)]),
  )
  const late = [...walkNodes(element, divide, depth)]
  return nodeFrom({ type: element.nodeName, attributes, content: late })
}

function* walkNodes(element: Y.XmlElement, divide: Division, depth: number): Generator<BodyNode> {
  for (const visit of walkLine(element, divide)) {
    if (visit.part.state === 'late') yield* lateNodes(visit, divide, depth)
  }
}
