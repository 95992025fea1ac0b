import fc from 'fast-check'
import {
  indentInlineHtml,
  isHtmlBlock,
  isHtmlInline,
  isLineBreak,
  opensHtmlBlock,
} from '../../shared/body/markdown/html-syntax.ts'
import { parseTree } from '../../shared/body/markdown/processor.ts'
import { t } from '../support/tap.ts'

// The parser's reading of the whole text. A reader gets this reading, but it costs more than a hostile text may cost.
function readsAsBlock(html: string, isLast: boolean): boolean {
  const [block, ...after] = parseTree(isLast ? html : `${html}\n\nx`).children
  const isWhole = isLast ? after.length === 0 : after.length === 1 && after[0]?.type === 'paragraph'
  const isSame = block?.type === 'html' && block.value.replace(/\n+$/, '') === html
  return isSame && isWhole && !isLineBreak(html)
}

function readsAsInline(html: string): boolean {
  const [block, ...rest] = parseTree(`x${indentInlineHtml(html)}x`).children
  if (block?.type !== 'paragraph' || rest.length > 0 || block.children.length !== 3) return false
  const [before, inline, after] = block.children
  return before?.type === 'text' && inline?.type === 'html' && inline.value === html && after?.type === 'text'
}

const parts = [
  ...['<', '>', '/', '!', '?', '--', '-', '<!--', '-->', '<!-->', '<![CDATA[', ']]>', '<?', '?>', '<!A', 'a', 'div'],
  ...['pre', 'script', 'p', 'b', '</', '/>', ' ', '  ', '\t', '\n', '\n\n', '\n  ', '\n    ', 'x=', '"', "'", '="y"'],
  ...["='y'", '=y', '=a/b', '=a=b', ':', '_', '`', '|', '-|-', ':-', '# ', '1) ', '2. ', '* ', '- ', '```', '~~~'],
  ...['$$', '[^1]:', '[a]: b', '===', '---', '***', '&amp;', 'é', '\\', '<a b', '\u00a0', '\f', '\ufeff', '<div>'],
  ...['</div>', '<b>', '<script>', '</script>', '</pre>', '<pre>', '<br>', '<br/>'],
]
const anything = fc.array(fc.constantFrom(...parts), { maxLength: 10 }).map((texts) => texts.join(''))
const frame = fc.constantFrom(
  ...(['<!-- -->', '<? ?>', '<!A >', '<![CDATA[ ]]>', '<a >', '<a b=" ">', "<b c=' '>", '</a >', '<div >'] as const),
  ...(['<div>\n \n</div>', '<pre> </pre>', '   <div> ', '    <a >', '\n<b >'] as const),
)
const framed = fc.tuple(frame, anything).map(([text, inside]) => text.replace(' ', () => inside))
const anyHtml = fc.oneof({ weight: 1, arbitrary: anything }, { weight: 3, arbitrary: framed })

t.test('raw HTML is written as HTML exactly where a reader gets it back as it was', async () => {
  fc.assert(
    fc.property(anyHtml, fc.boolean(), (html, flag) => {
      const isInline = readsAsInline(html)
      const hasDelimiters = html.split('\n').some((line, index) => index > 0 && /^[|:\- \t]+$/.test(line))
      return (
        isHtmlBlock(html, flag) === readsAsBlock(html, flag) &&
        (isHtmlInline(html) === isInline || (isInline && hasDelimiters)) &&
        (!isInline || opensHtmlBlock(html, flag) === (parseTree(flag ? html : `${html}x`).children[0]?.type === 'html'))
      )
    }),
  )
})

t.test('HTML with carriage returns, which would come back as line feeds, is not taken for what it was', async (t) => {
  t.notOk(isHtmlBlock('<div>\r</div>', true))
  t.notOk(isHtmlInline('<a\rb>'))
})
