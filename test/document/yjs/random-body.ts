import fc from 'fast-check'
import type { Attrs, BodyNode, DocNode, Mark } from '../../../shared/body/document.ts'
import { isBlockType, isTextblock } from '../../../shared/body/nodes.ts'
import { normaliseDocument } from '../../../shared/body/normalise.ts'

/** A block id made of a number, so that a person can read a failing case. */
export function idFrom(number: number): string {
  return `block_${String(number).padStart(26, '0')}`
}

/** A random body in normal form. Its block ids count from 1. */
export function randomBody(): fc.Arbitrary<DocNode> {
  return fc.array(block, { minLength: 1, maxLength: 6 }).map((content) => {
    let next = 1
    return normalised(numbered({ type: 'doc', content }, () => idFrom(next++)))
  })
}

/** Random edits for `edited`. */
export function randomEdits(): fc.Arbitrary<Edit[]> {
  return fc.array(edit, { minLength: 1, maxLength: 8 })
}

/** A body after edits, in normal form. New blocks get ids from `firstId` on. Edits that do not fit are skipped. */
export function edited(body: DocNode, edits: readonly Edit[], firstId: number): DocNode {
  const copy = structuredClone(body) as BodyNode
  let next = firstId
  for (const step of edits) operations[step.kind](copy, step, () => idFrom(next++))
  return normalised(copy)
}

/** Every block of a body below its parent, for tests of identity. */
export function blocksOf(body: BodyNode): { node: BodyNode; parent: BodyNode; index: number }[] {
  const children = (body.content ?? []).filter((node) => isBlockType(node.type))
  return children.flatMap((node, index) => [{ node, parent: body, index }, ...blocksOf(node)])
}

/** The text blocks of a body. */
function textblocksOf(body: BodyNode): BodyNode[] {
  return blocksOf(body).flatMap(({ node }) => (isTextblock(node.type) ? node : []))
}

/** A body in normal form. */
export function normalised(body: BodyNode): DocNode {
  return normaliseDocument(body, { from: 'json' }).result
}

const kinds = ['text', 'marks', 'atom', 'rewrite', 'insert', 'remove', 'move', 'retype', 'attribute', 'wrap'] as const
type Kind = (typeof kinds)[number]

/** One edit: its kind, the index of its position, the index of another position, and its content. */
export type Edit = { kind: Kind; at: number; to: number; word: string; mark: Mark; fresh: BodyNode }

const word = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('the', 'quick', 'brown', 'fox', 'jumps', 'lazy', 'dog', 'a', 'and') },
  { weight: 2, arbitrary: fc.constantFrom('👩‍👩‍👧', '😀', '😁', '𝒳', 'é', 'ﬁ', '漢字かな', '\ufffc', '<b>', '--') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }).filter(isStorable) },
)
const sentence = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '))
const mark = fc.constantFrom<Mark>(
  { type: 'bold' },
  { type: 'italic' },
  { type: 'code' },
  { type: 'link', attrs: { href: 'https://example.org/' } },
  { type: 'link', attrs: { href: '#here', title: 'here' } },
  { type: 'highlight', attrs: { color: 'red' } },
)
const marks = fc.oneof(
  { weight: 3, arbitrary: fc.constant([] as Mark[]) },
  { weight: 1, arbitrary: fc.uniqueArray(mark, { maxLength: 2, selector: (m) => m.type }) },
)
const text = fc.record({ text: sentence, marks }).map((run): BodyNode => ({ type: 'text', ...run }))
const atom: fc.Arbitrary<BodyNode> = fc.constantFrom<BodyNode>(
  { type: 'hardBreak' },
  { type: 'inlineMath', attrs: { latex: 'x^2' } },
  { type: 'mention', attrs: { id: 'usr_1', label: 'Ann' } },
  { type: 'inlineImage', attrs: { src: 'https://example.org/a.png' }, marks: [{ type: 'bold' }] },
)
const inline = fc.array(fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: atom }), { maxLength: 5 })
const plain = fc.array(sentence, { maxLength: 3 }).map((lines) => textIn(lines.join('\n')))

const paragraph = inline.map((content): BodyNode => ({ type: 'paragraph', content }))
const heading = fc
  .record({ level: fc.integer({ min: 1, max: 6 }), content: inline })
  .map(({ level, content }): BodyNode => ({ type: 'heading', attrs: { level }, content }))
const codeBlock = plain.map((content): BodyNode => ({ type: 'codeBlock', attrs: { language: 'ts' }, content }))
const leaf: fc.Arbitrary<BodyNode> = fc.constantFrom<BodyNode>(
  { type: 'horizontalRule' },
  { type: 'image', attrs: { src: 'https://example.org/b.png', width: 3 } },
  { type: 'blockMath', attrs: { latex: '\\sum' } },
)
const { block } = fc.letrec<{ block: BodyNode; nested: BodyNode }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 6, arbitrary: paragraph },
    { weight: 2, arbitrary: heading },
    { weight: 1, arbitrary: codeBlock },
    { weight: 1, arbitrary: leaf },
    { weight: 4, arbitrary: tie('nested') },
  ),
  nested: fc
    .array(tie('block'), { minLength: 1, maxLength: 3 })
    .chain((content) => fc.constantFrom(...around(content))),
}))
const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom(...kinds),
  at: fc.nat(1000),
  to: fc.nat(1000),
  word,
  mark,
  fresh: block,
})

function around(content: BodyNode[]): BodyNode[] {
  const first: BodyNode = { type: 'paragraph', content: textIn('item') }
  const second: BodyNode = { type: 'paragraph', content: textIn('other item') }
  const row: BodyNode[] = [
    { type: 'tableHeader', content },
    { type: 'tableCell', attrs: { colwidth: [10] }, content: [first] },
  ]
  const parts: BodyNode[] = [
    { type: 'detailsSummary', content: textIn('summary') },
    { type: 'detailsContent', content },
  ]
  return [
    { type: 'blockquote', content },
    { type: 'callout', attrs: { kind: 'tip' }, content },
    {
      type: 'bulletList',
      content: [
        { type: 'listItem', content: [first, ...content] },
        { type: 'listItem', content: [second] },
      ],
    },
    { type: 'taskList', content: [{ type: 'taskItem', attrs: { checked: true }, content: [first, ...content] }] },
    { type: 'table', content: [{ type: 'tableRow', content: row }] },
    { type: 'details', content: parts },
  ]
}

function textIn(value: string): BodyNode[] {
  return value === '' ? [] : [{ type: 'text', text: value }]
}

function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes('\u0000')
}

function numbered(node: BodyNode, newId: () => string): BodyNode {
  const attrs: Attrs = isBlockType(node.type) ? { ...node.attrs, id: newId() } : { ...node.attrs }
  const content = node.content?.map((child) => numbered(child, newId))
  return { ...node, ...(Object.keys(attrs).length > 0 && { attrs }), ...(content && { content }) }
}

type Slot = { siblings: BodyNode[]; index: number; holder: BodyNode }
type Operation = (body: BodyNode, edit: Edit, newId: () => string) => void

const operations: Record<Kind, Operation> = {
  text(body, { at, to, word: added }) {
    const node = pick(textblocksOf(body), at)
    const run = pick(
      (node?.content ?? []).filter((child) => child.type === 'text'),
      to,
    )
    if (node && !run) node.content = textIn(added)
    if (!run) return
    const words = (run.text ?? '').split(' ')
    words.splice(to % (words.length + 1), at % 2, added)
    run.text = words.join(' ')
  },
  marks(body, { at, to, mark: added }) {
    const node = pick(
      textblocksOf(body).filter((one) => one.type !== 'codeBlock'),
      at,
    )
    const run = pick(
      (node?.content ?? []).filter((child) => child.type === 'text'),
      to,
    )
    if (run) run.marks = to % 3 === 0 ? [] : [...(run.marks ?? []).filter((one) => one.type !== added.type), added]
  },
  atom(body, { at, to, word: added }) {
    const node = pick(
      textblocksOf(body).filter((one) => one.type !== 'codeBlock'),
      at,
    )
    if (!node) return
    const content = (node.content ?? []).flatMap((child) => splitOnce(child, to))
    const place = to % (content.length + 1)
    if (at % 3 === 0) content.splice(place, 1)
    else content.splice(place, 0, { type: 'hardBreak' }, ...(at % 3 === 1 ? textIn(added) : []))
    node.content = content
  },
  rewrite(body, { at, fresh, word: added }) {
    const node = pick(textblocksOf(body), at)
    const content = fresh.type === 'paragraph' ? structuredClone(fresh.content) : undefined
    if (node) node.content = node.type === 'codeBlock' || !content ? textIn(added) : content
  },
  insert(body, { at, fresh }, newId) {
    const slot = pick(slotsOf(body), at)
    slot?.siblings.splice(slot.index, 0, numbered(structuredClone(fresh), newId))
  },
  remove(body, { at }) {
    const slot = pick(slotsOf(body).filter(canLose), at)
    slot?.siblings.splice(slot.index, 1)
  },
  move(body, { at, to }) {
    const slot = pick(slotsOf(body).filter(canLose), at)
    const [node] = slot ? slot.siblings.splice(slot.index, 1) : []
    const target = pick(slotsOf(body), to)
    if (node) target?.siblings.splice(target.index + (at % 2), 0, node)
  },
  retype(body, { at, to }) {
    const plainTypes = ['paragraph', 'heading', 'codeBlock']
    const slot = pick(
      slotsOf(body).filter((one) => plainTypes.includes(nodeAt(one).type)),
      at,
    )
    if (!slot) return
    const { attrs, content = [] } = nodeAt(slot)
    const type = plainTypes[to % 3] ?? 'paragraph'
    const kept = type === 'codeBlock' ? textIn(content.map((child) => child.text ?? '').join('')) : content
    slot.siblings[slot.index] = { type, attrs: { id: attrs?.id ?? null }, content: kept }
  },
  attribute(body, { at, to }) {
    const node = pick(blocksOf(body), at)?.node
    const attrs = node?.attrs
    if (!attrs) return
    if (node.type === 'heading') attrs.level = (to % 6) + 1
    if (node.type === 'taskItem') attrs.checked = to % 2 === 0
    if (node.type === 'paragraph') attrs.textAlign = to % 2 === 0 ? 'center' : null
    if (node.type === 'codeBlock') attrs.language = to % 2 === 0 ? 'sql' : null
  },
  wrap(body, { at }, newId) {
    const slot = pick(slotsOf(body), at)
    const node = slot && nodeAt(slot)
    if (!slot || !node) return
    if (node.type === 'blockquote') slot.siblings.splice(slot.index, 1, ...(node.content ?? []))
    else slot.siblings[slot.index] = { type: 'blockquote', attrs: { id: newId() }, content: [node] }
  },
}

/** The positions at which a block of the group `block` may be replaced by any other. */
function slotsOf(body: BodyNode): Slot[] {
  const holders = [body, ...blocksOf(body).map(({ node }) => node)]
  return holders.flatMap((holder) => {
    const siblings = holder.content ?? []
    if (!['doc', 'blockquote', 'callout', 'listItem', 'taskItem', 'tableCell', 'detailsContent'].includes(holder.type))
      return []
    const first = holder.type.endsWith('Item') ? 1 : 0
    return siblings.slice(first).map((_, index) => ({ siblings, index: index + first, holder }))
  })
}

function canLose({ siblings, holder }: Slot): boolean {
  return siblings.length > 1 || holder.type.endsWith('Item')
}

function nodeAt({ siblings, index }: Slot): BodyNode {
  return siblings[index] ?? { type: 'paragraph' }
}

function splitOnce(node: BodyNode, at: number): BodyNode[] {
  const units = [...(node.text ?? '')]
  if (node.type !== 'text' || units.length < 2) return [node]
  const middle = 1 + (at % (units.length - 1))
  return [units.slice(0, middle), units.slice(middle)].map((part) => ({ ...node, text: part.join('') }))
}

function pick<T>(items: readonly T[], at: number): T | undefined {
  return items[at % Math.max(items.length, 1)]
}
