import { documentToLines } from '../../../shared/body/canonical.ts'
import type { BlockNode, BodyNode } from '../../../shared/body/document.ts'
import { computationLoad } from '../../../shared/computations/compute.ts'
import { type BodyPair, differenceText } from '../../../shared/differences/compare.ts'
import { onBehalfOf } from '../../../shared/turns/requester.ts'
import { t } from '../../support/tap.ts'
import { doc, p, text } from '../build.ts'

t.test('texts whose words take long to compare do not hold up the event loop', async (t) => {
  const pair = rewritten([p(words(12_000))])
  const before = computationLoad().ends.done
  await differenceText(pair, { format: 'json' })
  t.equal(computationLoad().ends.done, before + 1, 'a thread has compared them')
})

t.test('bodies whose words take too long to compare still show which blocks differ', async (t) => {
  const pair = rewritten([p('first'), p(`before ${'漢字'.repeat(500_000)}`), p('last')])
  // To find these words takes many times as long as allowed here, and to compare the blocks takes a small part of it.
  const limit = { mostMs: 250 }
  const { blocks } = JSON.parse(await onBehalfOf('usr_1', () => differenceText(pair, { format: 'json' }), limit))
  t.equal(blocks.length, 3)
  for (const { op, before, after, ...others } of blocks) {
    t.equal(op, 'modified')
    t.not(before.content[0].text, after.content[0].text)
    t.notOk(others.hunks ?? others.children)
  }
  const asMarkdown = onBehalfOf('usr_1', () => differenceText(pair, { format: 'markdown' }), { mostMs: 0 })
  await t.rejects(asMarkdown, { name: 'ComputationLimitError' })
})

t.test('the changed words of many blocks do not make an answer several times as large as the bodies', async (t) => {
  const pair = rewritten(Array.from({ length: 120 }, () => p(words(30_000))))
  const difference = await differenceText(pair, { format: 'json' })
  const room = 8 * 1024 * 1024
  t.ok(difference.length < pair.texts.from.length + pair.texts.to.length + 120 * 200 + room)
  const { blocks }: { blocks: { hunks?: object[] }[] } = JSON.parse(difference)
  t.equal(blocks.length, 120, 'each block is listed all the same')
  const first = blocks.findIndex(({ hunks }) => hunks === undefined)
  t.ok(first > 0, `the first ${first} blocks show their words`)
  t.ok(blocks.slice(first).every(({ hunks }) => hunks === undefined))
})

/** A text of so many characters, in which every second word is unique. */
function words(characters: number): string {
  const texts: string[] = []
  for (let length = 0; length < characters; length += 29) texts.push(`w${`${texts.length}`.padStart(20, '0')} before`)
  return texts.join(' ')
}

/** Two bodies: the given blocks, and the same blocks with every word `before` replaced. */
function rewritten(blocks: readonly BodyNode[]): BodyPair {
  const { content } = doc(...blocks)
  const changed = content.map((block) => ({ ...block, content: [text(after(block))] }))
  const side = { seq: 'current' as const, version: '' }
  const texts = { from: linesOf(content), to: linesOf(changed as BlockNode[]) }
  return { heading: { document_id: 'doc_1', from: side, to: side }, texts }
}

function after({ content = [] }: BlockNode): string {
  return `${content[0]?.text?.replaceAll('before', 'after')}!`
}

function linesOf(content: BlockNode[]): string {
  return documentToLines({ type: 'doc', content }).join('\n')
}
