import { isDeepStrictEqual } from 'node:util'
import { applyPatch } from 'diff'
import fc from 'fast-check'
import { documentToLines } from '../../../shared/body/canonical.ts'
import type { BlockNode, BodyNode, Mark } from '../../../shared/body/document.ts'
import { sameMarks } from '../../../shared/body/marks.ts'
import { isTextblock } from '../../../shared/body/nodes.ts'
import { wordsOf } from '../../../shared/body/words.ts'
import { compareTexts } from '../../../shared/differences/compare.ts'
import { inlineHunks } from '../../../shared/differences/inline-hunks.ts'
import { unifiedText } from '../../../shared/differences/unified-text.ts'
import { runs } from '../../support/runs.ts'
import { t } from '../../support/tap.ts'
import { doc, p, text } from '../build.ts'
import { anyPair, type Pair } from './pairs.ts'

type Hunk = ReturnType<typeof inlineHunks>[number]
type Difference = {
  op: string
  block_id: string
  old_position: number | null
  new_position: number | null
  before: BlockNode | null
  after: BlockNode | null
  hunks?: Hunk[]
  children?: { block_id: string; hunks: Hunk[] }[]
}

t.test('the difference of two bodies leads from one to the other, in both directions', async () => {
  fc.assert(
    fc.property(anyPair, ({ from, to }) => {
      const differences = differencesOf({ from, to })
      const forth = applied(from.content, differences)
      return (
        isDeepStrictEqual(forth, to.content) &&
        isDeepStrictEqual(applied(forth, differences.map(reversed)), from.content)
      )
    }),
  )
})

t.test('the hunks of a modified block rebuild its text on both sides, with all marks and nodes', async (t) => {
  let rebuilt = 0
  fc.assert(
    fc.property(anyPair, (pair) =>
      differencesOf(pair).every(({ op, before, after, hunks, children }) => {
        if (op !== 'modified' || before === null || after === null) return (hunks ?? children) === undefined
        const [olds, news] = [textblocksOf(before), textblocksOf(after)]
        const isText = isTextblock(before.type) && isTextblock(after.type)
        const all = hunks === undefined ? (children ?? []) : [{ block_id: before.attrs.id, hunks }]
        rebuilt += all.length
        const changed = [...new Set([...olds.keys(), ...news.keys()])].filter(
          (id) => !isDeepStrictEqual(olds.get(id) ?? [], news.get(id) ?? []),
        )
        const areNamed = isDeepStrictEqual(changed.sort(), all.map(({ block_id }) => block_id).sort())
        const areRebuilt = all.every(
          ({ block_id: id, hunks }) =>
            isDeepStrictEqual(sideOf(hunks, 'delete'), olds.get(id) ?? []) &&
            isDeepStrictEqual(sideOf(hunks, 'insert'), news.get(id) ?? []),
        )
        return areRebuilt && (hunks !== undefined) === isText && (isText || areNamed)
      }),
    ),
  )
  t.ok(rebuilt > runs.numRuns / 2, `${rebuilt} texts were compared`)
})

t.test('blocks that have only shifted are not named', async (t) => {
  const from = doc(p('one'), p('two'), p('three'))
  const [one, two, three] = from.content as [BlockNode, BlockNode, BlockNode]
  const added = doc(p('new')).content[0] as BlockNode
  const to = { type: 'doc' as const, content: [added, one, two, three] }
  t.match(differencesOf({ from, to }), [
    { op: 'added', old_position: null, new_position: 0, before: null, after: added },
  ])
  const swapped = differencesOf({ from, to: { type: 'doc', content: [two, one, three] } })
  t.equal(swapped.length, 1)
  t.match(swapped, [{ op: 'moved' }])
  const both = { ...two, content: [text('two!')] }
  const edited = differencesOf({ from, to: { type: 'doc', content: [one, three, both] } })
  t.match(
    edited.find(({ block_id }) => block_id === two.attrs.id),
    { op: 'modified', old_position: 1, new_position: 2 },
  )
})

t.test('what stays is shown as words that stay', async (t) => {
  const hunks = (before: BodyNode[], after: BodyNode[]) => inlineHunks(before, after)
  t.strictSame(hunks([text('one two three')], [text('one 2 three')]), [
    { op: 'equal', text: 'one ' },
    { op: 'delete', text: 'two' },
    { op: 'insert', text: '2' },
    { op: 'equal', text: ' three' },
  ])
  t.strictSame(hunks([text('水は命だ')], [text('水が命だ')]), [
    { op: 'equal', text: '水' },
    { op: 'delete', text: 'は' },
    { op: 'insert', text: 'が' },
    { op: 'equal', text: '命だ' },
  ])
  const bold: Mark[] = [{ type: 'bold' }]
  t.strictSame(
    hunks([text('one two')], [text('one '), text('two', 'bold')]),
    [
      { op: 'equal', text: 'one ' },
      { op: 'delete', text: 'two' },
      { op: 'insert', text: 'two', marks: bold },
    ],
    'a changed mark is a changed word',
  )
  t.strictSame(
    hunks([text('un'), text('do', 'bold')], [text('re'), text('do', 'bold')]),
    [
      { op: 'delete', text: 'un' },
      { op: 'delete', text: 'do', marks: bold },
      { op: 'insert', text: 're' },
      { op: 'insert', text: 'do', marks: bold },
    ],
    'a word with two marks is one word',
  )
  const mention: BodyNode = { type: 'mention', attrs: { id: 'usr_1', label: 'Ann' } }
  t.strictSame(hunks([text('Ask '), mention], [text('Ask '), mention, text('!')]), [
    { op: 'equal', text: 'Ask ' },
    { op: 'equal', text: '@Ann', node: mention },
    { op: 'insert', text: '!' },
  ])
  t.strictSame(hunks([], []), [])
})

t.test('words are never split within a grapheme, and together they are the text', async (t) => {
  const parts = fc.constantFrom(
    ...['a', 'word', ' ', '\n', '\r', 'é', 'e\u0301', '漢', '葛\u{e0100}', 'ที่', 'น้ำ', 'ක්‍ෂ', 'नि', '👩‍👩‍👧', '🇩🇪'],
    ...['🏻', '1️⃣', '.', '_', '\u200d', '\u0301', 'می‌خواهم', '한국', '\ufeff'],
  )
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 12 }), (chosen) => {
      const joined = chosen.join('')
      const starts = new Set([...graphemes.segment(joined)].map(({ index }) => index))
      let offset = 0
      const areWhole = wordsOf(joined).every((word) => {
        const begins = starts.has(offset)
        offset += word.length
        return begins
      })
      return areWhole && wordsOf(joined).join('') === joined
    }),
  )
  t.strictSame(wordsOf('It is 5 o’clock, 漢字。'), [
    ...['It', ' ', 'is', ' ', '5', ' ', 'o', '’', 'clock', ',', ' ', '漢', '字', '。'],
  ])
  t.strictSame(wordsOf('می‌خواهم'), ['می‌خواهم'], 'a word may contain a joiner')
})

t.test('a unified difference can be applied by the usual tools', async (t) => {
  const line = fc.constantFrom('', 'a', 'b', 'c', '- d', '+ e', '@@ -1,1 +1,1 @@', '\\ f', 'g\u2028h')
  const content = fc.array(line, { maxLength: 30 }).map((lines) => lines.map((text) => `${text}\n`).join(''))
  fc.assert(
    fc.property(content, content, (from, to) => {
      const unified = unifiedText({ from, to }, { from: 'version 1', to: 'current' })
      return from === to ? unified === '' : applyPatch(from, unified, { autoConvertLineEndings: false }) === to
    }),
  )
  const numbered = (count: number, changed: number[]) =>
    Array.from({ length: count }, (_, index) => `${changed.includes(index) ? 'changed' : index}\n`).join('')
  t.equal(
    unifiedText({ from: numbered(30, []), to: numbered(30, [4, 11, 25]) }, { from: 'version 1', to: 'current' }),
    [
      '--- version 1\n+++ current\n@@ -2,14 +2,14 @@\n 1\n 2\n 3\n-4\n+changed\n 5\n 6\n 7\n 8\n 9\n 10\n-11\n+changed',
      ' 12\n 13\n 14\n@@ -23,7 +23,7 @@\n 22\n 23\n 24\n-25\n+changed\n 26\n 27\n 28\n',
    ].join('\n'),
  )
  t.match(unifiedText({ from: '', to: 'a\n' }, { from: 'version 1', to: 'current' }), '@@ -0,0 +1,1 @@\n+a\n')
})

t.test('a hostile text does not make the difference many times as large as the two bodies', async (t) => {
  const href = `https://example.org/${'x'.repeat(8000)}`
  const words = (changed: boolean) =>
    Array.from({ length: 20_000 }, (_, index) => (changed && index % 2 === 0 ? 'b' : 'a')).join(' ')
  const linked = (value: string) => [text(value, { type: 'link', attrs: { href } })]
  const [before, after] = [linked(words(false)), linked(words(true))]
  const hunks = inlineHunks(before, after)
  t.ok(JSON.stringify(hunks).length < 5 * JSON.stringify([before, after]).length)
  t.strictSame(sideOf(hunks, 'delete'), before)
  t.strictSame(sideOf(hunks, 'insert'), after)
})

function reversed({ before, after, old_position, new_position, ...rest }: Difference): Difference {
  return { ...rest, before: after, after: before, old_position: new_position, new_position: old_position }
}

function differencesOf({ from, to }: Pair): Difference[] {
  const side = { seq: 'current' as const, version: '' }
  const heading = { document_id: 'doc_1', from: side, to: side }
  const texts = { from: documentToLines(from).join('\n'), to: documentToLines(to).join('\n') }
  return JSON.parse(compareTexts({ ...texts, heading, format: 'json', roomForWords: Infinity })).blocks
}

// Applies a difference as the guide says: takes out what is removed or has moved, puts in what is new or has moved,
// lowest position first, and replaces what is modified.
function applied(blocks: readonly BlockNode[], differences: readonly Difference[]): BlockNode[] {
  const named = new Set(differences.map(({ block_id }) => block_id))
  const result = blocks.filter(({ attrs }) => !named.has(attrs.id))
  const placed = differences.filter(({ new_position }) => new_position !== null)
  for (const { new_position, after } of placed.sort((a, b) => Number(a.new_position) - Number(b.new_position))) {
    result.splice(Number(new_position), 0, after as BlockNode)
  }
  return result
}

function sideOf(hunks: readonly Hunk[], op: 'insert' | 'delete'): BodyNode[] {
  const nodes: BodyNode[] = []
  for (const { op: own, text, marks, node } of hunks) {
    if (own !== 'equal' && own !== op) continue
    const last = nodes.at(-1)
    if (node !== undefined) nodes.push(node)
    else if (last?.type === 'text' && sameMarks(last.marks, marks)) {
      nodes[nodes.length - 1] = { ...last, text: `${last.text}${text}` }
    } else nodes.push({ ...(marks && { marks }), text, type: 'text' })
  }
  return nodes
}

function textblocksOf(block: BodyNode): Map<string, readonly BodyNode[]> {
  const { type, attrs, content = [] } = block
  if (isTextblock(type)) return new Map([[String(attrs?.['id']), content]])
  return new Map(content.flatMap((child) => [...textblocksOf(child)]))
}
