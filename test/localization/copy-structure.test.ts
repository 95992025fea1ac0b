import fc from 'fast-check'
import { documentToLines } from '../../shared/body/canonical.ts'
import type { BodyNode, DocNode } from '../../shared/body/document.ts'
import { inlineTypes } from '../../shared/body/nodes.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'
import { copyStructure } from '../../shared/localization/structure-copies.ts'
import { blank, textBlocks } from '../../shared/localization/units/texts.ts'
import { withoutIds } from '../document/build.ts'
import { anyDocument } from '../document/random.ts'
import { t } from '../support/tap.ts'

t.test('the copy of any document is in normal form and has its blocks, but none of its sentences', (t) => {
  const property = fc.property(anyDocument, (source) => {
    const { content, blockIds } = copyStructure(source)
    const { result, nodes, characters } = content
    const again = normaliseDocument(result, { from: 'json' })
    same(documentToLines(result), documentToLines(again.result), 'stored as it is')
    same([nodes, characters], [again.nodes, again.characters], 'counted as it is')
    const [before, after] = [blocksOf(source), blocksOf(result)]
    same(
      after.map(({ attrs }) => attrs?.id),
      before.map(({ attrs }) => blockIds.get(String(attrs?.id))),
      'each block has its copy, in the same place',
    )
    same(blockIds.size, new Set(blockIds.values()).size, 'under an id of its own')
    same(after.map(withoutContent), before.map(withoutContent), 'types and attributes are the same')
    same(
      textBlocks(result.content).filter(({ hash }) => hash !== blank),
      [],
      'nothing is left to translate',
    )
    const kept = (block: BodyNode) => (block.content ?? []).filter(({ type }) => inlineTypes.has(type))
    const units = new Set(textBlocks(source.content).flatMap(({ id, hash }) => (hash === blank ? [] : id)))
    for (const [index, block] of before.entries()) {
      const expected = units.has(String(block.attrs?.id)) ? [] : kept(block)
      same(kept(after[index] as BodyNode), expected, 'what nobody translates is copied')
    }
  })
  fc.assert(property)
  t.end()
})

function blocksOf(node: DocNode | BodyNode): BodyNode[] {
  return (node.content ?? []).flatMap((child) => (inlineTypes.has(child.type) ? [] : [child, ...blocksOf(child)]))
}

function withoutContent({ type, attrs }: BodyNode): unknown {
  return JSON.parse(withoutIds({ type, attrs }))
}

function same(found: unknown, expected: unknown, claim: string): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`not true: ${claim}`)
}
