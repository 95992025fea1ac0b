import { characterCount, nodeCount } from '../body/body-limits.ts'
import { documentToLines, linesToDocument } from '../body/canonical.ts'
import type { BlockNode, BodyNode, DocNode } from '../body/document.ts'
import { isBlockType } from '../body/nodes.ts'
import type { FirstBody } from '../body/store-documents.ts'
import { textComputation } from '../body/stored-body.ts'
import { newId } from '../schema/ids.ts'
import { blank, textBlocks } from './units/texts.ts'

/** A source as it is stored, and how many translations get a copy of its structure. */
type Source = { text: string; copies: number }

/** What new translations of a source begin with. */
export type Copies = {
  /** The texts of the source that become units; `hash` is that of the inline content. */
  present: { block_id: string; hash: string }[]
  /** The first bodies; `blockIds` leads from blocks of the source to their copies. */
  copies: { content: FirstBody['content']; blockIds: ReadonlyMap<string, string> }[]
}

/** The work of `preparingCopies`, which a thread calls by its name. @public */
export function prepareCopies({ text, copies }: Source): Copies {
  const source = linesToDocument(text.split('\n'))
  const present = textBlocks(source.content).flatMap(({ id, hash }) => (hash === blank ? [] : { block_id: id, hash }))
  const made = Array.from({ length: copies }, () => {
    const { content, blockIds } = copyStructure(source)
    const { result, nodes, characters } = content
    return { content: { text: documentToLines(result).join('\n'), nodes, characters }, blockIds }
  })
  return { present, copies: made }
}

export const preparingCopies = textComputation({ module: import.meta.url, run: prepareCopies })

/** A body without its translatable texts. `blockIds` maps the id of each block of the source to the id of its copy. */
type StructureCopy = {
  content: { result: DocNode; nodes: number; characters: number }
  blockIds: ReadonlyMap<string, string>
}

/**
 * Copies the nodes of a body with their attributes, under new block ids. Paragraphs and headings that are units lose
 * their content. Content that nobody translates is kept: code, images, formulas, a paragraph with nothing but an image.
 * The source is in normal form, and so is the copy. @internal
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
