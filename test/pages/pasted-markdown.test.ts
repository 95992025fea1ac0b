import fc from 'fast-check'
import { looksLikeMarkdown } from '../../api/pages/editor/browser/markdown-signs.ts'
import { assertLinear } from '../hostile/growth.ts'
import { t } from '../support/tap.ts'

/*
 * What the editor takes for Markdown when a person pastes it.
 */

t.test('the syntax of Markdown is known, and other text stays text', async (t) => {
  const markdown = ['# a', 'x\n- a', '  2) a', '```\na', '> a', '|a|b|\r\n|-|:-|\r\n', 'so **very much** a', '![a](b)']
  for (const text of markdown) t.ok(looksLikeMarkdown(text), text)
  for (const text of ['', 'a - b', '#a', '2 ** 3 ** 4', '[a] (b)', 'a | b', '-a', 'f(x[1](y']) {
    t.notOk(looksLikeMarkdown(text), text)
  }
})

t.test('no text that a person pastes stops the page', async (t) => {
  const work = (text: string) => void looksLikeMarkdown(text)
  const grows = (unit: string) => {
    const sized = (size: number) => unit.repeat(Math.ceil(size / unit.length))
    assertLinear(t, unit, { small: sized(16_384), large: sized(65_536), work })
  }
  for (const unit of ['\n', ' \n', '**a ', '[', '[a](x', '|', '| ', '|-', '|-|\n', '1', '*', '- ', '[a]']) grows(unit)
  const signs = fc.constantFrom('\n', ' ', '\t', '*', '**', '[', ']', '(', ')', '](', '|', '-', ':', '#', '1', '.', 'a')
  const unit = fc.array(signs, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
  fc.assert(fc.property(unit, grows))
})
