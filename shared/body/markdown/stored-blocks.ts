import { linesToDocument } from '../canonical.ts'
import type { BlockNode, BodyNode } from '../document.ts'
import { isBlockType } from '../nodes.ts'
import { type RenderedBlock, renderLines } from './rendered-blocks.ts'

/** A top-level block of a stored body that has its line, and its Markdown as it stands below an anchor. */
export type StoredBlock = { line: string; rendered: RenderedBlock }

/**
 * A stored body that a Markdown text is written back to. The lines are rendered as Markdown and parsed when a caller
 * first asks for a block.
 */
export class StoredBlocks {
  readonly #lines: readonly string[]
  #topLevel: Map<string, StoredBlock> | undefined
  #nested: Map<string, BlockNode> | undefined

  /** The lines of a body; none for a new document. */
  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  /** The top-level block of an id. */
  topLevel(id: string): StoredBlock | undefined {
    this.#topLevel ??= topLevelBlocks(this.#lines)
    return this.#topLevel.get(id)
  }

  /** The block of an id, top-level or nested. The caller must not change the block. */
  find(id: string): BlockNode | undefined {
    const block = this.topLevel(id)
    return block === undefined ? this.#findNested(id) : (JSON.parse(block.line) as BlockNode)
  }

  /** True if the id is that of a block inside a top-level block. */
  isNested(id: string): boolean {
    return this.topLevel(id) === undefined && this.#findNested(id) !== undefined
  }

  /** True if the block is a top-level block whose Markdown equals `source`. */
  isUnchanged(block: BlockNode, source: string): boolean {
    return this.topLevel(block.attrs.id)?.rendered.text.trimEnd() === source
  }

  /**
   * The id of the stored frontmatter, or null. Frontmatter has no anchor, but a body has at most one block of
   * frontmatter.
   */
  frontmatterId(): string | null {
    const [first] = this.#lines
    return first?.endsWith('"type":"frontmatter"}') ? (JSON.parse(first) as BlockNode).attrs.id : null
  }

  #findNested(id: string): BlockNode | undefined {
    this.#nested ??= nestedBlocks(linesToDocument(this.#lines).content)
    return this.#nested.get(id)
  }
}

function topLevelBlocks(lines: readonly string[]): Map<string, StoredBlock> {
  return new Map(renderLines(lines, true).map((rendered, at) => [rendered.id, { line: lines[at] as string, rendered }]))
}

function nestedBlocks(blocks: readonly BlockNode[]): Map<string, BlockNode> {
  const byId = new Map<string, BlockNode>()
  const visit = (node: BodyNode): void => {
    for (const child of node.content ?? []) {
      if (isBlockType(child.type)) byId.set(String(child.attrs?.id), child as BlockNode)
      visit(child)
    }
  }
  for (const block of blocks) visit(block)
  return byId
}
