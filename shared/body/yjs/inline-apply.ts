import * as Y from 'yjs'
import type { BodyNode } from '../document.ts'
import { childrenOf, formatsOf, readYText, writeNodes, writeText } from './encoding.ts'
import type { InlineChange, InlineEdit, InlineFormat } from './inline-diff.ts'
import { lineOf, sliceLine } from './line.ts'

type Child = { type: unknown; index: number; start: number; end: number }
type TextChild = Child & { type: Y.XmlText }

/**
 * Changes the inline content of an element in place. Y texts stay the same, with two exceptions that Yjs forces. A node
 * in the middle of a text splits the text, and the longer half keeps its identity. Adjacent texts become one, because
 * otherwise each editor would join them by itself and double the text.
 */
export function applyInline(element: Y.XmlElement, change: InlineChange): void {
  applyFormats(element, change.formats)
  // Edits run from right to left, so that the remaining offsets stay valid. At one offset, removals come first.
  const edits = [...change.edits].sort((a, b) => b.start - a.start || b.end - a.end)
  for (const edit of edits) applyEdit(element, edit)
  joinTexts(element)
}

/** Sets the marks of ranges, which the caller gives in ascending order. A change of marks moves no offset. */
function applyFormats(element: Y.XmlElement, formats: readonly InlineFormat[]): void {
  if (formats.length === 0) return
  const texts = layoutOf(element).filter(isText)
  let first = 0
  for (const { start, end, set } of formats) {
    while ((texts[first]?.end ?? end) <= start) first += 1
    for (let index = first; index < texts.length; index++) {
      const text = texts[index]
      if (!text || text.start >= end) break
      const from = Math.max(start - text.start, 0)
      text.type.format(from, Math.min(end, text.end) - text.start - from, set)
    }
  }
}

function applyEdit(element: Y.XmlElement, { start, end, insert }: InlineEdit): void {
  removeRange(element, start, end)
  if (insert.length === 0) return
  if (insert.every((node) => node.type === 'text')) insertText(element, start, insert)
  else insertMixed(element, start, insert)
}

/**
 * Removes a range of the inline content. A text that the range covers only partly stays. If the range covers every
 * touched text wholly, the first text stays as an empty text, so that people can go on typing in it.
 */
function removeRange(element: Y.XmlElement, start: number, end: number): void {
  const covered = layoutOf(element).filter((child) => child.start < end && child.end > start)
  const texts = covered.filter(isText)
  const inPart = texts.filter((child) => child.start < start || child.end > end)
  const kept = inPart.length > 0 ? inPart : texts.slice(0, 1)
  let doomed = 0
  for (const child of covered.reverse()) {
    if (!(isText(child) && kept.includes(child))) {
      doomed += 1
      continue
    }
    if (doomed > 0) element.delete(child.index + 1, doomed)
    doomed = 0
    const first = Math.max(start, child.start)
    child.type.delete(first - child.start, Math.min(end, child.end) - first)
  }
  if (doomed > 0) element.delete(covered.at(-1)?.index ?? 0, doomed)
}

function insertText(element: Y.XmlElement, offset: number, texts: readonly BodyNode[]): void {
  const layout = layoutOf(element)
  const into = layout.filter(isText).find((child) => child.start <= offset && offset <= child.end)
  if (into) writeInto(into.type, offset - into.start, texts)
  else element.insert(layout.filter((child) => child.end <= offset).length, [writeText(texts)])
}

/** Inserts content that has nodes other than texts. The texts at its ends join the texts beside them. */
function insertMixed(element: Y.XmlElement, offset: number, nodes: readonly BodyNode[]): void {
  splitAt(element, offset)
  const layout = layoutOf(element)
  const texts = layout.filter(isText)
  const left = texts.find((child) => child.end === offset)
  const right = texts.find((child) => child.start === offset && child.index > (left?.index ?? -1))
  const first = nodes.findIndex((node) => node.type !== 'text')
  const last = nodes.findLastIndex((node) => node.type !== 'text')
  const index = left ? left.index + 1 : (right?.index ?? layout.filter((child) => child.end <= offset).length)
  if (left) writeInto(left.type, left.type.length, nodes.slice(0, first))
  if (right) writeInto(right.type, 0, nodes.slice(last + 1))
  element.insert(index, writeNodes(nodes.slice(left ? first : 0, right ? last + 1 : undefined)))
}

function splitAt(element: Y.XmlElement, offset: number): void {
  const child = layoutOf(element)
    .filter(isText)
    .find((text) => text.start < offset && offset < text.end)
  if (!child) return
  const line = lineOf(readYText(child.type))
  const middle = offset - child.start
  if (middle >= line.length / 2) {
    element.insert(child.index + 1, [writeText(sliceLine(line, middle, line.length))])
    child.type.delete(middle, line.length - middle)
  } else {
    element.insert(child.index, [writeText(sliceLine(line, 0, middle))])
    child.type.delete(0, middle)
  }
}

function joinTexts(element: Y.XmlElement): void {
  const children = childrenOf(element)
  for (let index = children.length - 1; index > 0; index--) {
    const [left, right] = [children[index - 1], children[index]]
    if (!(left instanceof Y.XmlText && right instanceof Y.XmlText)) continue
    if (left.length >= right.length) {
      writeInto(left, left.length, readYText(right))
      element.delete(index, 1)
    } else {
      writeInto(right, 0, readYText(left))
      element.delete(index - 1, 1)
      children[index - 1] = right
    }
  }
}

function writeInto(text: Y.XmlText, offset: number, nodes: readonly BodyNode[]): void {
  let end = offset
  for (const node of nodes) {
    const run = node.text ?? ''
    // The formats are explicit, since Yjs would otherwise give the new text the formats of the text before it.
    text.insert(end, run, formatsOf(node.marks))
    end += run.length
  }
}

function layoutOf(element: Y.XmlElement): Child[] {
  let offset = 0
  return childrenOf(element).map((type, index) => {
    const start = offset
    offset += type instanceof Y.XmlText ? type.length : 1
    return { type, index, start, end: offset }
  })
}

function isText(child: Child): child is TextChild {
  return child.type instanceof Y.XmlText
}
