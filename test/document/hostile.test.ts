import { renderHtml } from '../../shared/body/html.ts'
import { fromMarkdown } from '../../shared/body/markdown/from-markdown.ts'
import { fromMarkdownAsync, timeLimit } from '../../shared/body/markdown/parse-async.ts'
import { toMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { onlyLong } from '../support/run-options.ts'
import { t } from '../support/tap.ts'

// Every text either becomes a document that can be converted, or is refused with a 422. No text crashes or hangs the
// parser.
async function survives(markdown: string): Promise<string> {
  try {
    const { result } = await fromMarkdownAsync(markdown)
    toMarkdown(result, { anchors: true })
    renderHtml(result)
    return 'read'
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 422) throw error
    return error.code
  }
}

const rows = (count: number, row: string) => row.repeat(count)

t.test('texts made to exhaust a parser are answered', onlyLong, async (t) => {
  const cases: [string, string][] = [
    [rows(3000, '>'), 'invalid_node'],
    [`${rows(300, '- ')}x`, 'invalid_node'],
    [rows(700, '1. '), 'invalid_node'],
    [rows(40, '> ').concat('x'), 'invalid_node'],
    [`${rows(600, '**a ')}${rows(600, 'b** ')}`, 'invalid_node'],
    [rows(1000, '*a_'), 'read'],
    [rows(20_000, '['), 'read'],
    [rows(5000, '!['), 'read'],
    [rows(1500, '[a]('), 'read'],
    ['```\n'.concat(rows(20_000, 'a\n')), 'read'],
    ['<!--\n'.concat(rows(20_000, 'a\n')), 'read'],
    [`|a|b|\n|-|-|\n${rows(2000, '|1|2|\n')}`, 'read'],
    [`|a|b|\n|-|-|\n${rows(11_000, '|1|2|\n')}`, 'invalid_node'],
    [`${rows(5000, '| a ')}\n${rows(5000, '|-')}|\n`, 'read'],
    [`|a|\n|-|\n${rows(5000, '| a ')}\n${rows(5000, '|x|\n')}`, 'invalid_node'],
    [rows(1000, '<details>\n<summary>x</summary>\n\n'), 'read'],
    [`${rows(2000, '<u>a')}${rows(2000, '</u>')}`, 'read'],
    [rows(21_000, 'a\n\n'), 'invalid_node'],
    [rows(5000, '[a]: b\n'), 'read'],
    ['a\u0000', 'read'],
    ['a\ud800', 'invalid_node'],
    ['&#0;&#xD800;', 'read'],
    ['', 'read'],
  ]
  for (const [markdown, expected] of cases) {
    t.equal(await survives(markdown), expected, JSON.stringify(markdown.slice(0, 30)))
  }
})

t.test('texts that break the bounds of the thread are refused, and all that wait are read', onlyLong, async (t) => {
  const hostile = rows(60_000, '>')
  const texts = [hostile, 'a\n\n'.repeat(2000), hostile, '- b\n'.repeat(2000), '# c\n\n'.repeat(1000)]
  t.strictSame(await Promise.all(texts.map(survives)), ['invalid_node', 'read', 'invalid_node', 'read', 'read'])
})

t.test('a short text cannot hold the others up for long, a long one not for ever', async (t) => {
  t.ok(timeLimit(60_000) < 2500)
  t.ok(timeLimit(400_000) >= 2 * 2800)
  t.equal(timeLimit(50_000_000), 10_000)
})

t.test('the thread answers what the event loop would', async (t) => {
  const markdown = '# a\n\n- b\n\n'.repeat(500)
  const strip = (value: unknown) => JSON.stringify(value).replace(/block_\w{26}/g, '')
  t.equal(strip((await fromMarkdownAsync(markdown)).result), strip(fromMarkdown(markdown).result))
  await t.rejects(fromMarkdownAsync(`${'x '.repeat(4000)}\n\n<!-- block=no -->`), { code: 'invalid_markdown_anchor' })
})
