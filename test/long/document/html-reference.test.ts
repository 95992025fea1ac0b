import { readFileSync } from 'node:fs'
import MarkdownIt, { type Options, type Renderer, type Token } from 'markdown-it'
import { renderHtml } from '../../../shared/body/html.ts'
import { fromMarkdown } from '../../../shared/body/markdown/from-markdown.ts'
import { sanitizeHtml } from '../../../shared/body/sanitize.ts'
import { differences, withoutDifferences } from '../../document/html-differences.ts'
import { markdownFiles } from '../../support/markdown-files.ts'
import { t } from '../../support/tap.ts'

const markdownIt = new MarkdownIt({ html: true, linkify: true })
markdownIt.linkify.set({ fuzzyLink: false })
// GFM links an address with any top-level domain. linkify-it must be told the domains that occur here.
markdownIt.linkify.tlds('llc', true)
markdownIt.normalizeLink = (address) => address
// Raw HTML is sanitised in the pieces that a body keeps.
markdownIt.renderer.rules['html_block'] = (tokens, index) =>
  `<div data-type="html">${sanitizeHtml((tokens[index]?.content ?? '').trim())}</div>\n`
const { renderInline } = markdownIt.renderer
markdownIt.renderer.renderInline = function (this: Renderer, tokens: Token[], options: Options, env: unknown) {
  const html = renderInline.call(this, tokens, options, env)
  return tokens.some((token) => token.type === 'html_inline') ? sanitizeHtml(html) : html
}

// Octokit and its friends write tables as raw HTML with blank lines inside. Each piece of such a table is malformed,
// and each renderer repairs the piece in its own way. markdown-it does not end bold text between punctuation and a
// letter of a script without spaces.
const boldBeforeLetter = /\p{P}\*\*[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
const files = markdownFiles(2000).filter(
  ({ text }) => !text.includes('<tbody valign=top align=left>') && !boldBeforeLetter.test(text),
)
const texts = new Set(files.map(({ text }) => text))
const sample = Array.from(texts)
  .filter((text) => text.length < 16_000 && text.isWellFormed())
  .slice(0, 440)
// None of these packages reads lists of tasks.
const tasks = '- [x] a\n- [ ] b\n'
const rendered = [...sample, tasks].map((text) => ({
  ours: renderHtml(fromMarkdown(text).result),
  reference: markdownIt.render(text.replace(/^---\n[\s\S]*?\n---(\n|$)/, '')),
}))

const isSame = ({ ours, reference }: { ours: string; reference: string }, left?: string) =>
  withoutDifferences('ours', ours, left) === withoutDifferences('reference', reference, left)

t.test('real Markdown is shown as another renderer shows it, but for the differences that are explained', async (t) => {
  t.ok(sample.length >= 300)
  for (const [index, html] of rendered.entries()) if (!isSame(html)) t.fail(String(sample[index]?.slice(0, 300)))
})

t.test('each difference is still there, and the table explains it', async (t) => {
  const table = readFileSync(new URL('../../document/html-differences.md', import.meta.url), 'utf8')
  const rows = Array.from(table.matchAll(/^\| (?!Difference|-)([^|]+)\|/gm), (match) => match[1]?.trim())
  t.strictSame(rows, Object.keys(differences))
  for (const name of Object.keys(differences)) if (rendered.every((html) => isSame(html, name))) t.fail(name)
})
