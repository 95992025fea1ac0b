import fc from 'fast-check'
import type { BlockNode, BodyNode, DocNode } from '../../../shared/body/document.ts'
import { isBlockType, isTextblock } from '../../../shared/body/nodes.ts'
import { normaliseDocument } from '../../../shared/body/normalise.ts'
import { anyDocument } from '../random.ts'

/** Two bodies of one document. */
export type Pair = { from: DocNode; to: DocNode }

/**
 * Two random bodies that have blocks in common: some blocks of the first are gone, moved or edited in the second, and
 * others are new.
 */
export const anyPair: fc.Arbitrary<Pair> = fc
  .tuple(anyDocument, anyDocument, fc.array(fc.nat(), { minLength: 12, maxLength: 12 }))
  .map(([from, other, choices]) => {
    const choose = (index: number, of: number) => (choices[index % choices.length] ?? 0) % of
    const kept = from.content.flatMap((block, index) => {
      const donor = other.content[choose(index, other.content.length)] as BlockNode
      return [[block], [], [edited(block, donor)], [{ ...donor, attrs: { ...donor.attrs, id: block.attrs.id } }]][
        choose(index + 3, 4)
      ] as BodyNode[]
    })
    const content = choose(0, 2) === 0 ? [...kept, ...other.content] : [...other.content, ...kept.reverse()]
    const isFirst = (index: number) => index === 0
    const allowed = content.filter(({ type }, index) => type !== 'frontmatter' || isFirst(index))
    return { from, to: normaliseDocument({ type: 'doc', content: withoutTwins(allowed) }, { from: 'json' }).result }
  })

// The block with the inline content of its textblocks cut, doubled or taken from the donor.
function edited(block: BodyNode, donor: BodyNode): BodyNode {
  if (isTextblock(block.type)) {
    const own = block.content ?? []
    const others =
      block.type !== 'codeBlock' && isTextblock(donor.type) && donor.type !== 'codeBlock' ? donor.content : []
    return { ...block, content: [...own.slice(1), ...(others ?? []), ...own.slice(0, 1)] }
  }
  return { ...block, content: (block.content ?? []).map((child) => edited(child, donor)) }
}

// Leaves out ids that occur before, so that those blocks get new ids.
function withoutTwins(blocks: BodyNode[]): BodyNode[] {
  const seen = new Set<unknown>()
  const visit = (node: BodyNode): BodyNode => {
    if (!isBlockType(node.type)) return node
    const { id, ...attrs } = node.attrs ?? {}
    const isTwin = seen.has(id)
    seen.add(id)
    const content = node.content?.map(visit)
    return { ...node, ...(isTwin && { attrs }), ...(content && { content }) }
  }
  return blocks.map(visit)
}
