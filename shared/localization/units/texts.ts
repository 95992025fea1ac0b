import { canonicalJson, textVersion } from '../../body/canonical.ts'
import type { BlockNode, BodyNode, Json } from '../../body/document.ts'
import { isBlockType } from '../../body/nodes.ts'

/** A paragraph or heading of a body; `hash` is the hash of its inline content, '' when its text is blank. */
export type TextBlock = { id: string; hash: string; block: BlockNode }

/** The hash of a text that is blank or absent. */
export const blank = ''

/** Returns the paragraphs and headings among the given blocks and at any depth below them, in document order. */
export function textBlocks(blocks: Iterable<BlockNode>): TextBlock[] {
  const found: TextBlock[] = []
  for (const block of blocks) collect(block, found)
  return found
}

function collect(block: BlockNode, found: TextBlock[]): void {
  if (block.type === 'paragraph' || block.type === 'heading') {
    found.push({ id: block.attrs.id, hash: hashOf(block), block })
    return
  }
  for (const child of block.content ?? []) if (isBlockType(child.type)) collect(child as BlockNode, found)
}

// The hash leaves out attributes such as level and alignment, so a change of them makes no translation outdated.
function hashOf(block: BlockNode): string {
  if (!hasText(block.content)) return blank
  return textVersion(canonicalJson(block.content as unknown as Json))
}

function hasText(content: readonly BodyNode[] | undefined): boolean {
  return (content ?? []).some((node) => node.type === 'text' && (node.text ?? '').trim() !== '')
}
