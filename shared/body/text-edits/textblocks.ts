import { type BlockLines, type BlockPath, nodeAt } from '../block-lines.ts'
import type { BlockNode, BodyNode, Mark } from '../document.ts'
import { sameMarks } from '../marks.ts'
import { isTextblock } from '../nodes.ts'
import { SearchedText, type Stretch } from './occurrences.ts'

/** A textblock of a body, with the position of its top-level block. */
export type Textblock = { position: number; node: BlockNode }

/** A run of neighbouring texts of a textblock. Images, formulas, mentions and line breaks part the runs. */
export type Run = { nodes: readonly BodyNode[]; searched: SearchedText }

/** The textblocks of a body, in document order; with `scope` the textblocks at and below one block. */
export function* textblocksOf(body: BlockLines, scope: BlockPath | null): Generator<Textblock> {
  if (scope !== null) {
    yield* textblocksIn(nodeAt(body.block(scope.position), scope.path), scope.position)
    return
  }
  for (let position = 0; position < body.length; position += 1) yield* textblocksIn(body.block(position), position)
}

/** Puts textblocks in the place of others. `replaced` has the new node of each old node. */
export function replaceTextblocks(body: BlockLines, replaced: ReadonlyMap<Textblock, BlockNode>): void {
  const byPosition = new Map<number, Map<BodyNode, BodyNode>>()
  for (const [{ position, node }, fresh] of replaced) {
    const inBlock = byPosition.get(position) ?? new Map<BodyNode, BodyNode>()
    byPosition.set(position, inBlock.set(node, fresh))
  }
  for (const [position, inBlock] of byPosition) {
    body.splice(position, 1, [withReplaced(body.block(position), inBlock) as BlockNode])
  }
}

/** The runs of textblocks, which are kept for as long as the textblock is the same node. */
export class Runs {
  readonly #known = new WeakMap<BodyNode, (Run | BodyNode)[]>()

  /** The runs of a textblock in order, with the inline nodes between them. */
  of(textblock: BodyNode): readonly (Run | BodyNode)[] {
    const known = this.#known.get(textblock) ?? runsOf(textblock.content ?? [])
    this.#known.set(textblock, known)
    return known
  }
}

/** True for a run, false for an inline node between runs. */
export function isRun(part: Run | BodyNode): part is Run {
  return 'searched' in part
}

/** The texts of a run after stretches of it were replaced; texts with equal marks are one. */
export class RunWriter {
  readonly #nodes: readonly BodyNode[]
  readonly #length: number
  readonly #written: { marks: Mark[] | undefined; parts: string[] }[] = []
  #done = 0
  // The node that has the next unit, and the offset of its first unit.
  #index = 0
  #start = 0

  constructor({ nodes, searched }: Run) {
    this.#nodes = nodes
    this.#length = searched.text.length
  }

  /** Replaces a stretch, which must be behind the last one. The text gets the marks of the first replaced character. */
  replace({ start, end }: Stretch, text: string): void {
    this.#advance(start, true)
    this.#write(text, this.#nodes[this.#index]?.marks)
    this.#advance(end, false)
  }

  /** The texts up to the end of the run. */
  finish(): BodyNode[] {
    this.#advance(this.#length, true)
    return this.#written.map(({ marks, parts }) => textNode(parts.join(''), marks))
  }

  #advance(end: number, keeps: boolean): void {
    while (this.#done < end) {
      const { text = '', marks } = this.#nodes[this.#index] as BodyNode
      const nodeEnd = this.#start + text.length
      const to = Math.min(end, nodeEnd)
      if (keeps) this.#write(text.slice(this.#done - this.#start, to - this.#start), marks)
      this.#done = to
      if (to < nodeEnd) continue
      this.#index += 1
      this.#start = nodeEnd
    }
  }

  #write(text: string, marks: Mark[] | undefined): void {
    if (text === '') return
    const last = this.#written.at(-1)
    if (last !== undefined && sameMarks(last.marks, marks)) last.parts.push(text)
    else this.#written.push({ marks, parts: [text] })
  }
}

function* textblocksIn(node: BodyNode, position: number): Generator<Textblock> {
  if (isTextblock(node.type)) yield { position, node: node as BlockNode }
  else for (const child of node.content ?? []) yield* textblocksIn(child, position)
}

function withReplaced(node: BodyNode, replaced: ReadonlyMap<BodyNode, BodyNode>): BodyNode {
  const fresh = replaced.get(node)
  if (fresh !== undefined) return fresh
  if (node.content === undefined || isTextblock(node.type)) return node
  return { ...node, content: node.content.map((child) => withReplaced(child, replaced)) }
}

function runsOf(content: readonly BodyNode[]): (Run | BodyNode)[] {
  const parts: (BodyNode[] | BodyNode)[] = []
  for (const node of content) {
    const last = parts.at(-1)
    if (node.type !== 'text') parts.push(node)
    else if (Array.isArray(last)) last.push(node)
    else parts.push([node])
  }
  return parts.map((part) => (Array.isArray(part) ? runOf(part) : part))
}

function runOf(nodes: BodyNode[]): Run {
  return { nodes, searched: new SearchedText(nodes.map(({ text }) => text).join('')) }
}

function textNode(text: string, marks: Mark[] | undefined): BodyNode {
  return marks === undefined ? { text, type: 'text' } : { marks, text, type: 'text' }
}
