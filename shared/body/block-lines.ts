import { canonicalJson } from './canonical.ts'
import type { BlockNode, BodyNode } from './document.ts'
import { isBlockType } from './nodes.ts'

/**
 * A path that leads to a block: the position of its top-level ancestor, and the child indices from there down to the
 * block. The indices are empty for a top-level block.
 */
export type BlockPath = { position: number; path: number[] }

// A top-level block as its stored line, its parsed form, or both. Neither form is changed in place.
type Entry = { line?: string; block?: BlockNode }

const idInLine = /"id":"(block_[0-9A-Z]{26})"/g
const blockIdPrefix = 'block_'
const idStart = `"id":"${blockIdPrefix}`
// The number of look-ups of an id that search the lines of the body. From the next look-up on, an index of all ids
// costs less than searching.
const lookupsBeforeIndex = 4

/**
 * A body that is kept as the stored lines of its top-level blocks. Only lines that a caller reads are parsed, and only
 * changed lines are serialised again. So an edit costs in proportion to what the edit touches. A position counts
 * top-level blocks from 0.
 */
export class BlockLines {
  #entries: Entry[]
  #lookups = 0
  #index: Map<string, Set<Entry>> | undefined

  constructor(lines: readonly string[]) {
    this.#entries = lines.map((line) => ({ line }))
  }

  get length(): number {
    return this.#entries.length
  }

  /** The top-level block at a position. The caller must not change the block. */
  block(position: number): BlockNode {
    const entry = this.#entries[position] as Entry
    entry.block ??= JSON.parse(entry.line as string) as BlockNode
    return entry.block
  }

  /**
   * True if the top-level block at a position is a heading. For an unparsed line the end of the line decides, since
   * `type` is the last member of a block.
   */
  isHeading(position: number): boolean {
    const { line, block } = this.#entries[position] as Entry
    return block !== undefined ? block.type === 'heading' : (line as string).endsWith('"type":"heading"}')
  }

  /** The path of the block of an id, or null when the body has no such block. */
  find(id: string): BlockPath | null {
    this.#lookups += 1
    if (this.#lookups > lookupsBeforeIndex) this.#index ??= this.#buildIndex()
    const candidates = this.#index === undefined ? this.#entries : (this.#index.get(id) ?? [])
    for (const entry of candidates) {
      if (entry.line !== undefined && !entry.line.includes(id)) continue
      const position = this.#index === undefined ? -1 : this.#entries.indexOf(entry)
      const path = pathTo(this.#parsed(entry), id)
      if (path !== null) return { position: position === -1 ? this.#entries.indexOf(entry) : position, path }
    }
    return null
  }

  /** Replaces `count` top-level blocks at a position by the given blocks. */
  splice(position: number, count: number, blocks: BlockNode[]): void {
    const added = blocks.map((block): Entry => ({ block }))
    const removed = this.#entries.splice(position, count, ...added)
    if (this.#index === undefined) return
    for (const entry of removed) for (const id of idsOf(entry)) this.#index.get(id)?.delete(entry)
    for (const entry of added) for (const id of idsOf(entry)) add(this.#index, id, entry)
  }

  /** The stored lines of the body as it is now. */
  toLines(): string[] {
    return this.#entries.map((entry) => entry.line ?? canonicalJson(entry.block as BlockNode))
  }

  #parsed(entry: Entry): BlockNode {
    entry.block ??= JSON.parse(entry.line as string) as BlockNode
    return entry.block
  }

  #buildIndex(): Map<string, Set<Entry>> {
    const index = new Map<string, Set<Entry>>()
    for (const entry of this.#entries) {
      for (const id of idsOf(entry)) add(index, id, entry)
    }
    return index
  }
}

/** The ids of a block and all blocks in it, in document order. */
export function blockIds(block: BlockNode): string[] {
  const nested = (block.content ?? []).filter((child): child is BlockNode => isBlockType(child.type))
  return [block.attrs.id, ...nested.flatMap(blockIds)]
}

/** The node at the end of a path of child indices below a block. */
export function nodeAt(block: BlockNode, path: readonly number[]): BlockNode {
  return path.reduce<BodyNode>((node, index) => node.content?.[index] as BodyNode, block) as BlockNode
}

/** A copy of a block with another node at the end of a path. The copy shares all nodes that are not on the path. */
export function withNodeAt(block: BlockNode, path: readonly number[], node: BlockNode): BlockNode {
  const [index, ...rest] = path
  if (index === undefined) return node
  const content = [...(block.content ?? [])]
  content[index] = withNodeAt(content[index] as BlockNode, rest, node)
  return { attrs: block.attrs, content, type: block.type }
}

function pathTo(block: BodyNode, id: string): number[] | null {
  if (block.attrs?.id === id) return []
  for (const [index, child] of (block.content ?? []).entries()) {
    if (!isBlockType(child.type)) return null
    const path = pathTo(child, id)
    if (path !== null) return [index, ...path]
  }
  return null
}

function idsOf(entry: Entry): string[] {
  return entry.line === undefined ? blockIds(entry.block as BlockNode) : idsInLine(entry.line)
}

/**
 * The id of the top-level block of a line. Reads the beginning of the line only, because `attrs` is the first member of
 * a block.
 */
export function topBlockId(line: string): string {
  const start = line.indexOf(idStart) + idStart.length - blockIdPrefix.length
  return line.slice(start, line.indexOf('"', start))
}

/**
 * The block ids in a line, in document order. Canonical JSON escapes quotes within texts, so only attributes match. The
 * `id` of a mention also matches, so the result may include ids that are no block's.
 */
export function idsInLine(line: string): string[] {
  return Array.from(line.matchAll(idInLine), (match) => match[1] as string)
}

function add(index: Map<string, Set<Entry>>, id: string, entry: Entry): void {
  const entries = index.get(id)
  if (entries === undefined) index.set(id, new Set([entry]))
  else entries.add(entry)
}
