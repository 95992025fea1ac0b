import type { BlockNode, BodyNode, DocNode } from '../document.ts'
import { isBlockType } from '../nodes.ts'
import { exportSegments, footnoteLabels } from './to-markdown.ts'

/** The stored document as a write-back sees it. */
export type Stored = {
  /** The stored block of an id, top-level or nested. */
  find: (id: string) => BlockNode | undefined
  /** True if the top-level block still renders to this Markdown. */
  isUnchanged: (block: BlockNode, source: string) => boolean
  /** The frontmatter carries no anchor; there is one at most, so it is known without. */
  frontmatterId: () => string | null
}

/** The stored document by block id; what blocks render to is computed when first asked for. */
export function storedBlocks(document: DocNode | undefined): Stored {
  const blocks = document?.content ?? []
  const topLevel = new Map(blocks.map((block) => [block.attrs.id, block]))
  let nested: Map<string, BlockNode> | undefined
  let rendered: Map<string, string> | undefined
  return {
    find: (id) => {
      nested ??= topLevel.has(id) ? undefined : nestedBlocks(blocks)
      return topLevel.get(id) ?? nested?.get(id)
    },
    isUnchanged: (block, source) => {
      rendered ??= renderBlocks(blocks)
      return rendered.get(block.attrs.id) === source
    },
    frontmatterId: () => (blocks[0]?.type === 'frontmatter' ? blocks[0].attrs.id : null),
  }
}

function renderBlocks(blocks: BlockNode[]): Map<string, string> {
  const { segments } = exportSegments(blocks, { anchors: true, labels: footnoteLabels(blocks) })
  return new Map(blocks.map((block, index) => [block.attrs.id, (segments[index]?.text ?? '').trimEnd()]))
}

function nestedBlocks(blocks: BlockNode[]): Map<string, BlockNode> {
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
