import t from 'tap'
import { fromMarkdown } from '../../shared/body/markdown/from-markdown.ts'
import { toMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { readmes } from '../support/markdown-files.ts'
import { syntaxTree } from './syntax-tree.ts'

// The READMEs that come back with another syntax tree, by package, and why.
const explained: { [name: string]: string } = {
  'mdast-util-gfm-table': 'Bold around nothing but code: a body has no mark but a link beside code.',
  minimatch: 'Two spaces behind the marker of a callout are no break within its text.',
}

const sample = readmes(100).map((file) => ({ ...file, once: rewritten(file.text) }))

function rewritten(markdown: string): string {
  return toMarkdown(fromMarkdown(markdown).result, { anchors: false }).markdown
}

t.test('98 of 100 READMEs come back with the syntax tree they had, and each other one is explained', async (t) => {
  const differing = sample.filter(({ text, once }) => syntaxTree(once) !== syntaxTree(text))
  const names = differing.map((file) => file.package)
  t.strictSame(names, Object.keys(explained))
  t.ok(differing.length <= 2)
})

t.test('a README that was written once is written the same from then on', async (t) => {
  for (const { package: name, once } of sample) t.equal(rewritten(once), once, name)
})

t.test('no README gets a character reference that its author did not write', async (t) => {
  const references = (markdown: string) => markdown.match(/&#x?\w+;/g)?.length ?? 0
  const more = sample.filter(({ text, once }) => references(once) > references(text))
  t.strictSame(
    more.map((file) => file.package),
    [],
  )
})
