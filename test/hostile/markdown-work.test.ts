import { documentToLines } from '../../shared/body/canonical.ts'
import type { DocNode } from '../../shared/body/document.ts'
import { assemble } from '../../shared/body/markdown/from-markdown.ts'
import { parseMarkdown } from '../../shared/body/markdown/parse.ts'
import { StoredBlocks } from '../../shared/body/markdown/stored-blocks.ts'
import { linesToMarkdown } from '../../shared/body/markdown/to-markdown.ts'
import { writeBack } from '../../shared/body/markdown/write-back.ts'
import { doc, h, node, p, text } from '../document/build.ts'
import { t } from '../support/tap.ts'
import { WorkCounter } from './work.ts'

const counter = new WorkCounter()
t.teardown(() => counter.end())

t.test('reading a body again costs little, and writing it back costs what has changed', async (t) => {
  const lines = documentToLines(ordinary(300))
  const render = () => linesToMarkdown(lines, { anchors: true })
  const first = workOf(render)
  t.ok(workOf(render) < 0.1 * first, 'what was rendered is remembered')
  const markdown = render().markdown.replace('Words of paragraph 7', 'Other words')
  const assembling = () => ({ stored: new StoredBlocks(lines) })
  const once = workOf(() => t.not(writeBack(markdown, assembling()), null))
  const whole = workOf(() => assemble(parseMarkdown({ markdown }), assembling()))
  t.ok(once < 0.1 * whole, 'blocks are recognised, although the parser never saw them')
})

t.test('a huge body fills only a part of the memory, so that the bodies of others stay cheap to read', async (t) => {
  const lines = documentToLines(ordinary(300))
  const render = () => linesToMarkdown(lines, { anchors: true })
  const first = workOf(render)
  const code = (index: number) => node('codeBlock', {}, `${index}\n`.repeat(8000))
  const huge = doc(...Array.from({ length: 600 }, (_, index) => code(index)))
  linesToMarkdown(documentToLines(huge), { anchors: true })
  t.ok(workOf(render) < 0.1 * first)
})

function workOf(work: () => unknown): number {
  counter.take()
  work()
  return counter.take().total
}

function ordinary(count: number): DocNode {
  const block = (index: number) => {
    const words = `Words of paragraph ${index} with `
    return index % 10 === 0
      ? h(2, `Heading ${index}`)
      : p(words, text('bold', 'bold'), ' words and more of them.'.repeat(5))
  }
  return doc(...Array.from({ length: count }, (_, index) => block(index)))
}
