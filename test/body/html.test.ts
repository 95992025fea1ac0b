import t from 'tap'
import { renderHtml } from '../../shared/body/html.ts'
import { fromMarkdown } from '../../shared/body/markdown/from-markdown.ts'
import { sanitizeHtml } from '../../shared/body/sanitize.ts'
import { plainText } from '../../shared/body/text.ts'
import { attacks, doorsFor, markdownFor } from './attacks.ts'
import { doc, h, node, p, text, ul } from './build.ts'

// Nothing that a browser could run or load: what is not text is one of the tags and attributes named here.
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
