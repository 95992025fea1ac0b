import { isHtmlBlock, isHtmlInline, opensHtmlBlock } from '../../../shared/body/markdown/html-syntax.ts'
import { assertLinear } from '../../hostile/growth.ts'
import { t } from '../../support/tap.ts'

t.test('deciding about a hostile text costs what its length does', async (t) => {
  const repeated = [
    ...['1) ', '*_', 'a\n=\n', '~a', '<*_', '<<?<?', '<<!--<!--', '\n', ' ', '<a b="', '<a\n', '>', '[', '`'],
  ]
  const openings = ['', '<div>', '<!--', '<?', '<a ', '<a b="', '<a>', '<b c>x\n', '<!-- -->']
  for (const opening of openings) {
    for (const part of repeated) {
      const text = (length: number) => `${opening}${part.repeat(length / part.length)}`
      assertLinear(t, `${opening}${part}`, {
        small: text(16_000),
        large: text(64_000),
        work: (html) => {
          isHtmlBlock(html, true)
          isHtmlBlock(html, false)
          isHtmlInline(html)
          isHtmlInline(`${html}-->`)
          opensHtmlBlock(html, true)
        },
      })
    }
  }
})
