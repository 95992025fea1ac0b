import fc from 'fast-check'
import { BlockLines } from '../../shared/body/block-lines.ts'
import { documentToLines } from '../../shared/body/canonical.ts'
import type { DocNode } from '../../shared/body/document.ts'
import { outlineOf } from '../../shared/body/outline.ts'
import { estimateTokens, type ReadQuery, type ReadView, readWindow } from '../../shared/body/read.ts'
import { t } from '../support/tap.ts'
import { at, doc, h, p, ul } from './build.ts'
import { anyDocument } from './random.ts'

const lines = (document: DocNode) => new BlockLines(documentToLines(document))
const query = (changes: Partial<ReadQuery> = {}): ReadQuery => ({
  view: 'markdown',
  maxTokens: 4000,
  contextBefore: 2,
  contextAfter: 4,
  ...changes,
})

t.test('an outline tells where each section begins and ends, and what it is part of', async (t) => {
  const document = doc(p('pre'), h(1, 'A'), p('x'), h(2, 'B'), p('y'), h(3, ''), h(1, 'A'), p('z'))
  const { sections, ...outline } = outlineOf(document.content)
  t.match(outline, {
    block_count: 8,
    heading_count: 4,
    preamble: { start_position: 0, end_position: 0, block_count: 1 },
  })
  t.match(sections, [
    {
      title: 'A',
      level: 1,
      heading_path: ['A'],
      parent_block_id: null,
      start_position: 1,
      end_position: 5,
      block_count: 5,
    },
    {
      title: 'B',
      heading_path: ['A', 'B'],
      parent_block_id: at(document, 1).attrs.id,
      start_position: 3,
      end_position: 5,
    },
    { title: '', heading_path: ['A', 'B', ''], start_position: 5, end_position: 5, block_count: 1 },
    { title: 'A', heading_path: ['A'], start_position: 6, end_position: 7, end_block_id: at(document, 7).attrs.id },
  ])
  t.equal(outlineOf(doc(h(1, 'x')).content).preamble, null)
})

t.test('what is read and what is omitted make up the document, for every budget and page', async () => {
  const views = fc.constantFrom<ReadView>('markdown', 'tiptap-json', 'plain-text')
  const shape = fc.record({
    view: views,
    maxTokens: fc.integer({ min: 64, max: 300 }),
    contextBefore: fc.nat(3),
    contextAfter: fc.nat(3),
  })
  fc.assert(
    fc.property(anyDocument, shape, fc.option(fc.nat(20)), (document, limits, around) => {
      const body = lines(document)
      const id = around === null ? undefined : at(document, around % document.content.length).attrs.id
      const asked = query({ ...limits, ...(id !== undefined && { around: id }) })
      let resume: number | null | undefined
      let expected: number | undefined
      do {
        const page = readWindow(body, resume === undefined ? asked : { ...asked, resume: resume as number })
        const { from_position: from, to_position: to } = page.range
        const omitted = page.omitted_ranges.flatMap((range) => positions(range.from_position, range.to_position))
        const all = [...positions(from, to), ...omitted].sort((a, b) => a - b)
        if (all.join() !== positions(0, document.content.length - 1).join()) return false
        if (page.budget_exceeded && page.range.block_count > 1) return false
        if (page.has_more !== (page.resume !== null) || (page.has_more && !page.truncated)) return false
        if (expected !== undefined && from !== expected) return false
        expected = to + 1
        resume = page.resume
      } while (resume !== null)
      return true
    }),
  )
})

t.test('a read around a block takes it first and grows to both sides', async (t) => {
  const document = doc(...Array.from({ length: 20 }, (_, index) => p(`block ${index}`)), ul(p('deep')))
  const body = lines(document)
  const nested = at(document, 20).content?.[0]?.content?.[0]?.attrs?.id as string
  t.match(readWindow(body, query({ around: nested })).range, { from_position: 18, to_position: 20 })
  const around = readWindow(body, query({ around: at(document, 10).attrs.id }))
  t.match(around, {
    range: { from_position: 8, to_position: 14, block_count: 7 },
    truncated: false,
    has_more: false,
    resume: null,
  })
  t.strictSame(around.omitted_ranges, [
    { from_position: 0, to_position: 7 },
    { from_position: 15, to_position: 20 },
  ])
  t.throws(() => readWindow(body, query({ around: 'block_x' })), { code: 'block_not_found', status: 404 })
  t.throws(() => readWindow(body, query({ resume: 99 })), { code: 'invalid_cursor' })
})

t.test('a block over the budget is returned alone and says so', async (t) => {
  const body = lines(doc(p('é'.repeat(100)), p('b')))
  t.match(readWindow(body, query({ maxTokens: 64 })), {
    budget_exceeded: true,
    range: { block_count: 1 },
    resume: 1,
    truncated: true,
  })
  t.equal(estimateTokens('abcd'), 1)
  t.equal(estimateTokens('abcde'), 2)
  t.equal(estimateTokens('éa'), 2)
})

function positions(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}
