import * as Y from 'yjs'
import { isTextblock } from '../../../shared/body/nodes.ts'
import { bodyFragment, idOf, readElement, writeNode } from '../../../shared/body/yjs/encoding.ts'

/** An edit that a person makes: `at`, `to` and `place` choose among what the person sees. */
export type PersonEdit = { kind: PersonEditKind; at: number; to: number; place: number }
export type PersonEditKind = 'type' | 'erase' | 'format' | 'split' | 'join' | 'drag' | 'remove'

/** Makes an edit in a Y document, as an editor does it. Returns false if there is nothing to edit. */
export function edit(doc: Y.Doc, { kind, at, to, place }: PersonEdit, marker: string): boolean {
  const target = { blocks: textblocksBelow(bodyFragment(doc)), at, to, place, marker }
  let done = false
  doc.transact(() => {
    done = edits[kind](doc, target)
  })
  return done
}

type Target = { blocks: Y.XmlElement[]; at: number; to: number; place: number; marker: string }

const edits: Record<PersonEditKind, (doc: Y.Doc, target: Target) => boolean> = {
  type(_, { blocks, at, to, place, marker }) {
    const block = pick(blocks, at)
    if (!block) return false
    const texts = textsOf(block)
    const text = pick(texts, to)
    if (text) text.insert(safe(text, place), marker)
    else block.insert(0, [new Y.XmlText(marker)])
    return true
  },
  erase(_, { blocks, at, to, place }) {
    const text = pick(textsOf(pick(blocks, at)), to)
    if (!text || text.length === 0) return false
    const start = safe(text, place)
    const end = safe(text, start + 1 + (to % 4))
    text.delete(start, end - start)
    return true
  },
  format(_, { blocks, at, to, place }) {
    const text = pick(textsOf(pick(blocks, at)), to)
    if (!text || text.length === 0) return false
    const start = safe(text, place)
    text.format(start, safe(text, start + 1 + (to % 6)) - start, { bold: to % 2 === 0 ? {} : null })
    return true
  },
  split(_, { blocks, at, place, to }) {
    const block = pick(blocks, at)
    const text = textsOf(block)[0]
    if (!block || !text || block.length !== 1) return false
    const middle = safe(text, place)
    const second = new Y.XmlElement(block.nodeName)
    for (const [name, value] of Object.entries(block.getAttributes())) {
      if (name !== 'id' || to % 2 === 0) second.setAttribute(name, value as string)
    }
    const tail = new Y.XmlText()
    tail.applyDelta(deltaFrom(text, middle))
    second.insert(0, [tail])
    text.delete(middle, text.length - middle)
    insertBehind(block, second)
    return true
  },
  join(_, { blocks, at }) {
    const second = pick(blocks, at)
    const siblings = second?.parent instanceof Y.XmlFragment ? second.parent.toArray() : []
    const index = siblings.indexOf(second as Y.XmlElement)
    const first = siblings[index - 1]
    if (!second || !(first instanceof Y.XmlElement) || !isTextblock(first.nodeName)) return false
    const [into, from] = [textsOf(first).at(-1), textsOf(second)[0]]
    if (!into || !from || first.get(first.length - 1) !== into || second.length !== 1) return false
    let end = into.length
    for (const { insert, attributes } of deltaFrom(from, 0)) {
      into.insert(end, insert, attributes ?? {})
      end += insert.length
    }
    ;(second.parent as Y.XmlFragment).delete(index, 1)
    return true
  },
  drag(doc, { at, to }) {
    const fragment = bodyFragment(doc)
    if (fragment.length < 2) return false
    const from = at % fragment.length
    const block = fragment.get(from)
    if (!(block instanceof Y.XmlElement)) return false
    const copy = writeNode(readElement(block))
    fragment.delete(from, 1)
    fragment.insert(to % (fragment.length + 1), [copy])
    return true
  },
  remove(doc, { at }) {
    const fragment = bodyFragment(doc)
    if (fragment.length < 2) return false
    fragment.delete(at % fragment.length, 1)
    return true
  },
}

type Delta = { insert: string; attributes?: { [name: string]: unknown } }[]

function deltaFrom(text: Y.XmlText, start: number): Delta {
  let offset = 0
  return (text.toDelta() as Delta).flatMap(({ insert, ...rest }) => {
    const from = Math.max(start - offset, 0)
    offset += insert.length
    return from < insert.length ? [{ insert: insert.slice(from), ...rest }] : []
  })
}

/** An offset in a text that splits no surrogate pair. */
function safe(text: Y.XmlText, place: number): number {
  const string = (text.toDelta() as Delta).map(({ insert }) => insert).join('')
  const offset = Math.min(place % (string.length + 1), string.length)
  const unit = string.charCodeAt(offset)
  return unit >= 0xdc00 && unit <= 0xdfff ? offset + 1 : offset
}

function insertBehind(block: Y.XmlElement, next: Y.XmlElement): void {
  const parent = block.parent as Y.XmlFragment
  parent.insert(parent.toArray().indexOf(block) + 1, [next])
}

function textsOf(block: Y.XmlElement | undefined): Y.XmlText[] {
  return block?.toArray().filter((child) => child instanceof Y.XmlText) ?? []
}

function textblocksBelow(parent: Y.XmlFragment): Y.XmlElement[] {
  return parent.toArray().flatMap((child): Y.XmlElement[] => {
    if (!(child instanceof Y.XmlElement)) return []
    return isTextblock(child.nodeName) && idOf(child) !== undefined ? [child] : textblocksBelow(child)
  })
}

function pick<T>(items: readonly T[], at: number): T | undefined {
  return items[at % Math.max(items.length, 1)]
}
