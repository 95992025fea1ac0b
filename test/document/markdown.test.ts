import type { BodyNode } from '../../shared/body/document.ts'
import { accepted, literal } from '../../shared/body/markdown/accepted.ts'
import { fromMarkdown } from '../../shared/body/markdown/from-markdown.ts'
import { toMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { t } from '../support/tap.ts'
import { at, blockId, doc, h, node, p, text, ul, withoutIds } from './build.ts'

const a = blockId('A')
const b = blockId('B')

function reads(markdown: string, ...blocks: BodyNode[]): void {
  t.equal(withoutIds(fromMarkdown(markdown).result), withoutIds(doc(...blocks)), JSON.stringify(markdown))
}

function writes(markdown: string, ...blocks: BodyNode[]): void {
  t.equal(toMarkdown(doc(...blocks), { anchors: false }).markdown, markdown)
}

t.test('every construct is read the same, whether an at sign stands elsewhere in the text or not', async () => {
  for (const { read } of [...accepted, ...literal]) {
    const { content } = fromMarkdown(`${read}\n\n@`).result
    reads(read, ...content.slice(0, -1))
  }
})

t.test('each construct has one node, both ways', async () => {
  const both: [string, BodyNode[]][] = [
    ['---\na: 1\n---\n\n# T\n', [node('frontmatter', { yaml: 'a: 1' }), h(1, 'T')]],
    [
      '**a** *b* ~~c~~ `d`\n',
      [p(text('a', 'bold'), ' ', text('b', 'italic'), ' ', text('c', 'strike'), ' ', text('d', 'code'))],
    ],
    [
      '<u>a</u><sub>b</sub><sup>c</sup><mark>d</mark>\n',
      [p(text('a', 'underline'), text('b', 'subscript'), text('c', 'superscript'), text('d', 'highlight'))],
    ],
    ['a\\\nb\n', [p('a', node('hardBreak'), 'b')]],
    ['> [!TIP]\n> x\n', [node('callout', { kind: 'tip' }, p('x'))]],
    [
      '- [ ] a\n- [x] b\n',
      [node('taskList', {}, node('taskItem', { checked: false }, p('a')), node('taskItem', { checked: true }, p('b')))],
    ],
    ['3. a\n4. b\n', [node('orderedList', { start: 3 }, node('listItem', {}, p('a')), node('listItem', {}, p('b')))]],
    ['```js a=b\nx\n```\n', [node('codeBlock', { language: 'js a=b' }, 'x')]],
    ['$$\nx\n$$\n', [node('blockMath', { latex: 'x' })]],
    ['a $$x$$\n', [p('a ', node('inlineMath', { latex: 'x' }))]],
    ['![alt](/i.png "t")\n', [node('image', { src: '/i.png', alt: 'alt', title: 't' })]],
    ['a ![](/i.png)\n', [p('a ', node('inlineImage', { src: '/i.png' }))]],
    [
      'a[^n]\n\n[^n]: b\n',
      [p('a', node('footnoteReference', { label: 'n' })), node('footnoteDefinition', { label: 'n' }, p('b'))],
    ],
    [
      '<details open>\n<summary>S</summary>\n\nx\n\n</details>\n',
      [node('details', { open: true }, node('detailsSummary', {}, 'S'), node('detailsContent', {}, p('x')))],
    ],
    ['<div>\nx\n</div>\n', [node('htmlBlock', { html: '<div>\nx\n</div>' })]],
    ['a <kbd>x</kbd>\n', [p('a ', node('htmlInline', { html: '<kbd>' }), 'x', node('htmlInline', { html: '</kbd>' }))]],
    ['<!-- note -->\n', [node('htmlBlock', { html: '<!-- note -->' })]],
    ['___\n', [node('horizontalRule')]],
    [
      '| a | b |\n| - | :-: |\n| c | |\n',
      [
        node(
          'table',
          {},
          node(
            'tableRow',
            {},
            node('tableHeader', {}, p('a')),
            node('tableHeader', {}, node('paragraph', { textAlign: 'center' }, 'b')),
          ),
          node(
            'tableRow',
            {},
            node('tableCell', {}, p('c')),
            node('tableCell', {}, node('paragraph', { textAlign: 'center' })),
          ),
        ),
      ],
    ],
  ]
  for (const [markdown, blocks] of both) {
    reads(markdown, ...blocks)
    writes(markdown, ...blocks)
  }
})

t.test('other spellings are read as the same nodes', async () => {
  reads('a<br/>b', p('a', node('hardBreak'), 'b'))
  reads('Title\n===\r\n\r\n* x', h(1, 'Title'), ul(p('x')))
  reads('> [!note]\n', node('callout', {}, p()))
  reads('> [!note]  \n> x', node('callout', {}, p('x')))
  reads('> [!note]\\\n> x', node('blockquote', {}, p('[!note]', node('hardBreak'), 'x')))
  reads('> \\[!NOTE]', node('blockquote', {}, p('[!NOTE]')))
  reads('see https://x.org', p('see ', text('https://x.org', { type: 'link', attrs: { href: 'https://x.org' } })))
  reads('[a][r]\n\n[r]: /x "t"', p(text('a', { type: 'link', attrs: { href: '/x', title: 't' } })))
  reads('- # h', ul(p()).content?.[0] ? node('bulletList', {}, node('listItem', {}, p(), h(1, 'h'))) : p())
})

t.test('prices stay text, formulas and highlights are read, and none of them turns into the other', async (t) => {
  const math = (latex: string) => node('inlineMath', { latex })
  reads('a $x^2$.', p('a ', math('x^2'), '.'))
  reads('$a\\$b$', p(math('a\\$b')))
  reads('==a **b**, c==', p(text('a ', 'highlight'), text('b', 'bold', 'highlight'), text(', c', 'highlight')))
  for (const literal of [
    ...['$5 and $6', '$5/$6', '$ x$', '$x $', 'a $b\nc$', '$x$5', 'x == a==', 'a == b == c', 'x ==a'],
  ]) {
    reads(literal, p(literal))
    writes(`${literal}\n`, p(literal))
  }
  writes('\\$5–CA)$\n', p('$5–CA)$'))
  writes('\\$a **b$**\n', p('$a ', text('b$', 'bold')))
  writes('\\==a==\n', p('==a=='))
  t.strictSame(fromMarkdown('==a== $b$').warnings, [])
})

t.test('Markdown is written as people write it, without character references', async (t) => {
  for (const markdown of [
    ...['**a `code` b**\n', '*`gray` is meant*\n', '**[see `a`](/b) for more**\n', 'x <br> y\n', 'x<br>\ny\n'],
    ...['***both***\n', '- a\n- b\n  - c\n'],
  ]) {
    const { result, warnings } = fromMarkdown(markdown)
    t.equal(toMarkdown(result, { anchors: false }).markdown, markdown)
    t.strictSame(warnings, [], markdown)
  }
  t.match(fromMarkdown('**`code`**').warnings, [{ code: 'marks_dropped' }])
  writes('| \\\\&#x20; |\n| - |\n', node('table', {}, node('tableRow', {}, node('tableHeader', {}, p('\\ ')))))
})

t.test('each loss is named with its block', async (t) => {
  const red = { type: 'textStyle', attrs: { color: 'red' } }
  const cases: [BodyNode, string][] = [
    [p(text('x', red)), 'marks_dropped'],
    [p(text('x', { type: 'highlight', attrs: { color: 'red' } })), 'marks_dropped'],
    [node('paragraph', { textAlign: 'center' }, 'x'), 'attrs_dropped'],
    [node('image', { src: '/i.png', width: 10 }), 'attrs_dropped'],
    [node('table', {}, node('tableRow', {}, node('tableHeader', { colspan: 2 }, p('x')))), 'table_flattened'],
    [node('table', {}, node('tableRow', {}, node('tableHeader', {}, p('x'), p('y')))), 'table_flattened'],
    [p(node('mention', { id: 'usr_1' })), 'node_simplified'],
    [p(), 'block_dropped'],
    [node('htmlBlock', { html: 'no html' }), 'node_simplified'],
  ]
  for (const [block, code] of cases) {
    const document = doc(block)
    const { warnings } = toMarkdown(document, { anchors: false })
    t.match(warnings, [{ code, message: String, block_id: /^block_/ }], code)
  }
})

t.test('anchors stand above top-level blocks, headings with a slug, and give blocks their ids', async (t) => {
  const stored = doc({ ...h(2, 'A *title*!'), attrs: { id: a, level: 2 } }, { ...p('x'), attrs: { id: b } })
  const { markdown } = toMarkdown(stored, { anchors: true })
  t.equal(markdown, `<!-- block=${a} a-title -->\n## A \\*title\\*!\n\n<!-- block=${b} -->\nx\n`)
  const edited = fromMarkdown(`${markdown}\nnew\n`.replace('\nx\n', '\ny\n'), { stored }).result
  t.strictSame(
    edited.content.slice(0, 2).map((block) => block.attrs.id),
    [a, b],
  )
  t.not(at(edited, 2).attrs.id, b)
  t.equal(at(fromMarkdown(`<!-- block=${b} -->\nadopted`).result, 0).attrs.id, b)
})

t.test('an unchanged block keeps what Markdown cannot say, also beside changed ones', async (t) => {
  const red = { type: 'textStyle', attrs: { color: 'red' } }
  const list = ul(p('one'), p(text('two', red)), p('three'))
  const stored = doc(p(text('x', red)), p('y'), list, p())
  const { markdown } = toMarkdown(stored, { anchors: true })
  const edited = fromMarkdown(markdown.replace('\ny\n', '\nz\n').replace('- three', '- 3'), { stored }).result
  t.equal(JSON.stringify(at(edited, 0)), JSON.stringify(at(stored, 0)))
  t.equal(at(edited, 1).attrs.id, at(stored, 1).attrs.id)
  t.equal(JSON.stringify(at(edited, 2).content?.[1]), JSON.stringify(at(stored, 2).content?.[1]))
  t.equal(at(edited, 2).content?.[2]?.attrs?.id, at(stored, 2).content?.[2]?.attrs?.id, 'same type and order')
  t.equal(JSON.stringify(at(edited, 3)), JSON.stringify(at(stored, 3)), 'an anchored empty paragraph')
})

t.test('anchors that cannot be meant are refused with their lines', async (t) => {
  const refused = (markdown: string, code: string, details: object) => {
    try {
      fromMarkdown(markdown)
      t.fail(markdown)
    } catch (error) {
      t.match(error, { code, status: 422, details })
      t.ok(error instanceof Refusal)
    }
  }
  refused('a\n\n<!-- block=nope -->\nb', 'invalid_markdown_anchor', { block_id: 'nope', lines: [3] })
  refused(`<!-- block=${a} -->\nx\n\n<!-- block=${a} -->\ny`, 'duplicate_block_anchor', { block_id: a, lines: [1, 4] })
})

t.test('anchors that name nothing warn, and only comments of their own at the top level are anchors', async (t) => {
  const several = fromMarkdown(`<!-- block=${a} -->\n<!-- block=${b} -->\nx\n\n<!-- block=${blockId('C')} -->`)
  t.equal(at(several.result, 0).attrs.id, b)
  t.match(several.warnings, [
    { code: 'unused_anchor', block_id: a },
    { code: 'unused_anchor', block_id: blockId('C') },
  ])
  const inside = fromMarkdown(`> <!-- block=${a} -->\n\n<!-- block=${b} --> x\n\n\`\`\`\n<!-- block=${a} -->\n\`\`\``)
  t.match(
    inside.warnings.map((w) => [w.code, w.message.split(':')[0]]),
    [
      ['misplaced_anchor', 'Line 1'],
      ['misplaced_anchor', 'Line 3'],
    ],
  )
  t.equal(at(inside.result, 2).content?.[0]?.text, `<!-- block=${a} -->`)
  t.equal(inside.warnings.length, 2)
})

t.test('a nested block that gets an anchor moves out with its id', async (t) => {
  const stored = doc(node('blockquote', {}, p('in'), p('out')))
  const outer = at(stored, 0)
  const inner = outer.content?.[1]?.attrs?.id
  const edited = fromMarkdown(`<!-- block=${outer.attrs.id} -->\n> in\n\n<!-- block=${inner} -->\nout\n`, {
    stored,
  }).result
  t.equal(at(edited, 1).attrs.id, inner)
  t.equal(at(edited, 0).content?.[0]?.attrs?.id, outer.content?.[0]?.attrs?.id)
})

t.test('unused definitions and links without a text are not lost silently', async (t) => {
  t.match(fromMarkdown('x\n\n[r]: /y').warnings, [{ code: 'block_dropped', message: /^Line 3/ }])
  const { result, warnings } = fromMarkdown('[](#x)')
  t.match(warnings, [{ code: 'node_simplified' }])
  t.equal(at(result, 0).content?.[0]?.attrs?.html, '<a href="#x">')
})

t.test('a raw tag that could be taken for a mark is never changed in silence', async () => {
  const { warnings } = toMarkdown(
    doc(p({ type: 'htmlInline', attrs: { html: '<u>' }, marks: [{ type: 'underline' }] })),
    { anchors: false },
  )
  t.match(warnings, [{ code: 'node_simplified' }])
})

t.test('frontmatter with lines of dashes or carriage returns survives a write-back of anchored Markdown', async (t) => {
  for (const yaml of ['a: |\n  x\n---\nb: 1', 'a: 1\r\nb: 2', 'a: |\r\n---\r\n', '---']) {
    const stored = doc(node('frontmatter', { yaml }), p('x'), node('codeBlock', { language: 'yaml' }, 'c: 1'))
    const { markdown } = toMarkdown(stored, { anchors: true })
    t.strictSame(fromMarkdown(markdown, { stored }).result, stored, JSON.stringify(yaml))
  }
})

t.test('frontmatter that is written as code stays frontmatter when edited there, only at the start', async (t) => {
  const stored = doc(node('frontmatter', { yaml: 'a: 1\n---\nb: 1' }), p('x'))
  const { id } = at(stored, 0).attrs
  const { markdown } = toMarkdown(stored, { anchors: true })
  const edited = fromMarkdown(markdown.replace('b: 1', 'b: 2'), { stored }).result
  t.match(at(edited, 0), { type: 'frontmatter', attrs: { id, yaml: 'a: 1\n---\nb: 2' } })
  const below = fromMarkdown(`first\n\n${markdown}`, { stored }).result
  t.match(at(below, 1), { type: 'codeBlock', attrs: { id, language: 'yaml' } })
})
