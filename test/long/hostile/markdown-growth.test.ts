import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { keepIds } from '../../../shared/body/markdown/keep-ids.ts'
import { parseMarkdown } from '../../../shared/body/markdown/parse.ts'
import { toMarkdown } from '../../../shared/body/markdown/to-markdown.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { withoutTags } from '../../../shared/localization/inline/tags.ts'
import { doc, node, p, text } from '../../document/build.ts'
import { assertLinear } from '../../hostile/growth.ts'
import { t } from '../../support/tap.ts'

const sevenMarks = ['bold', 'italic', 'strike', 'underline', 'subscript', 'superscript', 'highlight']
const marks = sevenMarks.map((type) => ({ type }))
const many = (count: number, make: (index: number) => BodyNode) => Array.from({ length: count }, (_, i) => make(i))
const html = (value: string) => node('htmlInline', { html: value })

function write(document: DocNode): void {
  toMarkdown(document, { anchors: true })
  toMarkdown(document, { anchors: false })
}

t.test('writing a hostile body as Markdown costs what its size does', async (t) => {
  const bodies: { [name: string]: (count: number) => BodyNode[] } = {
    'breaks with seven marks': (n) => [p(...many(n, () => ({ type: 'hardBreak', marks })))],
    'breaks and tags with seven marks': (n) => [
      p(...many(n, (i) => (i % 2 ? { ...html('<b>'), marks } : { type: 'hardBreak', marks }))),
    ],
    'marks that overlap': (n) => [p(...many(n, (i) => text('a', ...sevenMarks.filter((_, j) => (i + j) % 3))))],
    'links within bold': (n) => [p(...many(n, (i) => text('a', 'bold', { type: 'link', attrs: { href: `/${i}` } })))],
    'empty paragraphs': (n) => many(n, () => p()),
    'losses in each block': (n) => many(n, () => node('paragraph', { textAlign: 'center' }, 'a')),
    'raw HTML that opens lists': (n) => [node('htmlBlock', { html: '1) '.repeat(n) })],
    'text of dollars and equals signs': (n) => [p('$a== $$ ==b$ '.repeat(n / 4))],
    'code between marks': (n) => [p(...many(n, (i) => (i % 2 ? text('a', 'code') : text(' b ', 'bold'))))],
    'dollars in many texts': (n) => [p(...many(n, (i) => text('$a', ...(i % 2 ? ['underline'] : []))))],
    'text of unclosed strikes': (n) => [p('~a'.repeat(n))],
    'inline HTML of unclosed instructions': (n) => [p('a', html(`<b>${'<?'.repeat(n)}>`))],
    'rows as many as one row is long': (n) => [
      node(
        'table',
        {},
        ...many(n / 4, () => node('tableRow', {}, node('tableCell', {}, p('a')))),
        node('tableRow', {}, ...many(n / 4, () => node('tableCell', {}, p('a')))),
      ),
    ],
  }
  for (const [name, body] of Object.entries(bodies)) {
    assertLinear(t, name, { small: doc(...body(1500)), large: doc(...body(6000)), work: write })
  }
})

t.test('reading what nests, repeats or never closes costs what its length does beyond the parser', async (t) => {
  const texts: { [name: string]: (count: number) => string } = {
    'details that are never closed': (n) => '<details>\n<summary>x</summary>\n\n'.repeat(n / 8),
    'tags of marks that never close': (n) => `${'<u>'.repeat(n)}${'</sub>'.repeat(n)}`,
    'tags of marks within each other': (n) => `${'<u>a'.repeat(n)}${'</u>'.repeat(n)}`,
    'an anchor that is full of spaces': (n) => `x\n\n<!-- block=${' '.repeat(8 * n)}x y -->`,
    'the same anchor again and again': (n) => `<!-- block=block_${'0'.repeat(26)} -->\n`.repeat(n / 2),
    'dollars in a row': (n) => '$'.repeat(n),
    'dollars that open and never close': (n) => '$a '.repeat(n),
    'math between dollars': (n) => '$a$ '.repeat(n),
    'escaped dollars within math': (n) => `$${'\\$'.repeat(n)}`,
    'equals signs in a row': (n) => '='.repeat(n),
    'highlights that never close': (n) => '==a '.repeat(n),
    'highlights that open and close': (n) => 'a==b'.repeat(n),
    'highlights that seem to nest': (n) => `${'==a '.repeat(n)}${'b== '.repeat(n)}`,
    'a comment of line feeds': (n) => `<!--${'\n'.repeat(8 * n)}x`,
    'spaces within a summary': (n) => `<details>\n<summary>${' '.repeat(8 * n)}x</summary>\n\ny\n\n</details>`,
  }
  for (const [name, markdown] of Object.entries(texts)) {
    const work = (source: string) => {
      try {
        parseMarkdown({ markdown: source })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
      }
    }
    assertLinear(t, name, { small: markdown(1500), large: markdown(6000), work })
  }
})

t.test('an edited list of equal items finds the ids of its items in the time that the items take', async (t) => {
  const list = (count: number, end: string) =>
    doc(node('bulletList', {}, ...many(count, (i) => node('listItem', {}, p(i % 2 ? 'a' : end)))))
  const pair = (count: number) => ({ before: list(count, 'b'), after: list(count, 'c') })
  const work = ({ before, after }: { before: DocNode; after: DocNode }) => {
    const block = structuredClone(after.content[0]) as BodyNode
    keepIds(block, before.content[0] as BodyNode, new Set())
  }
  assertLinear(t, 'equal items', { small: pair(1500), large: pair(6000), work })
})

t.test('the tags of a translation are found in the time that the translation takes', async (t) => {
  const translation = (count: number) => ({
    tags: many(count, () => node('mention', { id: 'u' })).map((mention) => ({ node: mention })),
    content: many(count, (i) => (i + 1) as never).flatMap((i) => [html(`<x${i}>`), text('a'), html(`</x${i}>`)]),
  })
  const work = ({ tags, content }: ReturnType<typeof translation>) => {
    if (withoutTags(content, { tags, name: 'x' })?.length !== tags.length) throw new Error('tags are missing')
  }
  assertLinear(t, 'tags', { small: translation(2000), large: translation(8000), work })
  const nested = (count: number) => [
    ...many(count, (i) => html(`<x${i + 1}>`)),
    ...many(count, (i) => html(`</x${count - i}>`)),
  ]
  const tags = many(9000, () => text('a')).map(() => ({ marks: [{ type: 'textStyle' }] }))
  t.equal(withoutTags(nested(9000), { tags, name: 'x' }), null)
})
