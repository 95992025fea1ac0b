import fc from 'fast-check'
import * as Y from 'yjs'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { longestIncreasing } from '../../../shared/body/sequence.ts'
import { applyDocument } from '../../../shared/body/yjs/apply.ts'
import { bodyFragment, idOf, readDocument, writeNodes } from '../../../shared/body/yjs/encoding.ts'
import { followInto } from '../../../shared/body/yjs/state.ts'
import { t } from '../../support/tap.ts'
import { paragraph } from './blocks.ts'
import { edited, idFrom, normalised, randomBody, randomEdits } from './random-body.ts'

t.test('a live document shows exactly what the API wrote, at once and not piece by piece', async (t) => {
  fc.assert(
    fc.property(randomBody(), randomEdits(), (from, edits) => {
      const to = edited(from, edits, 1000)
      const fragment = liveFragment(from)
      let updates = 0
      fragment.doc?.on('update', () => {
        updates += 1
      })
      applyDocument({ fragment, from, to })
      same(normalised(readDocument(fragment).document), to)
      if (updates > 1) throw new Error(`${updates} updates`)
      applyDocument({ fragment, from, to })
      same(normalised(readDocument(fragment).document), to)
    }),
  )
  t.pass()
})

t.test('a cursor stays in its block unless the block itself moved or changed type', async (t) => {
  fc.assert(
    fc.property(randomBody(), randomEdits(), (from, edits) => {
      const to = edited(from, edits, 1000)
      const fragment = liveFragment(from)
      const before = elementsById(fragment)
      applyDocument({ fragment, from, to })
      const after = elementsById(fragment)
      for (const id of stayingIds(from, to)) {
        if (before.get(id) !== after.get(id)) throw new Error(`${id} was made anew`)
      }
    }),
  )
  t.pass()
})

t.test('a block that gets another id stays where it is', async (t) => {
  const item = (id: number, text: string) => ({
    type: 'listItem',
    attrs: { id: idFrom(id) },
    content: [paragraph(id + 100, text)],
  })
  const list = (...content: BodyNode[]) => body({ type: 'bulletList', attrs: { id: idFrom(9) }, content })
  const from = list(item(1, 'first half'), item(1, 'second half'))
  const to = list(item(1, 'first half'), item(2, 'second half'))
  const fragment = liveFragment(from)
  const second = (fragment.get(0) as Y.XmlElement).get(1)
  applyDocument({ fragment, from, to })
  t.equal((fragment.get(0) as Y.XmlElement).get(1), second)
  t.strictSame(readDocument(fragment).document, to)
})

t.test('a block that an editor made without an id stays where it is when it gets an id', async (t) => {
  const made = (attrs?: { id: string }): BodyNode => ({
    type: 'paragraph',
    ...(attrs && { attrs }),
    content: [{ type: 'text', text: 'just begun' }],
  })
  const from = body(paragraph(1, 'before'), made())
  const to = body(paragraph(1, 'before'), made({ id: idFrom(2) }))
  const fragment = liveFragment(from)
  const begun = fragment.get(1)
  applyDocument({ fragment, from, to })
  t.equal(fragment.get(1), begun)
  t.strictSame(readDocument(fragment).document, to)
})

t.test('a block that somebody makes a heading stays a heading when programs write the blocks around it', async (t) => {
  const from = body(paragraph(1, 'one'), paragraph(2, 'two'), paragraph(3, 'three'))
  const to = body(paragraph(1, 'first'), paragraph(2, 'two'), paragraph(3, 'third'))
  const fragment = liveFragment(from)
  const heading = { ...paragraph(2, 'two'), type: 'heading' }
  fragment.delete(1)
  fragment.insert(1, writeNodes([heading]))
  applyDocument({ fragment, from, to })
  t.strictSame(readDocument(fragment).document.content, [paragraph(1, 'first'), heading, paragraph(3, 'third')])
})

t.test('what a program writes stays when a person brings back a deleted block with the same id', async (t) => {
  const from = body(paragraph(1, 'one'))
  const shown = (live: BodyNode, written: BodyNode) => {
    const fragment = liveFragment(body(paragraph(1, 'one'), live))
    applyDocument({ fragment, from, to: body(paragraph(1, 'one'), written) })
    const [, ...others] = readDocument(fragment).document.content
    return others
  }
  const heading = { ...paragraph(2, 'restored'), type: 'heading', attrs: { id: idFrom(2), level: 2 } }
  const bold = { ...paragraph(2, ''), content: [{ type: 'text', text: 'restored', marks: [{ type: 'bold' }] }] }
  const empty = { type: 'paragraph', attrs: { id: idFrom(2) } }
  t.same(shown(paragraph(2, 'restored'), paragraph(2, 'written')), [paragraph(2, 'written'), paragraph(2, 'restored')])
  t.same(shown(heading, paragraph(2, 'written')), [paragraph(2, 'written'), heading])
  t.same(shown(paragraph(2, 'restored'), bold), [bold], 'the same text is not there twice')
  t.same(shown(heading, paragraph(2, 'restored')), [heading])
  t.same(shown(empty, paragraph(2, 'written')), [paragraph(2, 'written')])
  t.same(shown(paragraph(2, 'restored'), empty), [paragraph(2, 'restored')])
})

t.test('changing one word costs the same few bytes in a short and in a long document', async (t) => {
  const sizes = [10, 100, 1000].map((length) => {
    const from = body(...Array.from({ length }, (_, index) => paragraph(index, `block ${index} says a few words`)))
    const to = structuredClone(from)
    to.content[5] = paragraph(5, 'block 5 says some few words') as DocNode['content'][number]
    const doc = new Y.Doc()
    bodyFragment(doc).insert(0, writeNodes(from.content))
    return followInto(doc, { from, to })?.length ?? 0
  })
  t.ok(Math.max(...sizes) < 60, `${sizes} bytes`)
  // Clocks are written with one to three bytes.
  t.ok(Math.max(...sizes) - Math.min(...sizes) <= 10, `${sizes} bytes`)
})

t.test('what an unknown editor put into a document is reported and stays there', async (t) => {
  const fragment = liveFragment(body(paragraph(1, 'known')))
  fragment.insert(1, [new Y.XmlElement('hologram'), new Y.XmlHook('widget') as unknown as Y.XmlElement])
  const state = Y.encodeStateAsUpdate(fragment.doc as Y.Doc)
  const { unknown } = readDocument(fragment)
  t.strictSame(
    unknown.map(({ path, type }) => [path, type]),
    [
      [[1], 'hologram'],
      [[2], 'yjs:foreign'],
    ],
  )
  t.strictSame(Y.encodeStateAsUpdate(fragment.doc as Y.Doc), state)
})

t.test('marks that editors hash because they overlap themselves are read by their names', async (t) => {
  const fragment = liveFragment(body(paragraph(1, 'noted')))
  const text = (fragment.get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.format(0, 2, { 'highlight--Ab3dEf9+': { color: 'red' }, bold: {} })
  const marks = [{ type: 'bold' }, { type: 'highlight', attrs: { color: 'red' } }]
  t.strictSame(readDocument(fragment).document.content[0]?.content?.[0], { type: 'text', text: 'no', marks })
})

function liveFragment(from: DocNode): Y.XmlFragment {
  const fragment = bodyFragment(new Y.Doc())
  fragment.insert(0, writeNodes(from.content))
  return fragment
}

function body(...content: BodyNode[]): DocNode {
  return { type: 'doc', content } as DocNode
}

function same(got: DocNode, want: DocNode): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(want)]
  if (left !== right) throw new Error(`got  ${left}\nwant ${right}`)
}

function elementsById(parent: Y.XmlFragment, found = new Map<string, Y.XmlElement>()): Map<string, Y.XmlElement> {
  for (const child of parent.toArray()) {
    if (!(child instanceof Y.XmlElement)) continue
    const id = idOf(child)
    if (id && child.nodeName !== 'mention') found.set(id, child)
    elementsById(child, found)
  }
  return found
}

/** The blocks of the same type and parent that have to stay when as few siblings as possible move. */
function stayingIds(from: BodyNode | DocNode, to: BodyNode | DocNode): string[] {
  const olds = (from.content ?? []).map((node) => ({ node, id: node.attrs?.id }))
  const places = new Map(olds.map(({ id }, index) => [id, index]))
  const news = to.content ?? []
  return longestIncreasing(news.map((node) => places.get(node.attrs?.id) ?? -1)).flatMap((index) => {
    const node = news[index]
    const old = olds[places.get(node?.attrs?.id) ?? -1]?.node
    if (!node || old?.type !== node.type || node.attrs?.id === undefined || node.type === 'mention') return []
    return [String(node.attrs.id), ...stayingIds(old, node)]
  })
}
