import type { Attrs, BodyNode } from '../../shared/body/document.ts'
import { h, node, p, text } from '../document/build.ts'

/**
 * A body with every node and every mark, in Latin, Arabic and Chinese script. It shows the attachment as an image, and
 * links to the document `documentId`.
 */
export function everyNode({ attachmentId, documentId }: { attachmentId: string; documentId: string }): BodyNode[] {
  return [
    node('frontmatter', { yaml: 'owner: nobody outside should read this' }),
    ...english({ attachmentId, documentId }),
    ...arabic(),
    ...chinese(),
    note('litres', p(text('Measured over a year in three zoos.'))),
    note('مصدر', p(text('قيس ذلك على مدى عام في ثلاث حدائق.'))),
    note('numbers', p(text('Rounded to ten litres. See also'), reference('litres'), text('.'))),
  ]
}

function english({ attachmentId, documentId }: { attachmentId: string; documentId: string }): BodyNode[] {
  return [
    node('paragraph', { textAlign: 'center' }, text('An elephant drinks a hundred litres a day.', 'italic')),
    h(1, text('Water')),
    p(
      text('Plain, '),
      text('bold', 'bold'),
      text(', '),
      text('struck', 'strike'),
      text(', '),
      text('underlined', 'underline'),
      text(', H'),
      text('2', 'subscript'),
      text('O, 10'),
      text('3', 'superscript'),
      text(', '),
      text('code()', 'code'),
      text(', '),
      text('marked', { type: 'highlight', attrs: { color: '#fff3b0' } }),
      text(', '),
      text('in red', { type: 'textStyle', attrs: { color: '#b3261e' } }),
      text(', '),
      link('a link', 'https://example.com/'),
      text(', '),
      link('one within', `svc://doc/${documentId}`),
      text(', '),
      link('one to a heading', '#what-it-eats'),
      text(', '),
      node('htmlInline', { html: '<kbd>' }),
      text('Ctrl'),
      node('htmlInline', { html: '</kbd>' }),
      text(', '),
      node('mention', { id: 'usr_1', label: 'Ada' }),
      text(', '),
      node('inlineImage', { attachmentId, alt: 'a trunk', width: 16, height: 16 }),
      text(', '),
      node('inlineMath', { latex: 'V = \\pi r^2 h' }),
      node('hardBreak'),
      text('and a footnote'),
      reference('numbers'),
      text(' and another'),
      reference('litres'),
      text('.'),
    ),
    h(2, text('What it eats')),
    list('bulletList', item(p(text('Grass')), list('bulletList', item(p(text('mornings')))), p(text('and bark')))),
    node('orderedList', { start: 3 }, item(p(text('third'))), item(p(text('fourth')))),
    node(
      'taskList',
      {},
      task(true, p(text('Fill the pool')), node('taskList', {}, task(true, p(text('Buy a hose'))))),
      task(false, p(text('Weigh the calf'))),
    ),
    h(3, text('Pictures')),
    node('image', { attachmentId, alt: 'A trunk', title: 'Seen from the side', width: 64, height: 64 }),
    node('image', { src: 'https://elsewhere.example/x.png', alt: 'A chart from elsewhere' }),
    h(2, text('Code')),
    code(
      'ts',
      '// How much a herd drinks\nconst litres = herd.map((one: Elephant) => one.age * 2.5) // \u201clitres\u201d',
    ),
    code('python', 'def litres(age: int) -> float:\n    """A day."""\n    return 20.5 if age < 2 else 100  # about'),
    code('diff', '- litres: 90\n+ litres: 100'),
    code('mermaid', 'graph LR\n  River --> Trunk --> Mouth'),
    code('unlambda', '`r```````````.H.e.l.l.oi'),
    code(null, `without a language, ${'a very long line '.repeat(12)}`),
    node('blockquote', {}, p(text('It never forgets.'))),
    ...['note', 'tip', 'important', 'warning', 'caution'].map((kind) =>
      node('callout', { kind }, p(text('Elephants hear with their feet.'))),
    ),
    node(
      'details',
      {},
      node('detailsSummary', {}, text('More about trunks')),
      node('detailsContent', {}, p(text('Forty thousand muscles.'))),
    ),
    node(
      'details',
      { open: true },
      node('detailsSummary', {}, text('Open from the start')),
      node('detailsContent', {}, p(text('No bones.')), list('bulletList', item(p(text('at all'))))),
    ),
    table(
      ['Age', 'Litres', 'Remarks', 'Source', 'Checked by', 'Next check'],
      ['1', '20', 'AVeryLongWordThatDoesNotBreak', 'https://example.com/a/long/address', 'Grace Hopper', '2027-01-01'],
      ['30', '100', 'in summer', 'the keeper', 'Ada Lovelace', '2027-06-01'],
    ),
    node('horizontalRule'),
    h(2, text('Math')),
    node('blockMath', { latex: '\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}' }),
    node('blockMath', {
      latex:
        '\\begin{aligned} a &= \\sqrt{b^2 + c^2} \\\\ M &= \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix} \\end{aligned}',
    }),
    node('blockMath', {
      latex:
        '\\left[\\begin{array}{cc|c} 1 & 2 & 3 \\\\ \\hline 4 & 5 & 6 \\end{array}\\right] \\quad \\boxed{\\cancel{x} + y}',
    }),
    node('blockMath', { latex: '\\thisisnocommand{x}' }),
    node('htmlBlock', {
      html: '<p align="center">Raw <b>HTML</b></p><table><tr><td>raw cell</td></tr></table><script>no()</script>',
    }),
  ]
}

function arabic(): BodyNode[] {
  return [
    h(1, text('الماء والفيلة')),
    p(
      text('يشرب الفيل '),
      text('مئة لتر', 'bold'),
      text(' من الماء كل يوم، وأمر '),
      text('npm start', 'code'),
      text(' يشغّل الخدمة'),
      reference('مصدر'),
      text('.'),
    ),
    list(
      'bulletList',
      item(p(text('عشب'))),
      item(p(text('لحاء الشجر')), list('bulletList', item(p(text('في الشتاء'))))),
    ),
    node('taskList', {}, task(true, p(text('املأ الحوض'))), task(false, p(text('زِن الصغير')))),
    node('callout', { kind: 'warning' }, p(text('لا تقترب من الصغير أبدًا.'))),
    node('blockquote', {}, p(text('الفيل لا ينسى.'))),
    table(['العمر', 'لترات'], ['1', 'عشرون']),
    h(2, text('الرياضيات')),
    p(node('inlineMath', { latex: 'x^2' }), text(' هو مربع العدد.')),
  ]
}

function chinese(): BodyNode[] {
  return [
    h(1, text('大象与水')),
    p(text('一头大象每天喝'), text('一百升水', 'bold'), text('，它从不忘记。'), reference('litres')),
    node('orderedList', {}, item(p(text('草'))), item(p(text('树皮')))),
    node('callout', { kind: 'tip' }, p(text('夏天请多备水。'))),
    table(['年龄', '升'], ['三十', '一百']),
  ]
}

function link(words: string, href: string): BodyNode {
  return text(words, { type: 'link', attrs: { href } })
}

function reference(label: string): BodyNode {
  return node('footnoteReference', { label })
}

function note(label: string, ...content: BodyNode[]): BodyNode {
  return node('footnoteDefinition', { label }, ...content)
}

function list(type: string, ...items: BodyNode[]): BodyNode {
  return node(type, {}, ...items)
}

function item(...content: BodyNode[]): BodyNode {
  return node('listItem', {}, ...content)
}

function task(checked: boolean, ...content: BodyNode[]): BodyNode {
  return node('taskItem', { checked }, ...content)
}

function code(language: string | null, source: string): BodyNode {
  const attrs: Attrs = language === null ? {} : { language }
  return node('codeBlock', attrs, text(source))
}

function table(head: string[], ...rows: string[][]): BodyNode {
  const row = (type: string, cells: string[]) =>
    node('tableRow', {}, ...cells.map((content) => node(type, {}, p(text(content)))))
  return node('table', {}, row('tableHeader', head), ...rows.map((cells) => row('tableCell', cells)))
}
