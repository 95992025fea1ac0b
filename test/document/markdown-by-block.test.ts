import fc from 'fast-check'
import { canonicalJson, documentToLines } from '../../shared/body/canonical.ts'
import type { DocNode } from '../../shared/body/document.ts'
import { type Assembled, assemble } from '../../shared/body/markdown/from-markdown.ts'
import { parseMarkdown } from '../../shared/body/markdown/parse.ts'
import { StoredBlocks } from '../../shared/body/markdown/stored-blocks.ts'
import { linesToMarkdown, toMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { writeBack } from '../../shared/body/markdown/write-back.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { t } from '../support/tap.ts'
import { blockId, p, ul } from './build.ts'
import { anyDocument } from './random.ts'

/** A document long enough that most of its blocks stay as they are when a few change. */
const longDocument: fc.Arbitrary<DocNode> = fc
  .tuple(anyDocument, anyDocument, fc.nat({ max: 400 }))
  .map(([first, other, length]) => {
    const rest = other.content.filter(({ type }) => type !== 'frontmatter')
    const prose = (index: number) => [
      ...[1, 2, 3].map((part) => p(`Plain words in paragraph ${index}.${part}. `.repeat(1 + length / 100), 'end')),
      ul(p(`item ${index}`), p('b')),
      p(),
    ]
    const content = [...first.content, ...rest].flatMap((block, index) => [block, ...prose(index)])
    return normaliseDocument({ type: 'doc', content }, { from: 'json' }).result
  })

const snippets = [
  ...['x', '\n', '\n\n', 'new words\n\n', '\n```\n', '\n~~~\n\n', '\n<!-- open\n', '\n<!-- c -->\n', '\n-->\n\n'],
  ...['\n<div>\n', '\n<pre>\n\n', '\n</pre>\n\n', '\n$$\n', '\n[x]: /y "t"\n\n', '\n\n[x]:\n', '[x] ', '[^1] '],
  ...['\n\n[^1]: note\n\n', '\n[^1]: note\n    more', '\n---\n', '\n===\n', '\n- item\n', '\n> quote\n'],
  ...['\n    indented\n', '    ', '\t', ' \n', '\r\n', '\u00a0', '\ufeff', '\n| a | b |\n| - | - |\n'],
  ...['\n<details>\n<summary>s</summary>\n\n', '\n<details>\n<summary>\n\n', '\n</summary>\n\n', '\n\n</details>\n\n'],
  ...['<b>', '$a$', '==m==', '`', '\\', `\n<!-- block=${blockId('N')} -->\n`],
  ...[`\n<!-- block=${blockId('M')} slug -->\n\nnew block\n\n`, '\n<!-- block=bad -->\n'],
  ...[`<!-- block=${blockId('K')} -->`, `> <!-- block=${blockId('P')} -->\n`, '![](data:x)', '[](/a)'],
]

type Edit = { kind: string; at: number; other: number; snippet: string }
const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom(
    ...['insert', 'insert', 'insert', 'insertBehindAnchor', 'delete', 'deleteLine', 'move', 'nested', 'swapIds'],
  ),
  at: fc.nat({ max: 9999 }),
  other: fc.nat({ max: 9999 }),
  snippet: fc.constantFrom(...snippets),
})

/** Applies an edit to a text. `at` and `other` choose places as fractions of 10,000. */
function edited(markdown: string, { kind, at, other, snippet }: Edit, stored: DocNode): string {
  const place = Math.floor((markdown.length * at) / 10_000)
  if (kind === 'insert') return markdown.slice(0, place) + snippet + markdown.slice(place)
  if (kind === 'delete') return markdown.slice(0, place) + markdown.slice(place + (other % 40))
  const lines = markdown.split('\n')
  const line = Math.floor((lines.length * at) / 10_000)
  if (kind === 'deleteLine') return lines.toSpliced(line, 1 + (other % 3)).join('\n')
  if (kind === 'insertBehindAnchor') {
    return lines
      .map((value, index) => (index === line && value.startsWith('<!--') ? `${value}${snippet}` : value))
      .join('\n')
  }
  const segments = markdown.split(/(?=^<!-- block=)/m)
  const [from, to] = [at, other].map((value) => Math.floor((segments.length * value) / 10_000)) as [number, number]
  if (kind === 'move')
    return segments
      .toSpliced(from, 1)
      .toSpliced(to, 0, segments[from] ?? '')
      .join('')
  const ids = [...JSON.stringify(stored).matchAll(/block_[0-9A-Z]{26}/g)].map(([id]) => id)
  const id = ids[Math.floor((ids.length * other) / 10_000)] ?? ''
  if (kind === 'nested') return segments.toSpliced(to, 0, `<!-- block=${id} -->\nmoved out\n\n`).join('')
  return markdown.replace(/block_[0-9A-Z]{26}/g, (own) => (own === ids[from] ? id : own))
}

t.test('a body is rendered from memory as it is rendered afresh, also after edits', async () => {
  const isSame = (body: DocNode, anchors: boolean) => {
    const fresh = JSON.stringify(toMarkdown(body, { anchors }))
    const lines = documentToLines(body)
    return [1, 2].every(() => JSON.stringify(linesToMarkdown(lines, { anchors })) === fresh)
  }
  fc.assert(
    fc.property(anyDocument, longDocument, fc.nat(), fc.nat(3), (other, document, at, count) => {
      const place = Math.max(1, at % (document.content.length + 1))
      const added = other.content.filter(({ type }) => type !== 'frontmatter').slice(0, count)
      const changed = { ...document, content: document.content.toSpliced(place, 3 - count, ...added) }
      return [document, changed].every((body) => isSame(body, true) && isSame(body, false))
    }),
  )
})

t.test('anchored Markdown that is read by its changes makes the same body as when it is read as a whole', async (t) => {
  const counts = { byChanges: 0, asWhole: 0 }
  fc.assert(
    fc.property(longDocument, fc.array(edit, { maxLength: 3 }), (document, edits) => {
      const lines = documentToLines(document)
      const written = toMarkdown(document, { anchors: true }).markdown
      const markdown = edits.reduce((before, next) => edited(before, next, document), written)
      const context = { path: '/content', characterLimit: 100_000, byteLimit: 1_000_000 }
      const assembling = () => ({ ...context, stored: new StoredBlocks(lines) })
      const asWhole = () => assemble(parseMarkdown({ markdown, ...context }), assembling())
      const outcomes = [() => writeBack(markdown, assembling()), asWhole].map((read) => {
        return outcomeOf(read, { stored: lines.join('\n'), markdown })
      })
      counts[outcomes[0] === null ? 'asWhole' : 'byChanges'] += 1
      return outcomes[0] === null || outcomes[0] === outcomes[1]
    }),
  )
  t.ok(counts.byChanges > counts.asWhole / 4, JSON.stringify(counts))
})

/** The outcome of reading a text as JSON, without the ids that were made for new blocks; null for no outcome. */
function outcomeOf(read: () => Assembled | null, given: { stored: string; markdown: string }): string | null {
  const made = new Map<string, string>()
  const withoutMade = (value: string) =>
    value.replace(/block_[0-9A-Z]{26}/g, (id) => {
      if (given.stored.includes(id) || given.markdown.includes(id)) return id
      if (!made.has(id)) made.set(id, `made-${made.size}`)
      return made.get(id) as string
    })
  try {
    const assembled = read()
    if (assembled === null) return null
    const { blocks, warnings, nodes, characters } = assembled
    const lines = blocks.map((block) => (typeof block === 'string' ? block : canonicalJson(block)))
    return withoutMade(JSON.stringify({ lines, warnings, nodes, characters }))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return JSON.stringify([error.code, error.details])
  }
}
