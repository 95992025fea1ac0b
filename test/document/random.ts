import fc from 'fast-check'
import type { BodyNode, DocNode, Mark } from '../../shared/body/document.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'

const words = fc.constantFrom(
  ...['a', 'word', ' ', '  ', '\n', '*', '**', '_', '__', '~', '~~', '`', '``', '[', ']', '](', '(', ')', '<', '>'],
  ...['&', '&amp;', '#', '# ', '-', '- ', '+ ', '1.', '1. ', '1) ', '=', '===', '---', '***', '|', '\\', '!', '!['],
  ...['$', '$$', '$$x$$', '$a$', '$ ', '5', '==', '==a==', 'b==', '[^1]', '[!NOTE]', '[ ] ', '[x]', ':'],
  ...['https://x.org', 'www.x.org', 'a@b.co', '<b>', '</b>', '<!--', '-->', '<!-- block=x -->', '<br>', '<u>', '```'],
  ...['~~~', '\t', '\u00a0', '\ufeff', '\r', 'é', '漢', '👩‍👩‍👧', '\u200b', '\u2028', '"', "'"],
  ...['$5', '$HOME', 'www.', '[[', ']]', '\n', '\u000b', '\u0001'],
  ...['、', '（', '）', '重要', '**（', '을', '<img src="x">'],
)

/** A text full of characters that Markdown could mistake for syntax. */
const hostileText = fc.array(words, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))

const plainMarks = ['bold', 'italic', 'strike', 'underline', 'subscript', 'superscript', 'highlight', 'code']
const address = fc.constantFrom(
  ...['https://x.org/a b', '/rel(x)', '#frag', 'mailto:a@b.co', 'svc://doc/doc_1', 'x*y_z', '<>', 'a&amp;b', '/a$b==c'],
)
const link = fc
  .record({ href: address, title: fc.option(hostileText, { nil: null }) })
  .map((attrs): Mark => ({ type: 'link', attrs }))
const coloured = fc.constantFrom<Mark>(
  { type: 'textStyle', attrs: { color: '#f00' } },
  { type: 'highlight', attrs: { color: 'red' } },
)
const mark = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...plainMarks).map((type): Mark => ({ type })) },
  { weight: 3, arbitrary: link },
  { weight: 1, arbitrary: coloured },
)
const marks: fc.Arbitrary<Mark[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Mark[]>([]) },
  { weight: 2, arbitrary: fc.array(mark, { maxLength: 3 }) },
)
const picture = fc.record({
  src: fc.constantFrom(
    'https://x.org/i.png',
    '/i(1).png',
    'a b.png',
    '/api/v1/attachments/att_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  ),
  alt: fc.option(hostileText, { nil: null }),
  title: fc.option(hostileText, { nil: null }),
})
const html = fc.constantFrom(
  ...['<b>', '</b>', '<span class="x">', '<!-- c -->', '<x y="|">', '<x y="a$">', '<x y="==">', '<div>', '</u>', '<u>'],
  ...['no html', '<!--', '<img\n  a>', '<img src="x">', '<center>', '<!-- -->'],
)
const label = fc.constantFrom('1', 'note', 'ü', 'a b', 'Ab')
const latex = fc.constantFrom('5\\$', 'x^2', 'a$b', '$c', 'a|b', '\\|x\\|', '$', ' x ', 'a\nb', '\\frac{a}{b}')

const inline: fc.Arbitrary<BodyNode> = fc
  .tuple(
    fc.oneof(
      { weight: 10, arbitrary: hostileText.map((text): BodyNode => ({ type: 'text', text })) },
      { weight: 1, arbitrary: fc.constant<BodyNode>({ type: 'hardBreak' }) },
      { weight: 1, arbitrary: picture.map((attrs): BodyNode => ({ type: 'inlineImage', attrs })) },
      { weight: 1, arbitrary: latex.map((value): BodyNode => ({ type: 'inlineMath', attrs: { latex: value } })) },
      {
        weight: 1,
        arbitrary: label.map((value): BodyNode => ({ type: 'footnoteReference', attrs: { label: value } })),
      },
      { weight: 1, arbitrary: html.map((value): BodyNode => ({ type: 'htmlInline', attrs: { html: value } })) },
      { weight: 1, arbitrary: fc.constant<BodyNode>({ type: 'mention', attrs: { id: 'usr_1', label: 'Ann' } }) },
    ),
    marks,
  )
  .map(([node, list]) => (list.length > 0 ? { ...node, marks: list } : node))
const inlines = fc.array(inline, { maxLength: 5 })
const align = fc.constantFrom(null, null, null, 'center')

const paragraph = fc.record({
  type: fc.constant('paragraph'),
  attrs: fc.record({ textAlign: align }),
  content: inlines,
})
const codeText = hostileText.map((text) => [{ type: 'text', text }])
const { block } = fc.letrec<{ block: BodyNode; flow: BodyNode[] }>((tie) => {
  const flow = fc.array(tie('block') as fc.Arbitrary<BodyNode>, { minLength: 1, maxLength: 3 })
  const item = (type: string, attrs: fc.Arbitrary<BodyNode['attrs']>) =>
    fc
      .tuple(paragraph, fc.array(tie('block') as fc.Arbitrary<BodyNode>, { maxLength: 2 }), attrs)
      .map(([head, rest, own]): BodyNode => ({ type, attrs: own ?? {}, content: [head as BodyNode, ...rest] }))
  const list = (type: string, items: fc.Arbitrary<BodyNode>, attrs: fc.Arbitrary<BodyNode['attrs']>) =>
    fc
      .tuple(fc.array(items, { minLength: 1, maxLength: 3 }), attrs)
      .map(([content, own]): BodyNode => ({ type, attrs: own ?? {}, content }))
  const none = fc.constant({})
  const cells = (type: string) =>
    fc
      .oneof({ weight: 4, arbitrary: paragraph.map((only) => [only as BodyNode]) }, { weight: 1, arbitrary: flow })
      .map((content): BodyNode => ({ type, content }))
  const row = (type: string) =>
    fc.array(cells(type), { minLength: 2, maxLength: 2 }).map((content): BodyNode => ({ type: 'tableRow', content }))
  const table = fc
    .tuple(row('tableHeader'), fc.array(row('tableCell'), { maxLength: 2 }))
    .map(([head, rows]): BodyNode => ({ type: 'table', content: [head, ...rows] }))
  const details = fc.tuple(inlines, flow, fc.boolean()).map(
    ([summary, content, open]): BodyNode => ({
      type: 'details',
      attrs: { open },
      content: [
        { type: 'detailsSummary', content: summary },
        { type: 'detailsContent', content },
      ],
    }),
  )
  return {
    flow,
    block: fc.oneof(
      { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
      { weight: 6, arbitrary: paragraph as fc.Arbitrary<BodyNode> },
      {
        weight: 2,
        arbitrary: fc
          .tuple(inlines, fc.integer({ min: 1, max: 6 }))
          .map(([content, level]): BodyNode => ({ type: 'heading', attrs: { level }, content })),
      },
      { weight: 1, arbitrary: fc.constant<BodyNode>({ type: 'horizontalRule' }) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(codeText, fc.constantFrom(null, 'js', 'js a=b', 'a`b', '  x'))
          .map(([content, language]): BodyNode => ({ type: 'codeBlock', attrs: { language }, content })),
      },
      { weight: 1, arbitrary: picture.map((attrs): BodyNode => ({ type: 'image', attrs })) },
      { weight: 1, arbitrary: latex.map((value): BodyNode => ({ type: 'blockMath', attrs: { latex: value } })) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom('<div>\nx\n</div>', '<!-- c -->', '<p>', 'text', '<pre>\n\n</pre>', '<!-- open', '<a>\n\n<b>')
          .map((value): BodyNode => ({ type: 'htmlBlock', attrs: { html: value } })),
      },
      { weight: 2, arbitrary: flow.map((content): BodyNode => ({ type: 'blockquote', content })) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(flow, fc.constantFrom('note', 'tip', 'caution'))
          .map(([content, kind]): BodyNode => ({ type: 'callout', attrs: { kind }, content })),
      },
      { weight: 3, arbitrary: list('bulletList', item('listItem', none), none) },
      {
        weight: 2,
        arbitrary: list('orderedList', item('listItem', none), fc.record({ start: fc.constantFrom(0, 1, 7) })),
      },
      { weight: 2, arbitrary: list('taskList', item('taskItem', fc.record({ checked: fc.boolean() })), none) },
      { weight: 1, arbitrary: details },
      { weight: 1, arbitrary: table },
      {
        weight: 1,
        arbitrary: fc
          .tuple(label, flow)
          .map(([value, content]): BodyNode => ({ type: 'footnoteDefinition', attrs: { label: value }, content })),
      },
    ) as fc.Arbitrary<BodyNode>,
  }
})

/** A random normalised document that the schema allows and that is hard on every conversion. */
export const anyDocument: fc.Arbitrary<DocNode> = fc
  .tuple(fc.boolean(), fc.array(block, { minLength: 1, maxLength: 6 }))
  .map(([hasFrontmatter, blocks]) => {
    const content = hasFrontmatter ? [{ type: 'frontmatter', attrs: { yaml: 'a: 1' } }, ...blocks] : blocks
    return normaliseDocument({ type: 'doc', content }, { from: 'json' }).result
  })
