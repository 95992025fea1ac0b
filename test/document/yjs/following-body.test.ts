import fc from 'fast-check'
import * as Y from 'yjs'
import { canonicalJson } from '../../../shared/body/canonical.ts'
import { holdsBody } from '../../../shared/body/yjs/computations.ts'
import { bodyFragment, readDocument, writeNodes } from '../../../shared/body/yjs/encoding.ts'
import { FollowingBody } from '../../../shared/body/yjs/following-body.ts'
import { openState } from '../../../shared/body/yjs/state.ts'
import { atOnce, inSlices } from '../../../shared/computations/slices.ts'
import { t } from '../../support/tap.ts'
import { paragraph } from './blocks.ts'
import { opened } from './followed-editor.ts'
import { FollowedSession, followedStep } from './followed-session.ts'
import { idFrom, randomBody } from './random-body.ts'

t.test('a flush that reads only what changed stores what a flush of the whole document would store', async (t) => {
  fc.assert(
    fc.property(randomBody(), fc.array(followedStep(), { minLength: 3, maxLength: 30 }), (body, steps) => {
      const session = new FollowedSession(body)
      for (const one of steps) session.run(one)
      session.settle()
      session.settle()
    }),
  )
  t.pass()
})

t.test('frontmatter that gets a block above it is not stored in the middle of a body', async (t) => {
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

t.test(
  'a write of thousands of blocks leaves turns to others, and its updates bring an editor to the same body',
  async (t) => {
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
  },
)

t.test('a large document that is rewritten goes to its editors in smaller steps than a small document', async (t) => {
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

t.test(
  'a stored Y document that no longer holds the stored body is found, and the next flush tells the truth',
  async (t) => {
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
  },
)

t.test(
  'an update that brings nothing new is told apart from typed text, deletions and text that has to wait',
  async (t) => {
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
  },
)
