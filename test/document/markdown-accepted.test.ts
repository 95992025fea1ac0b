import type { BodyNode } from '../../shared/body/document.ts'
import { accepted, describeMarkdown, literal } from '../../shared/body/markdown/accepted.ts'
import { fromMarkdown } from '../../shared/body/markdown/from-markdown.ts'
import { toMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { t } from '../support/tap.ts'

t.test('each sample of the reference is read and written as the reference says', async (t) => {
  for (const { read, becomes, written } of [...accepted, ...literal]) {
    const { result } = fromMarkdown(read)
    t.strictSame(namesIn(result.content), new Set(becomes), read)
    t.equal(toMarkdown(result, { anchors: false }).markdown, `${written}\n`, read)
    t.strictSame(namesIn(fromMarkdown(written).result.content), new Set(becomes), written)
  }
})

t.test('the reference shows each sample in a row of three cells', async (t) => {
  const { result } = fromMarkdown(describeMarkdown())
  const rows = result.content.filter(({ type }) => type === 'table').flatMap(({ content }) => content ?? [])
  t.equal(rows.length, accepted.length + literal.length + 2)
  t.ok(rows.every(({ content }) => content?.length === 3))
})

// The types of all nodes but texts, and of all marks.
function namesIn(nodes: readonly BodyNode[], names = new Set<string>()): Set<string> {
  for (const node of nodes) {
    if (node.type !== 'text') names.add(node.type)
    for (const mark of node.marks ?? []) names.add(mark.type)
    namesIn(node.content ?? [], names)
  }
  return names
}
