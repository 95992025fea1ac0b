import { showsAttachment } from './addresses.ts'
import { BlockLines } from './block-lines.ts'
import type { BlockNode, BodyNode } from './document.ts'
import { isBlockType } from './nodes.ts'
import { normaliseBlocks } from './normalise.ts'
import { locate, takeOut } from './placement.ts'
import { textComputation } from './stored-body.ts'

/**
 * Removes the images of an attachment from a stored body. An image block is removed together with the ancestors that
 * would be left empty. A paragraph that loses its only inline image stays, and is then empty. A thread calls this
 * function by its name.
 *
 * @public
 */
export function removeImages({ text, attachmentId }: { text: string; attachmentId: string }): string {
  const lines = text.split('\n')
  const body = new BlockLines(lines)
  const positions = [...lines.keys()].filter((position) => showsAttachment(lines[position] ?? '', attachmentId))
  for (const position of positions) {
    const stripped = withoutInline(body.block(position), attachmentId)
    // The block is normalised again, because two texts that had an image between them become one text.
    if (stripped !== body.block(position))
      body.splice(position, 1, normaliseBlocks([stripped], { from: 'json' }).result)
  }
  const blocks = positions.flatMap((position) => imageBlocks(body.block(position), attachmentId))
  for (const id of blocks) takeOut(body, locate(body, id))
  return body.toLines().join('\n')
}

export const removingImages = textComputation({ module: import.meta.url, run: removeImages })

function shows(node: BodyNode, attachmentId: string): boolean {
  return node.attrs?.attachmentId === attachmentId
}

function withoutInline<N extends BodyNode>(node: N, attachmentId: string): N {
  if (node.content === undefined) return node
  const content = node.content
    .filter((child) => child.type !== 'inlineImage' || !shows(child, attachmentId))
    .map((child) => withoutInline(child, attachmentId))
  const isSame = content.length === node.content.length && content.every((child, at) => child === node.content?.[at])
  return isSame ? node : { ...node, content }
}

function imageBlocks(block: BlockNode, attachmentId: string): string[] {
  if (block.type === 'image') return shows(block, attachmentId) ? [block.attrs.id] : []
  const nested = (block.content ?? []).filter((child): child is BlockNode => isBlockType(child.type))
  return nested.flatMap((child) => imageBlocks(child, attachmentId))
}
