import fc from 'fast-check'
import { renderHtml } from '../../shared/body/html.ts'
import { fromMarkdown } from '../../shared/body/markdown/from-markdown.ts'
import { sanitizeHtml } from '../../shared/body/sanitize.ts'
import { plainText } from '../../shared/body/text.ts'
import { t } from '../support/tap.ts'
import { attacks, doorsFor, markdownFor } from './attacks.ts'
import { doc, h, node, p, text, ul } from './build.ts'

// Nothing that a browser could run or load: everything but text is one of the tags and attributes named here.
function isHarmless(html: string): boolean {
  const tag = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*\/?>/gi
  const rest = html.replace(tag, (_, _close: string, name: string, attributes: string) => {
    const isBad =
      /^(script|style|iframe|object|embed|form|button|svg|math|link|meta|base|body|template|textarea|video|audio|source|noscript|xmp)$/i
    const names = attributes.replace(/="[^"]*"/g, '=')
    const hasBad = /\s(on\w+|srcset|srcdoc|formaction|action|id|name|background)=/i.test(names)
    const addresses = Array.from(attributes.matchAll(/(?:href|src)="([^"]*)"/g), (match) => match[1] ?? '')
    const hasAddress = addresses.some((a) => /^[^/?#]*:/.test(a) && !/^(https?|mailto|tel|svc):/.test(a))
    const style = /style="([^"]*)"/.exec(attributes)?.[1] ?? ''
    const hasStyle = style !== '' && !/^(color|background-color|text-align):[#\w(),.% ]+$/.test(style)
    return isBad.test(name) || hasBad || hasAddress || hasStyle ? '<BAD' : ''
  })
  return !rest.includes('<')
}

t.test('more than 200 attacks, through every door, render nothing that runs', async (t) => {
  t.ok(attacks.length > 200)
  for (const attack of attacks) {
    const doors = doorsFor(attack).map((door) => renderHtml(doc(door)))
    const frontmatter = renderHtml(doc(node('frontmatter', { yaml: attack })))
    const markdown = renderHtml(fromMarkdown(markdownFor(attack)).result)
    for (const html of [...doors, frontmatter, markdown, sanitizeHtml(attack)]) {
      if (!isHarmless(html)) t.fail(`${attack} gave ${html}`)
    }
  }
})

t.test('the check of this file sees what it should', async (t) => {
  t.notOk(
    ['<script>', '<a href="javascript:x">', '<img src="x" onerror="x">', '<p', '<p style="behavior:url(x)">'].some(
      isHarmless,
    ),
  )
  t.ok(isHarmless('<p data-block-id="x">a &lt; b <a href="https://x" rel="y">c</a></p>'))
})

t.test('each block names its id, and links say that they are foreign', async (t) => {
  const document = doc(ul(p(text('x', { type: 'link', attrs: { href: 'https://x.org/?a&b', target: '_blank' } }))))
  const html = renderHtml(document)
  t.match(html, /^<ul data-block-id="block_\w{26}"><li data-block-id="block_\w{26}"><p data-block-id="block_\w{26}">/)
  t.match(html, '<a href="https://x.org/?a&amp;b" target="_blank" rel="noopener noreferrer nofollow">x</a>')
})

t.test('raw tags that belong together stay together', async (t) => {
  t.match(renderHtml(fromMarkdown('a <kbd>b **c**</kbd> d').result), 'a <kbd>b <strong>c</strong></kbd> d</p>')
  t.match(renderHtml(fromMarkdown('a <b>never closed').result), 'a <b>never closed</b></p>')
})

t.test('whoever nests tags without end is answered with their text', async (t) => {
  const count = 250_000
  for (const open of ['<div>', '<b>', '<svg>', '<ul><li>', '<x-1>', '<table><tr><td>', '<ruby><rt>']) {
    const html = `${open.repeat(count)}1 &lt; 2 <3 ${'</i>'.repeat(count)}`
    const block = renderHtml(doc(node('htmlBlock', { html })))
    t.match(block, /^<div data-block-id="block_\w{26}" data-type="html">1 &lt; 2 &lt;3<\/div>$/, open)
    const inline = renderHtml(doc(p(text('before ', 'bold'), node('htmlInline', { html }))))
    t.match(inline, />before 1 &lt; 2 &lt;3<\/p>$/, open)
    t.equal(plainText(node('htmlBlock', { html })), '1 &lt; 2 <3')
  }
})

t.test('HTML that is long, but not deep, keeps its tags', async (t) => {
  const nested = `${'<b>'.repeat(512)}x${'</b>'.repeat(512)}`
  t.equal(sanitizeHtml(nested), nested)
  const rows = '<table>'.concat('<tr><td>x'.repeat(2000))
  t.match(sanitizeHtml(rows), /^<table>(<tr><td>x<\/td><\/tr>){2000}<\/table>$/)
  for (const html of ['<p>x', '<li>x', '<hr>', '</p>', '</br>', '<img src="x">']) {
    t.equal(sanitizeHtml(html.repeat(2000)), sanitizeHtml(html).repeat(2000), html)
  }
})

t.test('no tag grows to many times its length', async (t) => {
  for (const tag of [
    ...['<a>', '<p>', '<b>', '<img>', '<a rel=x>', '<i title>', '<mark style=color:red>', '<br>', '&', '<'],
  ]) {
    const { length } = sanitizeHtml(tag.repeat(300))
    t.ok(length < 300 * 6 * tag.length, `${tag} became ${length / 300} characters`)
  }
  t.equal(sanitizeHtml('<a href=x>y</a>'), '<a href="x" rel="noopener noreferrer nofollow">y</a>')
})

t.test('a colour in raw HTML stays, whatever stands around it, and nothing else of a style does', async (t) => {
  const styles: [string, string | null][] = [
    ['color:red', 'color:red'],
    [' COLOR : #fff ; background:url(//x)', 'color:#fff'],
    ['color:red;color:expression(1);color:rgb(1, 2, 3);', 'color:rgb(1, 2, 3)'],
    ['background-color:red', null],
    ['}', null],
    ['position:fixed;color:url(x)', null],
    ['color:red"onclick=alert(1)', null],
  ]
  for (const [style, kept] of styles) {
    const expected = kept === null ? '<span>x</span>' : `<span style="${kept}">x</span>`
    t.equal(sanitizeHtml(`<span style='${style}'>x</span>`), expected, style)
  }
  t.equal(sanitizeHtml('<mark style="background-color:red">x</mark>'), '<mark style="background-color:red">x</mark>')
})

t.test('no mixture of tags, however deep, renders anything that runs', async () => {
  const part = fc.oneof(
    fc.constantFrom(
      ...['<div>', '<svg>', '<math>', '<mi>', '<b', ' title="', "'", '>', '</', '<script>', '</script>', '<!--'],
    ),
    fc.constantFrom('-->', '<style>', '</style>', '<![CDATA[', ']]>', '<textarea>', '<xmp>', '<iframe>', '<noscript>'),
    fc.constantFrom(
      ...['<foreignObject>', '<a href=javascript:x>', '<img src=x onerror=x>', '&lt;', '<template>', '<p>', 'x'],
    ),
  )
  const run = fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 6 }), fc.constantFrom(1, 2, 600))
    .map(([parts, times]) => parts.join('').repeat(times))
  const html = fc.array(run, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''))
  fc.assert(fc.property(html, (hostile) => isHarmless(sanitizeHtml(hostile))))
})

t.test('plain text parts blocks, items and cells as decided', async (t) => {
  const row = node('tableRow', {}, node('tableCell', {}, p('c')), node('tableCell', {}, p('d')))
  const document = doc(
    h(1, 'T'),
    ul(p('a'), p('b')),
    node('table', {}, row, row),
    p('x', node('hardBreak'), 'y'),
    node('htmlBlock', { html: '<p>z</p><script>no</script>' }),
  )
  t.equal(plainText(document), 'T\n\na\nb\n\nc\td\nc\td\n\nx\ny\n\nz')
})
