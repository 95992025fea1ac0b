import fc from 'fast-check'
import { BlockLines, blockIds } from '../../shared/body/block-lines.ts'
import { currentBlockHash, describeBlock, listBlocks } from '../../shared/body/blocks.ts'
import { blockHash, bodyVersion, documentToLines, linesToDocument } from '../../shared/body/canonical.ts'
import type { BlockNode, BodyNode, DocNode } from '../../shared/body/document.ts'
import { applyBatch, applyOperation, type Operation } from '../../shared/body/edit.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'
import { HeadingPaths } from '../../shared/body/outline.ts'
import type { Position } from '../../shared/body/placement.ts'
import { plainText } from '../../shared/body/text.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { t } from '../support/tap.ts'
import { at, blockId, doc, h, node, p, ul, withoutIds } from './build.ts'
import { anyDocument } from './random.ts'

const id = (document: DocNode, ...path: number[]): string => {
  const [first, ...rest] = path
  return rest.reduce<BodyNode>((n, index) => n.content?.[index] as BodyNode, at(document, first as number)).attrs
    ?.id as string
}
const apply = (document: DocNode, operation: Operation) =>
  linesToDocument(applyOperation(documentToLines(document), operation).body.toLines())
const refused = (document: DocNode, operation: Operation) => {
  try {
    apply(document, operation)
    return null
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, status: error.status, details: error.details }
    throw error
  }
}
const insert = (document: DocNode, position: Position, ...nodes: BodyNode[]) =>
  apply(document, { op: 'insert', position, nodes })

t.test('blocks go to the position that is named', async (t) => {
  const document = doc(h(1, 'Big  Title'), p('x'), h(2, 'title'), ul(p('a')))
  const texts = (position: Position) => insert(document, position, p('new')).content.map((block) => plainText(block))
  t.strictSame(texts({ document_start: true })[0], 'new')
  t.strictSame(texts({ document_end: true })[4], 'new')
  t.strictSame(texts({ before_block_id: id(document, 1) })[1], 'new')
  t.strictSame(texts({ after_block_id: id(document, 1) })[2], 'new')
  t.strictSame(texts({ after_heading: ' TITLE ' })[3], 'new', 'an exact match comes before one that contains')
  t.strictSame(texts({ after_heading: 'big title' })[1], 'new')
  t.strictSame(texts({ after_heading: 'ig' })[1], 'new')
  t.strictSame(texts({ parent_block_id: id(document, 3, 0) })[3], 'a\nnew')
  t.strictSame(texts({ after_block_id: id(document, 3, 0, 0) })[3], 'a\nnew')
  for (const heading of ['no', '', ' ']) {
    t.match(refused(document, { op: 'insert', position: { after_heading: heading }, nodes: [p()] }), {
      code: 'heading_not_found',
      details: { heading },
    })
  }
})

t.test('frontmatter stays first', async (t) => {
  const document = doc(node('frontmatter', { yaml: 'a' }), p('x'))
  t.equal(insert(document, { document_start: true }, p('new')).content[0]?.type, 'frontmatter')
  const before = { before_block_id: id(document, 0) }
  t.match(refused(document, { op: 'insert', position: before, nodes: [p()] }), { code: 'invalid_position' })
  const another = [node('frontmatter', { yaml: '' })]
  t.match(refused(document, { op: 'insert', position: { document_end: 1 }, nodes: another }), {
    code: 'invalid_position',
  })
})

t.test('what cannot stand somewhere is refused there, and ids stay unique', async (t) => {
  const document = doc(p('x'), ul(p('a')), node('details', {}, node('detailsSummary'), node('detailsContent', {}, p())))
  const item = node('listItem', {}, p('i'))
  const cases: [Operation, object][] = [
    [
      { op: 'insert', position: { document_end: true }, nodes: [item] },
      { code: 'invalid_position', status: 422 },
    ],
    [{ op: 'insert', position: { parent_block_id: id(document, 1) }, nodes: [p()] }, { code: 'invalid_position' }],
    [{ op: 'insert', position: { parent_block_id: id(document, 0) }, nodes: [p()] }, { code: 'invalid_position' }],
    [
      { op: 'insert', position: { after_block_id: blockId('9') }, nodes: [p()] },
      { code: 'block_not_found', status: 422 },
    ],
    [
      { op: 'insert', position: { document_end: true }, nodes: [p(), node('paragraph', { id: id(document, 0) })] },
      { code: 'duplicate_block_id', status: 422 },
    ],
    [
      { op: 'insert', position: { document_end: true }, nodes: [p(), { type: 'x' }] },
      { code: 'invalid_node', details: { path: '/nodes/1' } },
    ],
    [
      { op: 'replace', block_id: id(document, 0), node: node('paragraph', { id: blockId('9') }) },
      { code: 'block_id_mismatch' },
    ],
    [{ op: 'replace', block_id: id(document, 1, 0), node: p() }, { code: 'invalid_position' }],
    [
      { op: 'replace', block_id: id(document, 0), node: { type: 'paragraph', content: [{ type: 'x' }] } },
      { code: 'invalid_node', details: { path: '/node/content/0' } },
    ],
    [
      { op: 'patch', block_id: id(document, 0), attrs: { textAlign: 'up' } },
      { code: 'invalid_node', details: { block_id: id(document, 0) } },
    ],
    [{ op: 'delete', block_id: id(document, 2, 0) }, { code: 'invalid_position' }],
    [{ op: 'delete', block_id: blockId('9') }, { code: 'block_not_found' }],
  ]
  for (const [operation, expected] of cases) t.match(refused(document, operation), expected, JSON.stringify(operation))
  t.equal(insert(document, { parent_block_id: id(document, 1) }, item).content[1]?.content?.length, 2)
})

t.test('a patch keeps the id, merges attributes and resets with null', async (t) => {
  const document = doc(node('heading', { level: 2, textAlign: 'center' }, 'x'))
  const block_id = id(document, 0)
  const patch = (operation: object) => at(apply(document, { op: 'patch', block_id, ...operation } as Operation), 0)
  t.match(patch({ attrs: { level: 3 } }).attrs, { id: block_id, level: 3, textAlign: 'center' })
  t.strictSame(patch({ attrs: { textAlign: null, level: null } }).attrs, { id: block_id, level: 1 })
  t.equal(plainText(patch({ content: [{ type: 'text', text: 'y' }] })), 'y')
  const replaced = at(apply(document, { op: 'replace', block_id, node: p('z') }), 0)
  t.match(replaced, { type: 'paragraph', attrs: { id: block_id } })
})

t.test('deleting prunes what it empties, and leaves a paragraph where one has to be', async (t) => {
  const cell = node('table', {}, node('tableRow', {}, node('tableCell', {}, p('c'))))
  const item = node('bulletList', {}, node('listItem', {}, p('a'), h(1, 'b')))
  const document = doc(p('x'), node('blockquote', {}, ul(p('a'))), cell, item)
  const without = (...path: number[]) => apply(document, { op: 'delete', block_id: id(document, ...path) })
  t.strictSame(
    without(1, 0, 0, 0).content.map((block) => block.type),
    ['paragraph', 'table', 'bulletList'],
  )
  t.match(at(without(2, 0, 0, 0), 2).content?.[0]?.content?.[0]?.content, [{ type: 'paragraph', content: undefined }])
  t.strictSame(
    without(2, 0, 0).content.map((block) => block.type),
    ['paragraph', 'blockquote', 'bulletList'],
  )
  t.strictSame(
    at(without(3, 0, 0), 3).content?.[0]?.content?.map((block) => block.type),
    ['paragraph', 'heading'],
  )
  const single = doc(p('x'))
  t.equal(withoutIds(apply(single, { op: 'delete', block_id: id(single, 0) })), withoutIds(doc(p())))
})

t.test('a batch is applied in order or not at all, its hashes held against the body as it was', async (t) => {
  const document = doc(p('a'), p('b'))
  const lines = documentToLines(document)
  const hash = blockHash(at(document, 0))
  const made = node('paragraph', { id: blockId('A') })
  const { body, results } = applyBatch({ lines, version: bodyVersion(lines) }, [
    { op: 'insert', position: { document_start: true }, nodes: [made] },
    { op: 'replace', block_id: blockId('A'), node: p('first') },
    { op: 'replace', block_id: id(document, 0), node: p('a2'), if_match: `"${hash}"` },
    { op: 'delete', block_id: id(document, 1) },
  ])
  t.strictSame(
    linesToDocument(body.toLines()).content.map((block) => plainText(block)),
    ['first', 'a2'],
  )
  t.match(results, [{ index: 0, op: 'insert', block_ids: [blockId('A')] }, {}, {}, { block_ids: [id(document, 1)] }])
  t.throws(
    () =>
      applyBatch({ lines, version: bodyVersion(lines) }, [
        { op: 'delete', block_id: id(document, 0) },
        { op: 'delete', block_id: id(document, 1), if_match: hash },
      ]),
    { code: 'version_conflict', details: { operation_index: 1, block_id: id(document, 1) } },
  )
  t.throws(
    () =>
      applyBatch({ lines, version: bodyVersion(lines) }, [
        { op: 'delete', block_id: id(document, 0) },
        { op: 'delete', block_id: id(document, 0) },
      ]),
    { code: 'block_not_found', details: { operation_index: 1 } },
  )
})

t.test('a listing tells where each block is, and its hash can be verified', async (t) => {
  const document = doc(p('x'), h(1, 'A'), ul(p('a')))
  const body = new BlockLines(documentToLines(document))
  const all = [...listBlocks(body, { recursive: true })]
  t.strictSame(
    all.map((block) => [block.type, block.depth, block.position]),
    [
      ['paragraph', 0, 0],
      ['heading', 0, 1],
      ['bulletList', 0, 2],
      ['listItem', 1, 2],
      ['paragraph', 2, 2],
    ],
  )
  t.match(all[4], { parent_block_id: id(document, 2, 0), heading_path: ['A'], text: 'a' })
  t.strictSame(all[1]?.heading_path, ['A'])
  t.equal([...listBlocks(body, { recursive: false })].length, 3)
  for (const block of all) {
    t.strictSame(describeBlock(body, block.block_id), block)
    t.equal(currentBlockHash(body, block.block_id), blockHash(block.node))
  }
  t.equal(describeBlock(body, blockId('9')), null)
})

t.test('whoever lists a document of many headings waits as long for each as in a short one', async (t) => {
  const reads = (count: number, list: (body: BlockLines) => void) => {
    const headings = Array.from({ length: count }, (_, index) => h(1 + (index % 6), `heading ${index}`))
    const body = new CountingLines(documentToLines(doc(...headings)))
    list(body)
    return body.reads
  }
  const lists: ((body: BlockLines) => void)[] = [
    (body) => [...listBlocks(body, { recursive: false })],
    (body) => [...listBlocks(body, { recursive: true })],
    (body) => {
      const paths = new HeadingPaths(body)
      const ids = Array.from({ length: body.length }, (_, position) => body.block(position).attrs.id)
      for (const id of ids) describeBlock(body, id, paths)
    },
  ]
  for (const list of lists) {
    const [short, long] = [reads(100, list), reads(800, list)]
    t.ok(short > 0 && long <= 9 * short, `${long} reads of a heading instead of ${short}`)
  }
})

t.test('a listing goes on anywhere as if it had begun at the start', async () => {
  fc.assert(
    fc.property(anyDocument, fc.boolean(), fc.nat(60), (document, recursive, from) => {
      const lines = documentToLines(document)
      const all = [...listBlocks(new BlockLines(lines), { recursive })]
      const rest = [...listBlocks(new BlockLines(lines), { recursive, from })]
      return JSON.stringify(rest) === JSON.stringify(all.slice(from))
    }),
  )
})

t.test('heading paths are the same in whatever order they are asked for', async () => {
  const blocks = fc.array(
    fc.oneof(
      fc.constant(p('x')),
      fc.nat(5).map((level) => h(level + 1, `level ${level}`)),
    ),
    { minLength: 1, maxLength: 30 },
  )
  fc.assert(
    fc.property(blocks, fc.array(fc.nat(29), { maxLength: 8 }), (content, asked) => {
      const body = new BlockLines(documentToLines(doc(...content)))
      const paths = new HeadingPaths(body)
      return asked
        .filter((position) => position < content.length)
        .every((position) => paths.at(position).join() === new HeadingPaths(body).at(position).join())
    }),
  )
})

t.test('any edit leaves a body in normal form and does not touch other top-level blocks', async () => {
  const steps = fc.array(fc.tuple(fc.nat(200), fc.constantFrom('delete', 'replace', 'after', 'before')), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(anyDocument, steps, (document, script) => {
      let current = document
      for (const [pick, kind] of script) {
        const ids = current.content.flatMap((block) => blockIds(block))
        const target = ids[pick % ids.length] as string
        const edited = tryApply(current, operationOf(kind, target))
        const again = normaliseDocument(edited, { from: 'json' }).result
        if (JSON.stringify(again) !== JSON.stringify(edited)) return false
        const before = new Set(documentToLines(current))
        if (documentToLines(edited).filter((line) => !before.has(line)).length > 1) return false
        current = edited
      }
      return true
    }),
  )
})

// Counts the accesses to the content of a block.
class CountingLines extends BlockLines {
  reads = 0

  override block(position: number): BlockNode {
    const block = super.block(position)
    const { content = [] } = block
    const count = () => {
      this.reads += 1
      return content
    }
    return Object.defineProperty({ ...block }, 'content', { get: count, enumerable: true })
  }
}

function operationOf(kind: string, target: string): Operation {
  if (kind === 'delete') return { op: 'delete', block_id: target }
  if (kind === 'replace') return { op: 'replace', block_id: target, node: p('new') }
  const position = kind === 'after' ? { after_block_id: target } : { before_block_id: target }
  return { op: 'insert', position, nodes: [p('new')] }
}

function tryApply(document: DocNode, operation: Operation): DocNode {
  try {
    return apply(document, operation)
  } catch (error) {
    if (error instanceof Refusal && error.status === 422) return document
    throw error
  }
}
