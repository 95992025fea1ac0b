import fc from 'fast-check'
import type { BodyNode } from '../../../shared/body/document.ts'
import { nodeTable } from '../../../shared/body/nodes.ts'
import type { RawDocument } from '../../../shared/body/yjs/encoding.ts'
import { idFrom } from './random-body.ts'

/** Trees of known and unknown types in any order, with double, bad and missing ids, and with bad values. */
export function wreck(): fc.Arbitrary<RawDocument> {
  const { tree } = fc.letrec<{ tree: BodyNode }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.record({ type: fc.constant('text'), text: word, marks }),
      fc.record({ type: anyType, attrs, content: fc.array(tie('tree'), { maxLength: 4 }) }),
    ),
  }))
  const deep = fc.integer({ min: 30, max: 60 }).map((depth) => {
    let node: BodyNode = { type: 'paragraph', content: [{ type: 'text', text: 'w deep' }] }
    for (let level = 0; level < depth; level++)
      node = { type: level % 3 ? 'blockquote' : 'bulletList', content: [node] }
    return [node]
  })
  const content = fc.oneof({ weight: 9, arbitrary: fc.array(tree, { maxLength: 5 }) }, { weight: 1, arbitrary: deep })
  return content.map((nodes) => ({ type: 'doc', content: nodes }))
}

const word = fc.integer({ min: 0, max: 99 }).map((number) => `w${number}`)
const leaves = [
  ...['horizontalRule', 'image', 'blockMath', 'frontmatter', 'htmlBlock', 'hardBreak', 'inlineImage', 'mention'],
]
const types = Object.keys(nodeTable).filter((type) => type !== 'text' && type !== 'doc')
const anyType = fc.constantFrom(...types, ...types, 'hologram', ...leaves)
const marks = fc.uniqueArray(
  fc.constantFrom(
    { type: 'bold' },
    { type: 'sparkle' },
    { type: 'link' },
    { type: 'code' },
    { type: 'highlight', attrs: { color: 7 } },
  ),
  { maxLength: 2, selector: (mark) => mark.type },
)
const attrs = fc.record(
  {
    id: fc.oneof(fc.nat(9).map(idFrom), fc.constant('bad id')),
    level: fc.constantFrom(2, 9, 'two'),
    start: fc.constantFrom(3, -1),
    checked: fc.constantFrom(true, 'yes'),
    kind: fc.constantFrom('tip', 'loud'),
    src: fc.constantFrom('https://example.org/a.png', 'javascript:alert(1)'),
    attachmentId: fc.constantFrom('att_1'),
    colwidth: fc.constantFrom([1], 'wide'),
    language: fc.constantFrom('ts\u0000'),
  },
  { requiredKeys: [] },
)
