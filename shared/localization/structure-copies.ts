import { characterCount, nodeCount } from '../body/body-limits.ts'
import { documentToLines, linesToDocument } from '../body/canonical.ts'
import type { BlockNode, BodyNode, DocNode } from '../body/document.ts'
import { isBlockType } from '../body/nodes.ts'
import type { FirstBody } from '../body/store-documents.ts'
import { computation } from '../computations/computation.ts'
import { newId } from '../schema/ids.ts'
import { newUnits, type UnitCopy } from './units/queries.ts'
import { blank, textBlocks } from './units/texts.ts'

/**
 * A source document that has its stored text, and the number of new translations. `copied` says whether the
 * translations get a copy of its structure.
 */
type Source = { text: string; targets: number; copied: boolean }

/** A beginning of new translations of a document: their units and first bodies. */
export type Copies = {
  /** The units of all translations, as the JSON text that `putUnits` takes. */
  units: string
  /**
   * For each translation, its first body and the JSON text of the copies of its units (`UnitCopy`); empty for blank
   * bodies.
   */
  copies: { content: FirstBody['content']; mapped: string }[]
}

/**
 * Prepares the first bodies and units of new translations of a document. A thread calls this function by its name.
 * @public
 */
export function prepareCopies({ text, targets, copied }: Source): Copies {
  const source = linesToDocument(text.split('\n'))
  const texts = textBlocks(source.content).flatMap(({ id, hash }) => (hash === blank ? [] : { block_id: id, hash }))
  const units = newUnits(texts, targets)
  const copies = Array.from({ length: copied ? targets : 0 }, (_, target) => {
    const { content, blockIds } = copyStructure(source)
    const { result, nodes, characters } = content
    const mapped = units.flatMap(({ block_id, ids }): UnitCopy[] => {
      const [unitId, copyId] = [ids[target], blockIds.get(block_id)]
      return unitId === undefined || copyId === undefined ? [] : [{ unit_id: unitId, block_id: copyId }]
    })
    const lines = documentToLines(result)
    return { content: { text: lines.join('\n'), nodes, characters }, mapped: JSON.stringify(mapped) }
  })
  return { units: JSON.stringify(units), copies }
}

// The work goes through the source document once for each copy. Each time takes about as long as rendering the
// document.
export const preparingCopies = computation({
  module: import.meta.url,
  run: prepareCopies,
  isSmall: (source) => lengthOf(source) <= 64 * 1024,
  cpuMs: (source) => Math.min(30_000, 2000 + lengthOf(source) * 0.005),
})

function lengthOf({ text, targets }: Source): number {
  return text.length * (1 + targets)
}

/**
 * A body without its translatable texts. `blockIds` maps the id of each block of the source document to the id of its
 * copy.
 */
type StructureCopy = {
  content: { result: DocNode; nodes: number; characters: number }
  blockIds: ReadonlyMap<string, string>
}

/**
 * Copies the nodes of a body with their attributes, under new block ids. Paragraphs and headings that have text are
 * units and lose their content. Content that nobody translates is kept: code, images, formulas, a paragraph with
 * nothing but an image. The source is in normal form, and so is the copy. @internal
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
