import * as Y from 'yjs'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { matchSimilar } from '../../../shared/body/yjs/align-similar.ts'
import { bodyFragment, readDocument } from '../../../shared/body/yjs/encoding.ts'
import { deriveState, followInto, openState } from '../../../shared/body/yjs/state.ts'
import { atOnce } from '../../../shared/computations/slices.ts'
import { t } from '../../support/tap.ts'
import { bulletList, listItem, paragraph } from './blocks.ts'
import { idFrom, normalised } from './random-body.ts'

const words = 'one two three four five six seven eight nine ten eleven twelve'.split(' ')

t.test('a caret stays at its word when a program replaces the whole body under new ids', async (t) => {
  const from = body(
    heading(1, 'The quick report'),
    paragraph(2, 'Every quarter the sales team writes a report about its customers.'),
    paragraph(3, 'It is short.'),
    list(4, 'buy some milk and bread', 'call the plumber about the sink'),
    quote(20, 'nobody reads the whole text'),
  )
  const to = body(
    heading(101, 'The quick report'),
    paragraph(150, 'A new paragraph stands here now, which nobody has seen before.'),
    paragraph(102, 'Every quarter the large sales team writes one report about its customers.'),
    list(104, 'something else on top', 'buy some milk and fresh bread', 'call the plumber about the kitchen sink'),
    quote(120, 'nobody reads the whole long text'),
  )
  const doc = openState(deriveState(from))
  const editor = openState(Y.encodeStateAsUpdate(doc))
  for (const word of ['quick', 'customers', 'bread', 'plumber', 'whole']) {
    const caret = caretAt(editor, word)
    const server = openState(Y.encodeStateAsUpdate(doc))
    const update = followInto(server, { from, to }) as Uint8Array
    const there = openState(Y.encodeStateAsUpdate(editor))
    Y.applyUpdate(there, update)
    t.strictSame(normalised(readDocument(bodyFragment(there)).document), to)
    const place = Y.createAbsolutePositionFromRelativePosition(caret, there)
    t.equal(place?.type.toString().slice(place.index, place.index + word.length), word)
  }
})

t.test('text typed while the whole body is replaced stays in its paragraph', async (t) => {
  const from = body(paragraph(1, 'the first paragraph says this'), paragraph(2, 'the second paragraph says that'))
  const to = body(paragraph(11, 'the first paragraph says more'), paragraph(12, 'the second paragraph says much more'))
  const doc = openState(deriveState(from))
  const editor = openState(Y.encodeStateAsUpdate(doc))
  followInto(doc, { from, to })
  textWith(editor, 'second').insert(10, '!')
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(editor))
  const texts = readDocument(bodyFragment(doc)).document.content.map((node) => node.content?.[0]?.text)
  t.strictSame(texts, ['the first paragraph says more', 'the second! paragraph says much more'])
})

t.test('blocks that say something else are not taken for each other', async (t) => {
  const olds = [paragraph(1, 'apples and pears'), paragraph(2, 'rain and snow'), heading(3, 'the end of it')]
  const news = [paragraph(4, 'kings or queens'), paragraph(5, 'the end of it')]
  t.strictSame(atOnce(matchSimilar(olds, news)), [-1, -1])
})

t.test('a block that moved among others is left out, and the others stay', async (t) => {
  const texts = ['red green blue', 'iron copper gold', 'bread cheese wine', 'north south east']
  const olds = texts.map((text, index) => paragraph(index, text))
  const news = [1, 2, 3, 0].map((from, index) => paragraph(index + 10, `${texts[from]} more`))
  t.strictSame(atOnce(matchSimilar(olds, news)), [1, 2, 3, -1])
})

t.test('thousands of blocks that all changed are compared in time that follows from their number', async (t) => {
  const [few, many] = [lookedAt(500), lookedAt(2000)]
  t.ok(many < 5 * few, `${few} and ${many}`)
})

/** The number of times that blocks are read when all of them have changed. */
function lookedAt(count: number): number {
  let reads = 0
  const counted = (list: BodyNode[]) =>
    new Proxy(list, {
      get(target, name) {
        if (name !== 'length') reads += 1
        return Reflect.get(target, name)
      },
    })
  const texts = Array.from({ length: count }, (_, index) => `${words[index % 7]} ${words[index % 12]} word${index}`)
  const olds = texts.map((text, index) => paragraph(index, text))
  const news = texts.map((text, index) => paragraph(index, `${text} more`)).reverse()
  atOnce(matchSimilar(counted(olds), counted(news)))
  return reads
}

function caretAt(doc: Y.Doc, word: string): Y.RelativePosition {
  const text = textWith(doc, word)
  return Y.createRelativePositionFromTypeIndex(text, text.toString().indexOf(word))
}

function textWith(doc: Y.Doc, word: string): Y.XmlText {
  const open: unknown[] = bodyFragment(doc).toArray()
  for (const type of open) {
    if (type instanceof Y.XmlText && type.toString().includes(word)) return type
    if (type instanceof Y.XmlElement) open.push(...type.toArray())
  }
  throw new Error(`no text says ${word}`)
}

function body(...content: BodyNode[]): DocNode {
  return normalised({ type: 'doc', content })
}

function heading(id: number, text: string): BodyNode {
  return { ...paragraph(id, text), type: 'heading', attrs: { id: idFrom(id), level: 1 } }
}

function quote(id: number, text: string): BodyNode {
  return { type: 'blockquote', attrs: { id: idFrom(id) }, content: [paragraph(id + 1, text)] }
}

function list(id: number, ...texts: string[]): BodyNode {
  return bulletList(id, ...texts.map((text, index) => listItem(id + 1 + 2 * index, text)))
}
