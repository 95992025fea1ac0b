import fc from 'fast-check'
import { test } from 'tap'
import * as Y from 'yjs'
import { idsInLine, topBlockId } from '../../shared/body/block-lines.ts'
import { canonicalJson, documentToLines } from '../../shared/body/canonical.ts'
import type { BodyNode, DocNode } from '../../shared/body/document.ts'
import { holdsBody } from '../../shared/body/yjs/computations.ts'
import { bodyFragment, readDocument, writeNodes } from '../../shared/body/yjs/encoding.ts'
import { FollowingBody } from '../../shared/body/yjs/following-body.ts'
import { deriveState, openState } from '../../shared/body/yjs/state.ts'
import { atOnce, inSlices } from '../../shared/computations/slices.ts'
import { runs } from '../support/property-runs.ts'
import { bulletList, listItem, paragraph } from './blocks.ts'
import { FollowedSession, followedStep } from './followed-session.ts'
import { idFrom, randomBody } from './random-body.ts'
import { elementsBelow, textsBelow } from './wild-editor.ts'

test('a flush that reads only what changed stores what a flush of the whole document would store', async (t) => {
  fc.assert(
    fc.property(randomBody(), fc.array(followedStep(), { minLength: 3, maxLength: 30 }), (body, steps) => {
      const session = new FollowedSession(body)
      for (const one of steps) session.run(one)
      session.settle()
      session.settle()
    }),
    runs,
  )
  t.pass()
})

test('a block keeps its id when somebody presses Enter at its start or pastes a copy above it', async (t) => {
  const { body, fragment } = opened(paragraph(1, 'one'), paragraph(2, 'two'))
  fragment.insert(0, writeNodes([{ type: 'paragraph', attrs: { id: idFrom(1) } }, paragraph(2, 'two')]))
  atOnce(body.settle('doc_1@1'))
  const ids = body.lines.map(topBlockId)
  t.strictSame(ids.slice(2), [idFrom(1), idFrom(2)])
  t.equal(new Set(ids).size, 4)
  const live = bodyFragment(body.doc).toArray()
  t.strictSame(
    live.map((child) => (child as Y.XmlElement).getAttribute('id')),
    ids,
  )
})

test('blocks keep their ids and carets when an editor that does not know ids types in them', async (t) => {
  const list = bulletList(10, listItem(20, 'one'), listItem(30, 'two'), listItem(40, 'three'))
  const { body, fragment } = opened(paragraph(1, 'first'), list)
  const before = body.lines
  for (const [index, word] of ['a', 'b'].entries()) {
    fragment.doc?.transact(() => {
      for (const element of elementsBelow(fragment)) element.removeAttribute('id')
      textsBelow(fragment)[2]?.insert(0, word)
    })
    const elements = elementsBelow(bodyFragment(body.doc))
    const { updates, repairs } = atOnce(body.settle(`doc_1@${index}`))
    t.strictSame(new Set(repairs.map(({ kind }) => kind)), new Set(['id_restored']))
    t.strictSame(elementsBelow(bodyFragment(body.doc)), elements, 'no element was made anew')
    for (const update of updates) Y.applyUpdate(fragment.doc as Y.Doc, update)
  }
  t.strictSame(body.lines, [before[0], before[1]?.replace('two', 'batwo')])
})

test('all list items keep their ids when an editor that does not know ids adds an item between them', async (t) => {
  const list = bulletList(10, listItem(20, 'one'), listItem(30, 'two'), listItem(40, 'three'))
  const { body, fragment } = opened(list)
  fragment.doc?.transact(() => {
    for (const element of elementsBelow(fragment)) element.removeAttribute('id')
    const live = fragment.get(0) as Y.XmlElement
    live.insert(2, writeNodes([{ type: 'listItem', content: [{ type: 'paragraph' }] }]))
  })
  atOnce(body.settle('doc_1@1'))
  const ids = idsInLine(body.lines[0] as string)
  t.strictSame([...ids.slice(0, 5), ...ids.slice(7)], idsInLine(canonicalJson(list)))
})

for (const isTyped of [false, true]) {
  const typing = isTyped ? ', also when somebody types in the block' : ''
  test(`a program changes the block that it names, and not a copy that somebody pastes above it${typing}`, async (t) => {
    const { body, fragment } = opened(paragraph(1, 'one'), paragraph(2, 'two'), paragraph(3, 'three'))
    fragment.insert(0, [(fragment.get(1) as Y.XmlElement).clone()])
    fragment.delete(3)
    if (isTyped) textsBelow(fragment)[2]?.insert(0, 'typed ')
    follow(body, paragraph(1, 'one'), paragraph(2, 'two more'), paragraph(3, 'three'))
    atOnce(body.settle('doc_1@1'))
    t.equal(body.lines[2], canonicalJson(paragraph(2, isTyped ? 'typed two more' : 'two more')))
    t.match(body.lines[0], '"two"', 'the copy stays as it is')
  })

  test(`a program changes a list item, and not a copy that somebody pastes above it${typing}`, async (t) => {
    const list = (second: string) => bulletList(10, listItem(20, 'one'), listItem(30, second), listItem(40, 'three'))
    const { body, fragment } = opened(list('two'))
    const live = fragment.get(0) as Y.XmlElement
    live.insert(0, [(live.get(1) as Y.XmlElement).clone()])
    live.delete(3)
    if (isTyped) textsBelow(fragment)[2]?.insert(0, 'typed ')
    follow(body, list('two more'))
    atOnce(body.settle('doc_1@1'))
    const [copy, one, two] = (JSON.parse(body.lines[0] as string) as BodyNode).content ?? []
    t.strictSame([one, two], [listItem(20, 'one'), listItem(30, isTyped ? 'typed two more' : 'two more')])
    t.match(JSON.stringify(copy), '"two"', 'the copy stays as it is')
  })
}

test('a program moves or deletes the block that it names, and not a copy that somebody pastes above it', async (t) => {
  const quotation = (...content: BodyNode[]) => ({ type: 'blockquote', attrs: { id: idFrom(9) }, content })
  const [one, two, three] = [paragraph(1, 'one'), paragraph(2, 'two'), paragraph(3, 'three')]
  for (const [from, to] of [
    [[quotation(one), two], [quotation(one, two)]],
    [[quotation(one, two)], [quotation(one), two]],
    [[quotation(one), two], [quotation(one)]],
    [[quotation(one, two)], [quotation(one)]],
    [
      [one, two, three],
      [one, three, two],
    ],
  ] as const) {
    const { body, fragment } = opened(...from)
    fragment.insert(0, writeNodes([two]))
    const copy = bodyFragment(body.doc).get(0)
    follow(body, ...to)
    t.ok(bodyFragment(body.doc).get(0) === copy, 'the copy stays where it is')
    atOnce(body.settle('doc_1@1'))
    t.match(body.lines[0], '"two"')
    t.strictSame(
      body.lines.slice(1),
      to.map((block) => canonicalJson(block)),
    )
  }
})

test('a block whose id is repaired keeps its own text, and does not get the text of a copy above it', async (t) => {
  const { body, fragment } = opened(bulletList(1, listItem(2, 'text')))
  fragment.insert(0, [(fragment.get(0) as Y.XmlElement).clone()])
  textsBelow(fragment)[0]?.insert(0, 'copied ')
  elementsBelow(fragment)[4]?.setAttribute('id', 'bad id')
  atOnce(body.settle('doc_1@1'))
  const live = readDocument(bodyFragment(body.doc)).document
  t.strictSame(
    live.content.map((block) => canonicalJson(block)),
    body.lines,
  )
})

test('of several new copies of a block that is gone, the first with text keeps the id', async (t) => {
  const { body, fragment } = opened(paragraph(1, 'one'), paragraph(2, 'two'))
  fragment.delete(0)
  fragment.insert(0, writeNodes([{ type: 'paragraph', attrs: { id: idFrom(1) } }, paragraph(1, 'one')]))
  atOnce(body.settle('doc_1@1'))
  t.equal(body.lines[1], canonicalJson(paragraph(1, 'one')))
})

test('frontmatter that gets a block above it is not stored in the middle of a body', async (t) => {
  const { body, fragment } = opened(
    { type: 'frontmatter', attrs: { id: idFrom(1), yaml: 'a: b' } },
    paragraph(2, 'two'),
  )
  fragment.insert(0, writeNodes([paragraph(3, 'above')]))
  atOnce(body.settle('doc_1@1'))
  t.strictSame(
    body.lines.map((line) => JSON.parse(line).type),
    ['paragraph', 'codeBlock', 'paragraph'],
  )
})

test('a write of thousands of blocks leaves turns to others, and its updates bring an editor to the same body', async (t) => {
  const paragraphs = (first: number) =>
    Array.from({ length: 3000 }, (_, index) => paragraph(first + index, `block ${index}`))
  const { body, fragment } = opened(...paragraphs(1))
  const typed = (fragment.get(7) as Y.XmlElement).get(0) as Y.XmlText
  typed.insert(0, 'typed ')
  const lines = [...paragraphs(1).slice(5, 10), ...paragraphs(5000)].map((block) => canonicalJson(block))
  let turns = 0
  const pause = async () => {
    turns += 1
  }
  const updates = await inSlices(body.follow(lines), pause)
  t.ok(turns > 0, `${turns} turns`)
  t.ok(updates.length > 1, `${updates.length} updates`)
  const { change, repairs } = await inSlices(body.settle('doc_1@1'), pause)
  t.equal(JSON.parse(change?.step ?? '').length, 1)
  t.strictSame(repairs, [])
  t.equal(body.lines[2], canonicalJson(paragraph(8, 'typed block 7')))
  for (const update of updates) Y.applyUpdate(fragment.doc as Y.Doc, update)
  t.strictSame(readDocument(fragment).document, readDocument(bodyFragment(body.doc)).document)
})

test('a large document that is rewritten goes to its editors in smaller steps than a small document', async (t) => {
  const updatesOf = (size: number) => {
    const paragraphs = (text: string) => Array.from({ length: size }, (_, index) => paragraph(index, text))
    const { body, fragment } = opened(...paragraphs('one two three four five'))
    const changed = [...paragraphs('1 two 3 four 5').slice(0, 500), ...paragraphs('one two three four five').slice(500)]
    const updates = atOnce(body.follow(changed.map((block) => canonicalJson(block))))
    for (const update of updates) Y.applyUpdate(fragment.doc as Y.Doc, update)
    t.strictSame(readDocument(fragment).document, readDocument(bodyFragment(body.doc)).document)
    return updates.length
  }
  const [small, large] = [updatesOf(500), updatesOf(10_000)]
  t.ok(large > 2 * small, `${small} and ${large} updates`)
})

test('a stored Y document that no longer holds the stored body is found, and the next flush tells the truth', async (t) => {
  const doc = new Y.Doc()
  bodyFragment(doc).insert(0, writeNodes([paragraph(1, 'one'), paragraph(2, 'zwei'), paragraph(3, 'three')]))
  const updates = [Y.encodeStateAsUpdate(doc)]
  const lines = [paragraph(1, 'one'), paragraph(2, 'two'), paragraph(3, 'three')].map((block) => canonicalJson(block))
  const body = atOnce(FollowingBody.open({ updates, lines }))
  t.equal(atOnce(body.settle('doc_1@1')).change, null, 'nothing is read while nothing changes')
  t.notOk(holdsBody({ updates, text: lines.join('\n') }))
  body.distrust()
  t.ok(atOnce(body.settle('doc_1@2')).change)
  t.equal(body.lines[1], canonicalJson(paragraph(2, 'zwei')))
  t.ok(holdsBody({ updates, text: body.text }))
})

test('an update that brings nothing new is told apart from typed text, deletions and text that has to wait', async (t) => {
  const { body } = opened(paragraph(1, 'one'))
  const editor = openState(Y.encodeStateAsUpdate(body.doc))
  const updates: Uint8Array[] = []
  editor.on('update', (update: Uint8Array) => updates.push(update))
  const text = (bodyFragment(editor).get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.insert(0, 'a')
  text.insert(1, 'b')
  text.delete(0, 1)
  const [first, second, deletion] = updates as [Uint8Array, Uint8Array, Uint8Array]
  t.equal(body.apply(second), true, 'waits for the first')
  t.equal(body.apply(first), true)
  t.equal(body.apply(second), false)
  t.equal(body.apply(deletion), true)
  t.equal(body.apply(deletion), false)
  t.strictSame(readDocument(bodyFragment(body.doc)).document, readDocument(bodyFragment(editor)).document)
})

/** A body that is followed, and an editor of it. Everything that the editor does arrives at once. */
function opened(...blocks: BodyNode[]): { body: FollowingBody; fragment: Y.XmlFragment } {
  const document = { type: 'doc', content: blocks } as DocNode
  const state = deriveState(document)
  const body = atOnce(FollowingBody.open({ updates: [state], lines: documentToLines(document) }))
  const editor = openState(state)
  editor.on('update', (update: Uint8Array) => body.apply(update))
  return { body, fragment: bodyFragment(editor) }
}

/** A program writes the body, and the Y document follows it. */
function follow(body: FollowingBody, ...blocks: BodyNode[]): void {
  atOnce(body.follow(blocks.map((block) => canonicalJson(block))))
}
