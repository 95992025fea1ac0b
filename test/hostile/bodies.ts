import { maximumDepth } from '../../shared/body/body-limits.ts'
import type { Mark } from '../../shared/body/document.ts'

type Node = { type: string; attrs?: object; content?: Node[]; marks?: Mark[]; text?: string }

/** A family of bodies. `make(size)` returns a body with about `size` nodes. */
export type BodyFamily = (size: number) => Node[]

/** Bodies whose costs come from the number of their nodes and from their structure. */
export const bodyFamilies: Readonly<Record<string, BodyFamily>> = {
  headings: (size) => times(size, (index) => heading(1, `a${index}`)),
  'headings of all levels': (size) => times(size, (index) => heading((index % 6) + 1, 'a')),
  'headings with the same text': (size) => times(size, () => heading(2, 'a')),
  'a long heading above many': (size) => [
    heading(1, 'a'.repeat(size * 8)),
    ...times(size, (index) => heading(2, `b${index}`)),
  ],
  'paragraphs under headings': (size) => times(size, (index) => (index % 4 === 0 ? heading(2, 'a') : paragraph('b'))),
  'empty paragraphs': (size) => times(size, () => paragraph('')),
  'tiny paragraphs': (size) => times(size, () => paragraph('a')),
  'paragraphs of their own': (size) => times(size, (index) => paragraph(`word${index} b${index}`)),
  rules: (size) => times(size, () => ({ type: 'horizontalRule' })),
  'hard breaks': (size) => [
    block(
      'paragraph',
      times(size, () => ({ type: 'hardBreak' })),
    ),
  ],
  'hard breaks with six marks': (size) => [
    block(
      'paragraph',
      times(size, () => ({ type: 'hardBreak', marks: marksOf(63) })),
    ),
  ],
  'breaks and texts with six marks': (size) => [
    block(
      'paragraph',
      times(size, (index) =>
        index % 2 === 0 ? { type: 'hardBreak', marks: marksOf(63) } : textNode('a', marksOf(index % 64)),
      ),
    ),
  ],
  'texts of changing marks': (size) => [
    block(
      'paragraph',
      times(size, (index) => textNode('a', marksOf(index % 64))),
    ),
  ],
  'texts of growing marks': (size) => [
    block(
      'paragraph',
      times(size, (index) => textNode('a', marksOf(2 ** (index % 7) - 1))),
    ),
  ],
  'colours of their own': (size) => [
    block(
      'paragraph',
      times(size, (index) =>
        textNode('a', [{ type: 'textStyle', attrs: { color: `#${index.toString(16).padStart(6, '0')}` } }]),
      ),
    ),
  ],
  'links of one text': (size) => [
    block(
      'paragraph',
      times(size, (index) => textNode(`a${index} `, [link(`svc://doc/doc_${index}`)])),
    ),
  ],
  'links and texts': (size) => [
    block(
      'paragraph',
      times(size, (index) => (index % 2 === 0 ? textNode('a', [link('svc://doc/doc_1')]) : textNode('b'))),
    ),
  ],
  'links in paragraphs': (size) =>
    times(size / 2, (index) => block('paragraph', [textNode('a', [link(`svc://doc/doc_${index}`)])])),
  mentions: (size) => [
    block(
      'paragraph',
      times(size, (index) => ({ type: 'mention', attrs: { id: `u${index}`, label: 'a' } })),
    ),
  ],
  'images in a line': (size) => [
    block(
      'paragraph',
      times(size, () => ({ type: 'inlineImage', attrs: { src: 'a', alt: 'b' } })),
    ),
  ],
  images: (size) => times(size, () => ({ type: 'image', attrs: { src: 'a', alt: 'b' } })),
  'tags in a line': (size) => [
    block(
      'paragraph',
      times(size, (index) => ({ type: 'htmlInline', attrs: { html: index % 2 === 0 ? '<b>' : '</b>' } })),
    ),
  ],
  'tags that stay open': (size) => [
    block(
      'paragraph',
      times(size, () => ({ type: 'htmlInline', attrs: { html: '<b>' } })),
    ),
  ],
  'raw HTML blocks': (size) => times(size, () => ({ type: 'htmlBlock', attrs: { html: '<div>' } })),
  'formulas in a line': (size) => [
    block(
      'paragraph',
      times(size, () => ({ type: 'inlineMath', attrs: { latex: '$' } })),
    ),
  ],
  footnotes: (size) => [
    block(
      'paragraph',
      times(size / 3, (index) => ({ type: 'footnoteReference', attrs: { label: `a${index}` } })),
    ),
    ...times(size / 3, (index) => block('footnoteDefinition', [paragraph('a')], { label: `a${index}` })),
  ],
  'footnotes in each other': (size) =>
    times(size / 16, (index) =>
      nestedIn(16, paragraph('a'), (inner) => block('footnoteDefinition', [inner], { label: `a${index}` })),
    ),
  'code blocks': (size) => times(size / 2, () => block('codeBlock', [textNode('```')])),
  'quotes at the limit of depth': (size) =>
    times(size / maximumDepth, () =>
      nestedIn(maximumDepth - 2, paragraph('a'), (inner) => block('blockquote', [inner])),
    ),
  'callouts at the limit of depth': (size) =>
    times(size / maximumDepth, () =>
      nestedIn(maximumDepth - 2, paragraph('a'), (inner) => block('callout', [inner], { kind: 'note' })),
    ),
  'lists at the limit of depth': (size) =>
    times(size / maximumDepth, () =>
      nestedIn((maximumDepth - 3) / 2, paragraph('a'), (inner) =>
        block('bulletList', [block('listItem', [paragraph('b'), inner])]),
      ),
    ),
  'details in each other': (size) =>
    times(size / maximumDepth, () =>
      nestedIn((maximumDepth - 3) / 2, paragraph('a'), (inner) =>
        block('details', [block('detailsSummary', [textNode('a')]), block('detailsContent', [inner])]),
      ),
    ),
  'headings at the limit of depth': (size) => nestedTimes(size, () => heading(1, 'a')),
  'one list': (size) => [
    block(
      'bulletList',
      times(size / 2, () => block('listItem', [paragraph('a')])),
    ),
  ],
  'one numbered list': (size) => [
    block(
      'orderedList',
      times(size / 2, () => block('listItem', [paragraph('a')])),
    ),
  ],
  'tasks without text': (size) => [
    block(
      'taskList',
      times(size / 2, () => block('taskItem', [paragraph('')], { checked: true })),
    ),
  ],
  'an item of many blocks': (size) => [
    block('bulletList', [block('listItem', [paragraph('a'), ...times(size, () => paragraph('b'))])]),
  ],
  'lists side by side': (size) => times(size / 3, () => block('bulletList', [block('listItem', [paragraph('a')])])),
  'a long table': (size) => [
    block(
      'table',
      times(size / 5, () => row(2)),
    ),
  ],
  'a wide table': (size) => [
    block(
      'table',
      times(2, () => row(size / 4)),
    ),
  ],
  'a square table': (size) => [
    block(
      'table',
      times(Math.sqrt(size / 2), () => row(Math.sqrt(size / 2))),
    ),
  ],
  'tables side by side': (size) => times(size / 5, () => block('table', [row(2)])),
  'cells that span': (size) => [
    block(
      'table',
      times(size / 5, () =>
        block(
          'tableRow',
          times(2, () => block('tableCell', [paragraph('a')], { colspan: 1000, rowspan: 1000 })),
        ),
      ),
    ),
  ],
  'a quote of many blocks': (size) => [
    block(
      'blockquote',
      times(size, () => paragraph('a')),
    ),
  ],
  'a callout of many blocks': (size) => [
    block(
      'callout',
      times(size, () => paragraph('a')),
      { kind: 'tip' },
    ),
  ],
}

/** The families with which users could once stop the service. Every run measures them. */
export const reproducedBodies: ReadonlySet<string> = new Set([
  ...['headings', 'a long heading above many', 'empty paragraphs', 'hard breaks with six marks'],
  ...['colours of their own', 'links of one text', 'mentions', 'footnotes in each other'],
])

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: Math.max(1, Math.round(count)) }, (_, index) => make(index))
}

function nestedIn(depth: number, innermost: Node, wrap: (inner: Node) => Node): Node {
  return times(Math.floor(depth), (index) => index).reduce((inner) => wrap(inner), innermost)
}

function nestedTimes(size: number, make: () => Node): Node[] {
  return times(size / maximumDepth, () => nestedIn(maximumDepth - 2, make(), (inner) => block('blockquote', [inner])))
}

function block(type: string, content: Node[], attrs?: object): Node {
  return { type, ...(attrs && { attrs }), content }
}

function heading(level: number, text: string): Node {
  return block('heading', [textNode(text)], { level })
}

function paragraph(text: string): Node {
  return block('paragraph', text === '' ? [] : [textNode(text)])
}

function row(cells: number): Node {
  return block(
    'tableRow',
    times(cells, () => block('tableCell', [paragraph('a')])),
  )
}

function textNode(text: string, marks?: Mark[]): Node {
  return { type: 'text', text, ...(marks !== undefined && marks.length > 0 && { marks }) }
}

const plainMarks = ['bold', 'italic', 'strike', 'underline', 'subscript', 'highlight']

/** A different set of marks for each number up to 63. */
function marksOf(number: number): Mark[] {
  return plainMarks.filter((_, bit) => (number >> bit) & 1).map((type) => ({ type }))
}

function link(href: string): Mark {
  return { type: 'link', attrs: { href } }
}
