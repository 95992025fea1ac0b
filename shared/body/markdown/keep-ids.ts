import type { Attrs, BlockNode, BodyNode, Mark } from '../document.ts'
import { isBlockType } from '../nodes.ts'

const attrsLost = new Set(['id', 'textAlign', 'width', 'height', 'colwidth'])

/**
 * Gives the blocks nested in an edited block the ids of their stored counterparts. Blocks with unchanged content are
 * matched first. In their place the stored node stays as it is, with everything that Markdown cannot express. The
 * blocks in between are matched by type and order. `taken` holds the ids in use elsewhere, and the function adds the
 * ids that it gives. Changes `block` in place.
 */
export function keepIds(block: BodyNode, old: BodyNode, taken: Set<string>): void {
  const before = blocksIn(old)
  const after = blocksIn(block)
  if (before.length === 0 || after.length === 0) return
  const pairs = matchUnchanged(before, after)
  const adopted = new Map<BodyNode, BlockNode>()
  let from = 0
  let oldFrom = 0
  for (const [oldIndex, index] of [...pairs, [before.length, after.length] as const]) {
    matchInOrder(before.slice(oldFrom, oldIndex), after.slice(from, index), taken)
    const kept = before[oldIndex]
    const fresh = after[index]
    if (kept !== undefined && fresh !== undefined && adopts({ kept, fresh, taken })) adopted.set(fresh, kept)
    oldFrom = oldIndex + 1
    from = index + 1
  }
  if (adopted.size > 0) block.content = block.content?.map((child) => adopted.get(child) ?? child) ?? []
}

/**
 * The content of a node that Markdown can express, as a text to compare. Block ids, alignment, sizes, colours, `target`
 * and `rel` are left out. Two nodes with equal texts have the same content in Markdown.
 */
export function expressible(node: BodyNode): string {
  return JSON.stringify(reduce(node))
}

type Adoption = { kept: BlockNode; fresh: BlockNode; taken: Set<string> }

// True if the stored node replaces the fresh node. When another block uses an id inside the stored node, the fresh node
// stays and only gets ids that are free.
function adopts({ kept, fresh, taken }: Adoption): boolean {
  const ids = idsIn(kept)
  if (ids.some((id) => taken.has(id))) {
    keepOwnId(kept, fresh, taken)
    return false
  }
  for (const id of ids) taken.add(id)
  return true
}

function keepOwnId(old: BlockNode, fresh: BlockNode, taken: Set<string>): void {
  if (!taken.has(old.attrs.id)) {
    fresh.attrs.id = old.attrs.id
    taken.add(old.attrs.id)
  }
  keepIds(fresh, old, taken)
}

function matchInOrder(before: BlockNode[], after: BlockNode[], taken: Set<string>): void {
  const positions = new Positions(before.map((old) => old.type))
  for (const fresh of after) {
    const found = positions.take(fresh.type)
    if (found !== undefined) keepOwnId(before[found] as BlockNode, fresh, taken)
  }
}

// Pairs equal blocks at the start and at the end first. Each block in between is paired with the first stored block of
// equal content behind the last stored block that has a partner.
function matchUnchanged(before: BlockNode[], after: BlockNode[]): [number, number][] {
  const oldKeys = before.map(expressible)
  const newKeys = after.map(expressible)
  const pairs: [number, number][] = []
  let head = 0
  while (head < oldKeys.length && head < newKeys.length && oldKeys[head] === newKeys[head]) pairs.push([head, head++])
  let tail = 0
  const room = Math.min(oldKeys.length, newKeys.length) - head
  while (tail < room && oldKeys.at(-1 - tail) === newKeys.at(-1 - tail)) tail += 1
  const positions = new Positions(oldKeys.slice(head, oldKeys.length - tail))
  for (let index = head; index < newKeys.length - tail; index++) {
    const found = positions.take(newKeys[index] as string)
    if (found !== undefined) pairs.push([head + found, index])
  }
  for (let back = tail; back > 0; back--) pairs.push([oldKeys.length - back, newKeys.length - back])
  return pairs
}

/**
 * A list of keys by position. `take` returns the first position of a key behind every position that it has returned
 * before, for any key. It returns undefined when no such position exists.
 */
class Positions {
  readonly #byKey = new Map<string, { positions: number[]; passed: number }>()
  #next = 0

  constructor(keys: readonly string[]) {
    for (const [position, key] of keys.entries()) {
      const known = this.#byKey.get(key)
      if (known === undefined) this.#byKey.set(key, { positions: [position], passed: 0 })
      else known.positions.push(position)
    }
  }

  take(key: string): number | undefined {
    const known = this.#byKey.get(key)
    if (known === undefined) return undefined
    const { positions } = known
    while ((positions[known.passed] ?? this.#next) < this.#next) known.passed += 1
    const found = positions[known.passed]
    if (found !== undefined) this.#next = found + 1
    return found
  }
}

function blocksIn(node: BodyNode): BlockNode[] {
  return (node.content ?? []).filter((child): child is BlockNode => isBlockType(child.type))
}

function idsIn(node: BlockNode): string[] {
  return [node.attrs.id, ...blocksIn(node).flatMap(idsIn)]
}

function reduce(node: BodyNode): BodyNode {
  const attrs = reduceAttrs(node.attrs ?? {})
  const content = mergeTexts((node.content ?? []).map(reduce))
  const marks = (node.marks ?? []).filter((mark) => mark.type !== 'textStyle').map(reduceMark)
  return { type: node.type, attrs, content, marks, text: node.text ?? '' }
}

function reduceAttrs(attrs: Attrs): Attrs {
  return Object.fromEntries(Object.entries(attrs).filter(([name, value]) => !attrsLost.has(name) && value !== ''))
}

function reduceMark(mark: Mark): Mark {
  if (mark.type !== 'link') return { type: mark.type, attrs: {} }
  return { type: mark.type, attrs: { href: mark.attrs?.href ?? '', title: mark.attrs?.title || null } }
}

function mergeTexts(nodes: BodyNode[]): BodyNode[] {
  const merged: BodyNode[] = []
  for (const node of nodes) {
    const last = merged.at(-1)
    if (last?.type === 'text' && node.type === 'text' && JSON.stringify(last.marks) === JSON.stringify(node.marks)) {
      last.text = `${last.text}${node.text}`
    } else merged.push(node)
  }
  return merged
}
