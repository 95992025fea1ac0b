import fc from 'fast-check'
import { documentToLines, linesToDocument } from '../../shared/body/canonical.ts'
import type { BlockNode, BodyNode, DocNode } from '../../shared/body/document.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'
import { editBody } from '../../shared/body/text-edits/edit-texts.ts'
import type { ReplaceEdit, TextEdit } from '../../shared/body/text-edits/schema.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'
import { doc, p, text } from './build.ts'
import { anyDocument } from './random.ts'

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

// Pieces of text that meet each other in many ways: repetitions, letters whose folding is longer, and graphemes of
// several characters.
const foldings: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'ss',
  İ: 'i\u0307',
  ﬁ: 'fi',
  ŉ: '\u02bcn',
  ς: 'σ',
  Σ: 'σ',
  '\u212a': 'k',
  É: 'é',
}
const plain = ['a', 'aa', 'ab', 'A', 'b', ' ', 's', 'S', 'ss', 'i', 'f', 'k', 'K', '"', '\\', '\n', '水', '\r']
const graphemes = [
  ...['e\u0301', 'e', '\u0301', '👩‍👩‍👧', '👩', '🇩🇪', '🇩', '\u1100\u1161\u11a8', '\u1100', '👍🏽', '👍', '\u200d'],
]
const words = fc
  .array(fc.constantFrom(...plain, ...graphemes, ...Object.keys(foldings), ...Object.values(foldings)), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(''))
const line = words.map((value) => value.replaceAll('\n', '')).filter((value) => value !== '')

/** A document of random structure and marks whose texts are random words. */
const document = fc
  .tuple(anyDocument, fc.array(words, { minLength: 3, maxLength: 12 }))
  .map(([structure, texts]): DocNode => {
    let index = 0
    const filled = (node: BodyNode): BodyNode => ({
      ...node,
      ...(node.type === 'text' && { text: texts[index++ % texts.length] }),
      ...(node.content && { content: node.content.map(filled) }),
    })
    const content = structure.content.map(filled)
    return normaliseDocument({ type: 'doc', content }, { from: 'json' }).result
  })

const replacement = fc.record({
  /** Where in the text of the document the text to find is taken from; otherwise it is random. */
  from: fc.option(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 6 })), { freq: 4 }),
  random: line,
  replace: fc.oneof(line, fc.constant('')),
  occurrence: fc.constantFrom('only' as const, 'first' as const, 'all' as const),
  match_case: fc.boolean(),
  /** Which block to search, if not the document. */
  block: fc.option(fc.nat(), { freq: 2 }),
})

type Replacement = typeof replacement extends fc.Arbitrary<infer Value> ? Value : never

t.test('a replaced text changes exactly where it stands: all ids, marks and other texts stay', async (t) => {
  const met = { done: 0, missing: 0, ambiguous: 0 }
  const property = fc.property(document, replacement, (before, random) => {
    const edit = editOf(before, random)
    const expected = replacedByModel(before, edit)
    const outcome = outcomeOf(before, [edit])
    if (typeof expected === 'string') {
      met[expected === 'text_not_found' ? 'missing' : 'ambiguous'] += 1
      return outcome === expected
    }
    met.done += 1
    if (typeof outcome === 'string') throw new Error(outcome)
    const isNormal =
      JSON.stringify(documentToLines(normaliseDocument(outcome.document, { from: 'json' }).result)) ===
      JSON.stringify(documentToLines(outcome.document))
    const actual = JSON.stringify([flat(outcome.document), outcome.applied])
    if (actual !== JSON.stringify([expected.flat, expected.applied])) {
      throw new Error(`${actual}\n${JSON.stringify([expected.flat, expected.applied])}`)
    }
    return isNormal
  })
  fc.assert(property, runsTimes(5))
  t.ok(met.done > 20 && met.missing > 20 && met.ambiguous > 5, JSON.stringify(met))
})

t.test('edits in one request do what they do in one request each', async (t) => {
  const edits = fc.array(replacement, { minLength: 2, maxLength: 5 })
  const property = fc.property(document, edits, (before, chosen) => {
    let current = before
    const done: ReplaceEdit[] = []
    for (const random of chosen) {
      const edit = editOf(current, { ...random, occurrence: 'all' })
      const outcome = outcomeOf(current, [edit])
      if (typeof outcome === 'string') continue
      current = outcome.document
      done.push(edit)
    }
    const together = outcomeOf(before, done)
    return typeof together !== 'string' && JSON.stringify(together.document) === JSON.stringify(current)
  })
  fc.assert(property)
  t.pass()
})

t.test('a text keeps its case where folding makes a letter longer, and no part of a letter is replaced', async (t) => {
  const replaced = (value: string, find: string) => {
    const outcome = outcomeOf(doc(p(value)), [
      { op: 'replace', find, replace: '-', occurrence: 'all', match_case: false },
    ])
    return typeof outcome === 'string' ? outcome : outcome.document.content[0]?.content?.[0]?.text
  }
  t.equal(replaced('Die Straße endet', 'STRASSE'), 'Die - endet')
  t.equal(replaced('Die STRASSE endet', 'straße'), 'Die - endet')
  t.equal(replaced('Maßband', 's'), 'text_not_found', 'half a ß')
  t.equal(replaced('İstanbul, İzmir', 'İZMİR'.normalize('NFC')), 'text_not_found', 'i with a dot is no plain i')
  t.equal(replaced('İstanbul, İzmir', 'i\u0307zmir'), 'İstanbul, -')
  t.equal(replaced('ΟΔΟΣ οδος οδός', 'οδοσ'), '- - οδός')
  t.equal(replaced('ﬁn Fin', 'FIN'), '- -')
  t.equal(replaced('cafe\u0301', 'cafe'), 'text_not_found', 'a letter without its accent')
  t.equal(replaced('👩‍👩‍👧 👩', '👩'), '👩‍👩‍👧 -', 'a person of a family')
  t.equal(replaced('🇩🇪🇪🇩', '🇪🇪'), 'text_not_found', 'halves of two flags')
  t.equal(replaced('🇩🇪🇪🇩', '🇪🇩'), '🇩🇪-')
})

t.test('a text goes across marks, but not across what is no text', async (t) => {
  const body = doc(p(text('make '), text('this', 'bold'), text(' right'), { type: 'hardBreak' }, text('now', 'italic')))
  const replaced = (find: string) => outcomeOf(body, [{ op: 'replace', find, replace: 'X' }])
  const across = replaced('e this r')
  t.match(typeof across === 'string' ? across : across.document.content[0]?.content, [
    { type: 'text', text: 'makXight' },
    { type: 'hardBreak' },
    { type: 'text', text: 'now' },
  ])
  const inside = replaced('is right')
  t.match(typeof inside === 'string' ? inside : inside.document.content[0]?.content?.[1], {
    text: 'thX',
    marks: [{ type: 'bold' }],
  })
  t.equal(replaced('rightnow'), 'text_not_found')
})

t.test('hundred edits can make no body that is larger than memory', async (t) => {
  const edits = Array.from(
    { length: 100 },
    (): TextEdit => ({ op: 'replace', find: 'a', replace: 'a'.repeat(2000), occurrence: 'all' }),
  )
  t.equal(outcomeOf(doc(p('aa')), edits), 'document_too_large')
})

function editOf(document: DocNode, random: Replacement): ReplaceEdit {
  const { from, block, replace, occurrence, match_case } = random
  const texts = textblocks(document).flatMap(({ content = [] }) => content.flatMap(({ text: value }) => value ?? []))
  const [at = 0, length = 0] = from ?? []
  const points = [...(texts[at % Math.max(1, texts.length)] ?? '')]
  const taken = points
    .slice(at % Math.max(1, points.length))
    .slice(0, length)
    .join('')
    .replaceAll('\n', '')
  const ids = blockIds(document)
  return {
    op: 'replace',
    find: from === null || taken === '' ? random.random : taken,
    replace,
    occurrence,
    match_case,
    ...(block !== null && { block_id: ids[block % ids.length] as string }),
  }
}

type Outcome = { document: DocNode; applied: unknown } | string

function outcomeOf(document: DocNode, edits: readonly TextEdit[]): Outcome {
  const limits = { characterLimit: 500_000, byteLimit: 5_242_880 }
  try {
    const { text: stored, applied } = editBody({
      text: documentToLines(document).join('\n'),
      version: 'sha256:0',
      edits,
      limits,
    })
    return { document: linesToDocument(stored.split('\n')), applied }
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

/**
 * What an edit means, written down as plainly as possible: a document as a list of single units of text with their
 * marks, and of everything else as it is.
 */
function replacedByModel(document: DocNode, edit: ReplaceEdit) {
  const scope = edit.block_id === undefined ? document : find(document, edit.block_id)
  const found = textblocks(scope).map((node) => ({ node, stretches: stretchesOf(node, edit) }))
  const total = found.reduce((sum, { stretches }) => sum + stretches.length, 0)
  if (total === 0) return 'text_not_found'
  if (edit.occurrence === 'only' && total > 1) return 'text_ambiguous'
  const changed = found.filter(({ stretches }) => stretches.length > 0)
  const chosen =
    edit.occurrence === 'all'
      ? changed
      : changed.slice(0, 1).map((one) => ({ ...one, stretches: one.stretches.slice(0, 1) }))
  const byNode = new Map(chosen.map(({ node, stretches }) => [node, stretches]))
  return {
    flat: flat(document, (node) => {
      const units = unitsOf(node)
      for (const [start, end] of (byNode.get(node) ?? []).toReversed()) {
        const { marks } = units[start] as Unit
        units.splice(start, end - start, ...edit.replace.split('').map((unit): Unit => ({ unit, marks })))
      }
      return units
    }),
    applied: [
      {
        index: 0,
        block_ids: chosen.map(({ node }) => node.attrs?.['id']),
        count: chosen.reduce((sum, { stretches }) => sum + stretches.length, 0),
      },
    ],
  }
}

type Unit = { unit: string | BodyNode; marks: string | undefined }

function unitsOf({ content = [] }: BodyNode): Unit[] {
  return content.flatMap((node): Unit[] => {
    if (node.type !== 'text') return [{ unit: node, marks: undefined }]
    return (node.text ?? '').split('').map((unit) => ({ unit, marks: JSON.stringify(node.marks) }))
  })
}

/** The occurrences as ranges of units: graphemes that together fold to the folded text. */
function stretchesOf(node: BodyNode, edit: ReplaceEdit): [number, number][] {
  const fold = edit.match_case === false ? foldedByTable : (value: string) => value
  const wanted = fold(edit.find)
  const stretches: [number, number][] = []
  let offset = 0
  const units = unitsOf(node)
  while (offset < units.length) {
    if (typeof units[offset]?.unit !== 'string') {
      offset += 1
      continue
    }
    const end = units.findIndex(({ unit }, at) => at >= offset && typeof unit !== 'string')
    const run = units.slice(offset, end === -1 ? units.length : end)
    const value = run.map(({ unit }) => unit).join('')
    const parts = [...segmenter.segment(value)].map(({ segment }) => segment)
    for (let at = 0, start = offset; at < parts.length; ) {
      let [last, joined] = [at, '']
      while (last < parts.length && fold(joined).length < wanted.length) joined += parts[last++]
      const isFound = fold(joined) === wanted
      if (isFound) stretches.push([start, start + joined.length])
      start += isFound ? joined.length : (parts[at]?.length ?? 0)
      at = isFound ? last : at + 1
    }
    offset += run.length
  }
  return stretches
}

function foldedByTable(value: string): string {
  return [...value].map((character) => foldings[character] ?? character.toLowerCase()).join('')
}

function flat(node: BodyNode | DocNode, units = unitsOf): unknown {
  const { content = [], ...own } = node
  if (isTextblock(node)) return [own, units(node)]
  return [own, content.map((child) => flat(child, units))]
}

function textblocks(node: BodyNode | DocNode): BodyNode[] {
  return isTextblock(node) ? [node] : (node.content ?? []).flatMap(textblocks)
}

function isTextblock({ type }: BodyNode | DocNode): boolean {
  return ['paragraph', 'heading', 'codeBlock', 'detailsSummary'].includes(type)
}

function blockIds(node: BodyNode | DocNode): string[] {
  const own = 'attrs' in node && typeof node.attrs?.['id'] === 'string' ? [node.attrs['id']] : []
  return [...own.filter((id) => id.startsWith('block_')), ...(node.content ?? []).flatMap(blockIds)]
}

function find(node: BodyNode | DocNode, id: string): BlockNode {
  const found = (candidate: BodyNode | DocNode): BodyNode | undefined => {
    if ('attrs' in candidate && candidate.attrs?.['id'] === id) return candidate
    return (candidate.content ?? []).map(found).find((child) => child !== undefined)
  }
  return found(node) as BlockNode
}
