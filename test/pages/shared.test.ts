import type { BodyNode } from '../../shared/body/document.ts'
import { h, node, p, text } from '../document/build.ts'
import { uploaded } from '../support/attachments.ts'
import { Client } from '../support/client.ts'
import { make, put } from '../support/documents.ts'
import { everyNode } from '../support/every-node.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { translate } from '../support/translations.ts'

const service = await sharedService({ RATE_SHARE_PER_MIN: '0' })
const nobody = new Client({ origin: service.origin })

t.test('a page has the direction of its language, and each text on it that of its own', async (t) => {
  const ada = await service.signUp()
  const cell = (content: string) => node('tableCell', {}, p(text(content)))
  const { target } = await translate(ada, [p(text('English'))], { locale: 'ar' })
  const written = await put(ada, target, [
    p(text('English')),
    p(text('« عربي »')),
    p(text('2026')),
    node('callout', { kind: 'note' }, p(text('npm', 'code'), text(' عربي'))),
    node('bulletList', {}, node('listItem', {}, p(text('中文'))), node('listItem', {}, p(text('عربي')))),
    node('table', {}, node('tableRow', {}, cell('1'), cell('عربي'))),
    node('codeBlock', {}, text('عربي')),
  ])
  t.equal(written.status, 200)
  const html = withoutBlockIds((await nobody.get(await share(ada, target))).text)
  t.match(html, '<html lang="ar" dir="rtl">')
  t.match(html, '<p dir="auto">English</p>')
  t.match(html, '<p dir="auto">« عربي »</p>')
  t.match(html, '<p>2026</p>', 'a text without letters stands where those around it stand')
  t.match(html, '<div dir="rtl" data-callout="note">')
  t.match(html, '<code dir="ltr">npm</code> عربي', 'code does not turn the text around it')
  t.match(html, '<ul dir="ltr"><li><p dir="auto">中文</p></li><li><p dir="auto">عربي</p></li></ul>')
  t.match(html, '<table dir="rtl"><tbody><tr><td><p>1</p></td><td dir="rtl"><p dir="auto">عربي</p></td></tr>')
  t.match(html, '<figure class="code" dir="ltr">')
  const other = await nobody.get(await share(ada, (await make(ada, [p(text('x'))])).id))
  t.match(other.text, '<html lang="en" dir="ltr">')
})

t.test('readers who see no colour, shape or place are told what these say', async (t) => {
  const html = await pageOf(
    node('callout', { kind: 'warning' }, p(text('Hot'))),
    node('callout', {}, p(text('Cold'))),
    node(
      'taskList',
      {},
      node(
        'taskItem',
        { checked: true },
        p(text('parent')),
        node('taskList', {}, node('taskItem', {}, p(text('child')))),
      ),
    ),
    node('codeBlock', { language: 'mermaid' }, text('graph LR\n  A --> B')),
    node('table', {}, node('tableRow', {}, node('tableCell', {}, p(text('one'))))),
    node('table', {}, node('tableRow', {}, node('tableCell', {}, p(text('two'))))),
    node('blockMath', { latex: 'x' }),
  )
  t.match(html, 'data-callout="warning"><p class="kind" lang="en"><bdi>Warning</bdi></p><p dir="auto">Hot</p>')
  t.match(html, '<bdi>Note</bdi></p><p dir="auto">Cold</p>')
  t.match(html, 'disabled checked aria-label="done"><div><p dir="auto">parent</p><ul', 'a list stands below its parent')
  t.match(html, 'disabled aria-label="to do"><div><p dir="auto">child</p></div></li></ul></div></li></ul>')
  t.match(html, '<figcaption><bdi>Diagram (Mermaid)</bdi></figcaption>')
  t.match(html, 'aria-label="Code, Diagram (Mermaid)"><code>graph LR\n  A --&gt; B</code>')
  for (const [index, cell] of ['one', 'two'].entries()) {
    t.match(html, new RegExp(`role="region" tabindex="0" aria-label="Table ${index + 1}"><table.*?>${cell}<`))
  }
  t.match(html, 'tabindex="0" role="group" aria-label="Formula"><math')
})

t.test('footnotes are numbered as a reader meets them, and lead there and back', async (t) => {
  const reference = (label: string) => node('footnoteReference', { label })
  const note = (label: string, ...content: BodyNode[]) => node('footnoteDefinition', { label }, ...content)
  const html = await pageOf(
    note('unused', p(text('Nobody refers to it.'))),
    note('b', p(text('Second, see also '), reference('deep'), text('.'))),
    p(text('One'), reference('A'), text(' two'), reference('b'), text(' again'), reference('a'), reference('nowhere')),
    node('blockquote', {}, note('a', p(text('First.')))),
    note('deep', node('codeBlock', {}, text('third'))),
    note('a', p(text('Defined twice.'))),
  )
  const [before = '', notes = ''] = html.split('<section class="footnotes"')
  t.match(
    before,
    'One<sup class="noteref" dir="ltr"><a id="fnref:1" href="#fn:1" role="doc-noteref" aria-label="Footnote 1">1</a>',
  )
  t.match(before, 'id="fnref:2" href="#fn:2"')
  t.match(before, 'id="fnref:1:2" href="#fn:1"')
  t.match(before, '<sup>[nowhere]</sup>', 'a label without a footnote stays')
  t.notMatch(before, 'First.', 'footnotes stand at the end')
  const items = notes.split('<li id="').slice(1)
  t.strictSame(
    items.map((item) => [item.slice(0, 4), /First|Second|third|Nobody|twice/.exec(item)?.[0]]),
    [
      ['fn:1', 'First'],
      ['fn:2', 'Second'],
      ['fn:3', 'third'],
      ['fn:4', 'Nobody'],
      ['fn:5', 'twice'],
    ],
  )
  t.match(items[0], /href="#fnref:1" role="doc-backlink".*href="#fnref:1:2" role="doc-backlink"/)
  t.match(items[1], 'id="fnref:3" href="#fn:3"', 'a footnote can refer to another')
  t.match(items[2], /<\/figure><p> <a href="#fnref:3" role="doc-backlink"/)
  t.notMatch(items[3], 'doc-backlink')
  const ids = Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id)
  const targets = Array.from(html.matchAll(/ href="#(fn[^"]*)"/g), ([, id]) => id)
  t.equal(new Set(ids).size, ids.length)
  t.strictSame(
    targets.filter((id) => !ids.includes(id)),
    [],
    'no link leads nowhere',
  )
})

t.test('a section can be linked to, and is found in the contents', async (t) => {
  const html = await pageOf(
    h(3, text('First steps')),
    h(6, text('Über "alles" <b>')),
    h(1, text('First steps'), node('footnoteReference', { label: 'x' })),
    h(1, text('!')),
    h(1, text('fn:1')),
    node('blockquote', {}, h(2, text('خطوات'))),
    p(text('x', { type: 'link', attrs: { href: '#first-steps-1' } })),
  )
  t.match(html, /<h2 [^>]*id="first-steps">First steps <a class="anchor" href="#first-steps"/)
  t.match(html, /<h3 [^>]*id="über-alles-b">/, 'no rank is left out')
  t.match(html, /<h2 [^>]*id="first-steps-1">/)
  t.match(html, '<h2>!</h2>', 'a heading without words has no address')
  t.match(html, /<h2 [^>]*id="fn1">/)
  t.match(html, /<h3 [^>]*id="خطوات">/)
  t.match(html, 'href="#first-steps-1"')
  const contents = Array.from(html.matchAll(/<li class="(rank-\d)"><a href="([^"]*)"><bdi>(.*?)<\/bdi>/g), (match) =>
    match.slice(1),
  )
  t.strictSame(contents, [
    ['rank-2', '#first-steps', 'First steps'],
    ['rank-3', '#über-alles-b', 'Über &quot;alles&quot; &lt;b&gt;'],
    ['rank-2', '#first-steps-1', 'First steps'],
    ['rank-2', '#fn1', 'fn:1'],
  ])
  t.notMatch(await pageOf(h(1, text('Alone')), p(text('x'))), '<nav')
})

t.test('formulas are shown as formulas, and as they were written where that cannot be', async (t) => {
  const html = await pageOf(
    p(text('so '), node('inlineMath', { latex: 'x < y' })),
    node('blockMath', { latex: '\\color{red}\\begin{array}{c|c} 1 & 2 \\end{array}' }),
  )
  t.match(html, 'so <span class="math" dir="ltr"><math><mrow><mi>x</mi><mo>&lt;</mo><mi>y</mi></mrow></math></span>')
  t.match(html, /<math display="block"[^>]*>.*<mtd class="rule-right">/)
  const refused = [
    ...['\\unknown{x}', '{', '^', 'a_b_c', '\\href{javascript:alert(1)}{x}', '\\includegraphics{https://x/y.png}'],
    ...['\\style{position:fixed}{x}', '\\class{title}{x}', '\\id{main}{x}', '\\def\\a{\\a}\\a'],
    ...['\\newcommand\\a{x}\\a', `\\def\\a#1{${'#1'.repeat(400)}}\\a{\\a{x}}`],
    ...[`${'{'.repeat(900) + '}'.repeat(900)}\\x`, 'x'.repeat(2001)],
  ]
  for (const latex of refused) {
    const page = await pageOf(node('blockMath', { latex }))
    t.match(page, 'aria-label="Formula"><code>', latex.slice(0, 40))
    t.notMatch(page, '<math')
  }
  const tex = ['\\ref{a}\\label{b}', '\\text{<img src=x onerror=alert(1)>}', '\\unicode{x3c}', '\\char"3C script>']
  for (const latex of tex)
    t.notMatch(
      await pageOf(node('blockMath', { latex })),
      /<(img|script|a )(?!.*class="anchor")|onerror="| style="/,
      latex,
    )
})

t.test('code is coloured by the language that its author names, and never guessed', async (t) => {
  const code = (language: string | null, source: string) =>
    node('codeBlock', language === null ? {} : { language }, text(source))
  const source = 'const a = "<b>" // x'
  const html = await pageOf(code('ts title="a.ts"', source))
  t.match(html, '<figcaption><bdi>TypeScript</bdi></figcaption>')
  t.match(html, '<span class="hljs-keyword">const</span> a = <span class="hljs-string">&quot;&lt;b&gt;&quot;</span>')
  for (const plain of [
    code(null, source),
    code('<script>', source),
    code('constructor', source),
    code('markdown', '[a]('.repeat(500)),
    code('ts', 'a '.repeat(300)),
    code('ts', `${source}\n`.repeat(300)),
  ]) {
    const page = await pageOf(plain)
    t.notMatch(page, 'class="hljs')
    t.match(page, /<code>(const a = &quot;&lt;b&gt;&quot; \/\/ x|\[a\]\(|a a)/)
  }
  t.match(await pageOf(code('<script>', 'x')), '<bdi>&lt;script&gt;</bdi>')
})

t.test('raw tags around a formula or a footnote cost it nothing, and cannot copy it', async (t) => {
  const html = await pageOf(
    p(
      node('htmlInline', { html: '<kbd onclick="x">' }),
      node('inlineMath', { latex: 'x' }),
      node('htmlInline', { html: '</kbd><x-leaf n="0"></x-leaf><i title="<x-leaf n=1>">' }),
      node('footnoteReference', { label: 'a' }),
      text('end'),
    ),
    node('footnoteDefinition', { label: 'a' }, p(text('note'))),
  )
  t.match(
    html,
    /<kbd><span class="math" dir="ltr"><math><mi>x<\/mi><\/math><\/span><\/kbd><i title="[^"<>]*"><sup class="noteref"/,
  )
  t.equal(html.split('<math').length, 2)
  t.notMatch(html, /<\/?x-leaf/)
})

t.test('no document makes a page that is many times its size', async (t) => {
  const many = (count: number, block: BodyNode) => Array.from({ length: count }, () => block)
  const bodies: { [name: string]: BodyNode[] } = {
    formulas: many(3000, node('blockMath', { latex: '\\frac{é}{é}\\sum_é^é' })),
    code: many(300, node('codeBlock', { language: 'java' }, text('<a$'.repeat(100)))),
    headings: many(3000, h(1, text('same'))),
    references: [
      p(...many(3000, node('footnoteReference', { label: 'a' }))),
      node('footnoteDefinition', { label: 'a' }, p(text('x'))),
    ],
    leaves: [
      p(node('inlineMath', { latex: 'x'.repeat(1000) }), node('htmlInline', { html: '<x-leaf n="0">'.repeat(3000) })),
    ],
  }
  for (const [name, blocks] of Object.entries(bodies)) {
    const ada = await service.signUp()
    const { id } = await make(ada, blocks)
    const written = JSON.stringify((await ada.get(`/documents/${id}/content`)).body.data.document).length
    const { text: page } = await nobody.get(await share(ada, id))
    t.ok(page.length < 8 * written + 3_000_000, `${name}: ${page.length} from ${written}`)
  }
})

t.test('programs get the HTML that they always got', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  await put(ada, id, everyNode({ attachmentId: await uploaded(ada, { documentId: id }), documentId: id }))
  const page = (await nobody.get(await share(ada, id))).text
  t.match(page, /<img [^>]*loading="lazy"[^>]* alt="A trunk"/, 'unlike people, who wait for no picture out of sight')
  const { content } = (await ada.get(`/documents/${id}/content?format=html`)).body.data
  t.notMatch(content, /<math|hljs|dir=|<nav|<figure|doc-noteref|loading=| id=/)
  t.match(content, '<code data-math="inline">V = \\pi r^2 h</code>')
})

/** The page of a new document of these blocks, without the ids of blocks. */
async function pageOf(...blocks: BodyNode[]): Promise<string> {
  const ada = await service.signUp()
  return withoutBlockIds((await nobody.get(await share(ada, (await make(ada, blocks)).id))).text)
}

function withoutBlockIds(html: string): string {
  return html.replaceAll(/ data-block-id="[^"]*"/g, '')
}

async function share(client: Client, id: string): Promise<string> {
  const reply = await client.post(`/documents/${id}/public-share`)
  return `//s/${reply.body.data.share_id}`
}
