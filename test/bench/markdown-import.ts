import { remark } from 'remark'
import remarkFrontmatter from 'remark-frontmatter'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import { fromMarkdownAsync } from '../../shared/body/markdown/parse-async.ts'
import { markdownFiles } from '../support/markdown-files.ts'
import { alternate, type Figure } from './harness.ts'

const bare = remark().use(remarkFrontmatter).use(remarkGfm).use(remarkMath, { singleDollarTextMath: false }).freeze()

/**
 * Measures how fast Markdown becomes a normalised document, thread included, in megabytes per second of processor time.
 * The baseline is remark, which only parses the same texts with the same extensions.
 */
export async function measureMarkdownImport(): Promise<Figure[]> {
  const files = markdownFiles(400).map(({ text }) => text)
  const small = files.filter((text) => text.length < 8000).slice(0, 100)
  const large = files.join('\n\n').slice(0, 300_000)
  return [...(await compare('100 small files', small)), ...(await compare('one text of 300 KB', [large]))]
}

async function compare(name: string, texts: string[]): Promise<Figure[]> {
  const rates = await alternate(5, {
    ours: () => rate(texts, fromMarkdownAsync),
    theirs: () => rate(texts, async (text) => void bare.parse(text)),
  })
  const ratio = rates.ours / rates.theirs
  return [
    { name: `import of Markdown, ${name}`, value: `${rates.ours.toFixed(2)} MB/s` },
    { name: 'bare remark parsing the same', value: `${rates.theirs.toFixed(2)} MB/s` },
    { name: 'ratio of the two', value: ratio.toFixed(2), bar: 'at least 0.6', met: ratio >= 0.6 },
  ]
}

async function rate(texts: string[], read: (text: string) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (const text of texts) await read(text)
  const { user, system } = process.cpuUsage(before)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return bytes / (user + system)
}
