import { characterCount, nodeCount } from '../body/canonical.ts'
import type { BlockNode, BodyNode, DocNode } from '../body/document.ts'
import { isBlockType } from '../body/nodes.ts'
import { newId } from '../schema/ids.ts'
import { blank, textBlocks } from './units/texts.ts'

/** A body without its translatable texts; `blockIds` leads from each block of the source to its copy. */
export type StructureCopy = {
  content: { result: DocNode; nodes: number; characters: number }
  blockIds: ReadonlyMap<string, string>
}

/**
 * The same nodes with the same attributes under new block ids (decisions 2.4). Paragraphs and headings that are units
 * of translation come without their content; what nobody translates (code, images, formulas, a paragraph that is but an
 * image) is copied. The source is in normal form, and so is the copy.
 */
export function copyStructure(source: DocNode): StructureCopy {
  const units = new Set(textBlocks(source.content).flatMap(({ id, hash }) => (hash === blank ? [] : id)))
  const blockIds = new Map<string, string>()
  const copy = (node: BodyNode): BodyNode => {
    if (!isBlockType(node.type)) return node
    const { content, ...block } = node as BlockNode
    const id = newId('block')
    blockIds.set(block.attrs.id, id)
    const kept = units.has(block.attrs.id) ? undefined : content?.map(copy)
    return { attrs: { ...block.attrs, id }, ...(kept !== undefined && { content: kept }), type: block.type }
  }
  const result: DocNode = { type: 'doc', content: source.content.map((block) => copy(block) as BlockNode) }
  return { content: { result, nodes: nodeCount(result), characters: characterCount(result) }, blockIds }
}
