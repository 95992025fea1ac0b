import type { ReplaceStep } from '@tiptap/pm/transform'
import fc from 'fast-check'
import { gapsBetween, joined } from '../../api/pages/editor/browser/block-ranges.ts'
import { stepsTo } from '../../api/pages/editor/browser/changed-steps.ts'
import type { BodyNode } from '../../shared/body/document.ts'
import { bodySchema } from '../../shared/body/nodes.ts'
import { doc, h, node, p, text, ul } from '../document/build.ts'
import { anyDocument } from '../document/random.ts'
import { t } from '../support/tap.ts'

/*
 * What an editor changes on its page when others write, and which blocks it lays out.
 */

const read = (document: unknown) => bodySchema.nodeFromJSON(document)

t.test('a change by others leads to the document of the others, whatever they have done', async () => {
  const lead = (before: unknown, after: unknown) => {
    const [from, to] = [read(before), read(after)]
    const steps = stepsTo(to.content, from)
    return steps === null || steps.reduce((doc, step) => step.apply(doc).doc ?? doc, from).eq(to)
  }
  fc.assert(fc.property(anyDocument, anyDocument, lead))
  const parts = fc.tuple(anyDocument, fc.array(fc.nat(9)))
  const changed = ([{ content }, order]: [{ content: BodyNode[] }, number[]]) => {
    const others = order.flatMap((index) => content[index] ?? [])
    return others.length === 0 || lead({ type: 'doc', content }, { type: 'doc', content: others })
  }
  fc.assert(fc.property(parts, changed))
})

t.test('a change by others replaces the letters that differ, and no node beside them', async (t) => {
  const before = doc(h(1, 'Elephants'), ul(p('They eat.'), p('They drink water.')), p('End'))
  const change = (edit: (content: BodyNode[]) => void) => {
    const after = structuredClone(before)
    edit(after.content)
    const steps = stepsTo(read(after).content, read(before)) as ReplaceStep[]
    return steps.flatMap(({ slice }) => slice.content.toJSON() ?? [])
  }
  const item = (content: BodyNode[]) => content[1]?.content?.[1]?.content?.[0] as BodyNode
  const typed = change((content) => {
    item(content).content = [text('They drink a lot of water.')]
  })
  t.same(typed, [{ type: 'text', text: 'a lot of ' }])
  const doubled = change((content) => {
    item(content).content = [text('They drink watter.')]
  })
  t.same(doubled, [{ type: 'text', text: 't' }])
  t.same(change((content) => content.splice(2, 0, node('paragraph', {}, 'New'))).length, 1)
  const several = change((content) => {
    content[0] = { ...h(2, 'Elephants!'), attrs: { ...content[0]?.attrs, level: 2 } }
    item(content).content = [text('They drink waters.')]
  })
  t.same(
    several.map(({ type, text: letters }) => letters ?? type),
    ['s', 'heading', '!'],
    'several changes at once, of a type and of letters',
  )
  t.same(
    change((content) => content.splice(0, 1)),
    [],
    'a removed block',
  )
})

t.test('the blocks that are laid out and the gaps between them are the whole document', async () => {
  const range = fc
    .tuple(fc.integer({ min: -50, max: 500 }), fc.nat(100))
    .map(([from, size]) => ({ from, to: from + size }))
  const isWhole = (ranges: { from: number; to: number }[], blocks: number) => {
    const shown = joined([...ranges, { from: 0, to: 1 }, { from: blocks - 1, to: blocks }], blocks)
    const all = [...shown, ...gapsBetween(shown, blocks)].sort((one, other) => one.from - other.from)
    const ends = all.map(({ to }) => to)
    const isWanted = ranges.every(({ from, to }) =>
      [from, to - 1].every(
        (index) =>
          from >= to || index < 0 || index >= blocks || shown.some((one) => index >= one.from && index < one.to),
      ),
    )
    return isWanted && all.every(({ from }, index) => from === (ends[index - 1] ?? 0)) && ends.at(-1) === blocks
  }
  fc.assert(fc.property(fc.array(range, { maxLength: 5 }), fc.integer({ min: 1, max: 600 }), isWhole))
})
