import * as Y from 'yjs'
import { checkUpdate, mostNewClients, mostStructs, RefusedUpdate } from '../../shared/body/yjs/client-update.ts'
import { bodyFragment, writeNodes } from '../../shared/body/yjs/encoding.ts'
import { FollowingBody } from '../../shared/body/yjs/following-body.ts'
import { TextRescue } from '../../shared/body/yjs/rescue.ts'
import { deriveState, openState } from '../../shared/body/yjs/state.ts'
import { atOnce } from '../../shared/computations/slices.ts'
import { onlyLong } from '../support/run-options.ts'
import { type Test, t } from '../support/tap.ts'
import { requireLinear } from './linear.ts'
import { familiesOf } from './tables.ts'
import { encoded, type UpdateStruct, updateOf } from './updates.ts'

const paragraph: UpdateStruct = { content: { element: 'paragraph' } }
const attributeOf = (value: unknown, key = 'level'): UpdateStruct[] => [
  paragraph,
  { content: { any: [value] }, key, parent: [1, 0] },
]

t.test('an update costs no more than its size, whatever a client writes', onlyLong, (t) =>
  requireLinear(t, 'updates', { families: new Set(familiesOf('updates')) }),
)

t.test('what editors write is let in', async (t) => {
  const doc = opened()
  const editor = openState(Y.encodeStateAsUpdate(doc))
  const updates: Uint8Array[] = []
  editor.on('update', (update: Uint8Array) => updates.push(update))
  const text = (bodyFragment(editor).get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.insert(1, 'words 😀', { bold: {} })
  text.format(0, 3, { link: { href: 'https://example.org/' } })
  text.delete(0, 1)
  const items = [{ type: 'listItem', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'item' }] }] }]
  bodyFragment(editor).insert(1, writeNodes([{ type: 'bulletList', content: items }]))
  bodyFragment(editor).delete(0, 2)
  for (const update of updates) {
    t.ok(checkUpdate(doc, update))
    Y.applyUpdate(doc, update)
  }
  t.ok(checkUpdate(opened(), Y.encodeStateAsUpdate(editor)), 'all at once, by an editor that was away')
})

t.test('an editor may type before it has told everything', async (t) => {
  t.ok(checkUpdate(opened(), encoded([{ client: 9, clock: 5, structs: [{ content: { text: 'early' } }] }], [])))
})

const refused: Readonly<Record<string, () => Uint8Array>> = {
  'bytes that are no update': () => new Uint8Array([7, 7, 7]),
  'an update that ends early': () => deriveState({ type: 'doc', content: [] }).slice(0, 1),
  'a number of structs without structs': () => new Uint8Array([1, 255, 255, 255, 255, 15, 1, 0]),
  'another root': () => updateOf([{ ...paragraph, parent: 'secrets' }]),
  'an attribute of the root': () => updateOf([{ content: { any: [1] }, key: 'a' }]),
  'a document in the document': () => updateOf([{ content: { document: 'inner' } }]),
  'binary content': () => updateOf([{ content: { binary: new Uint8Array(9) } }]),
  'embedded content': () => updateOf([{ content: { embed: '{"a":1}' } }]),
  'a map': () => updateOf([{ content: { type: 1 } }]),
  'a hook': () => updateOf([{ content: { type: 5 } }]),
  'a reserved name of an attribute': () => updateOf(attributeOf(1, '__proto__')),
  'a reserved name in a value': () => updateOf(attributeOf(JSON.parse('{"__proto__":{"level":1}}'))),
  'a value with many levels': () => updateOf(attributeOf(JSON.parse('['.repeat(50) + ']'.repeat(50)))),
  'a value that exhausts the stack': () =>
    updateOf([paragraph, { content: { format: ['bold', '['.repeat(1e6) + ']'.repeat(1e6)] } }]),
  'a value that is not JSON': () => updateOf(attributeOf(new Uint8Array(3))),
  'text without length': () => updateOf([{ content: { text: '' } }]),
  'a deletion of more than there can be': () => updateOf([{ content: { deleted: 2 ** 50 } }]),
  'ids at the end of numbers': () => encoded([{ client: 1, clock: 2 ** 52, structs: [paragraph] }], []),
  'the same ids twice': () =>
    encoded(
      [
        { client: 1, structs: [paragraph] },
        { client: 1, structs: [paragraph] },
      ],
      [],
    ),
  'more structs than a body needs': () => updateOf(Array.from({ length: mostStructs + 1 }, () => paragraph)),
  'blocks on a thousand levels': () =>
    updateOf(
      Array.from({ length: 1000 }, (_, clock) => ({ ...paragraph, ...(clock > 0 && { parent: [1, clock - 1] }) })),
    ),
  'blocks in each other': () =>
    updateOf([
      { ...paragraph, parent: [1, 1] },
      { ...paragraph, parent: [1, 0] },
    ]),
  'blocks that wait for something': () => updateOf([{ ...paragraph, parent: [77, 3] }]),
  'much text that waits for something': () =>
    encoded([{ client: 9, clock: 5, structs: [{ content: { text: 'a'.repeat(100_000) } }] }], []),
  'many deletions that wait for something': () =>
    encoded(
      [],
      Array.from({ length: 10_000 }, (_, index) => [5, index * 2, 1]),
    ),
  'the same deletions again and again': () =>
    encoded(
      [{ client: 1, structs: [{ content: { text: 'a'.repeat(20_000) } }] }],
      times(5000, () => [1, 0, 20_000]),
    ),
  'deletions from the end of a text to its start': () =>
    encoded(
      [{ client: 1, structs: [{ content: { text: 'a'.repeat(20_000) } }] }],
      times(5000, (index) => [1, 10_000 - 2 * index, 1]),
    ),
  'more clients than a document has': () =>
    encoded(
      times(mostNewClients + 1, (client) => ({ client: client + 1, structs: [paragraph] })),
      [],
    ),
  'a hundred kinds of marks': () =>
    updateOf(Array.from({ length: 100 }, (_, index) => ({ content: { format: [`mark${index}`, '{}'] } }))),
}

for (const [name, update] of Object.entries(refused)) {
  t.test(`an update is refused before Yjs sees it: ${name}`, async (t) => isRefused(t, opened(), update()))
}

t.test('levels that come one update at a time are refused at the same depth', async (t) => {
  const doc = opened()
  const nested = (level: number) =>
    encoded(
      [{ client: 1, clock: level, structs: [{ ...paragraph, ...(level > 0 && { parent: [1, level - 1] }) }] }],
      [],
    )
  for (let level = 0; level < 200; level++) {
    checkUpdate(doc, nested(level))
    Y.applyUpdate(doc, nested(level))
  }
  isRefused(t, doc, nested(200))
})

t.test('what waits does not add up', async (t) => {
  const doc = opened()
  const waiting = (client: number) =>
    encoded([{ client, clock: 5, structs: [{ content: { text: 'a'.repeat(30_000) } }] }], [])
  for (const client of [11, 12]) {
    checkUpdate(doc, waiting(client))
    Y.applyUpdate(doc, waiting(client))
  }
  isRefused(t, doc, waiting(13))
})

t.test('bytes behind the end of an update change nothing', async (t) => {
  const doc = opened()
  const update = new Uint8Array([...updateOf([paragraph]), 1, 2, 3])
  t.equal(checkUpdate(doc, update).inserted.length, 1)
  Y.applyUpdate(doc, update)
  t.equal(bodyFragment(doc).length, 2)
  t.equal(doc.store.pendingStructs, null)
})

t.test('a long marked text that is deleted letter by letter costs no more than its length', async (t) => {
  const documents: Readonly<Record<string, (update: Uint8Array) => (update: Uint8Array) => void>> = {
    stored: (state) => {
      const body = atOnce(FollowingBody.open({ updates: [state], lines: [] }))
      return (update) => body.apply(update)
    },
    live: (state) => {
      const doc = new Y.Doc()
      const rescue = new TextRescue(doc, { sourceOf: () => 'editor', origin: 'rescue' })
      rescue.apply(state, 'editor')
      return (update) => rescue.apply(update, 'editor')
    },
  }
  for (const [name, open] of Object.entries(documents)) {
    const looks = (size: number) => {
      const apply = open(markedText(size))
      const update = encoded(
        [],
        times(size, (index) => [1, index + 3, 1]),
      )
      return looksAtItems(() => apply(update))
    }
    const [short, long] = [looks(500), looks(2000)]
    t.ok(long < 6 * short, `${name}: ${short} looks at 500 letters, ${long} at 2000`)
  }
})

/** A text that begins with a mark, and whose letters are a struct each. */
function markedText(size: number): Uint8Array {
  const letters = times(
    size,
    (index): UpdateStruct => ({
      content: { text: 'a' },
      origin: [1, 2],
      ...(index > 0 && { rightOrigin: [1, index + 2] }),
    }),
  )
  const text: UpdateStruct = { content: { type: 6 }, parent: [1, 0] }
  return updateOf([paragraph, text, { content: { format: ['bold', '{}'] }, parent: [1, 1] }, ...letters])
}

/** How often Yjs asks whether an item is deleted. */
function looksAtItems(work: () => void): number {
  const property = Object.getOwnPropertyDescriptor(Y.Item.prototype, 'deleted') as PropertyDescriptor
  let looks = 0
  Object.defineProperty(Y.Item.prototype, 'deleted', {
    ...property,
    get() {
      looks += 1
      return property.get?.call(this)
    },
  })
  try {
    work()
  } finally {
    Object.defineProperty(Y.Item.prototype, 'deleted', property)
  }
  return looks
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

function isRefused(t: Test, doc: Y.Doc, update: Uint8Array): void {
  let thrown: unknown
  try {
    checkUpdate(doc, update)
  } catch (error) {
    thrown = error
  }
  t.ok(thrown instanceof RefusedUpdate, String(thrown))
}

function opened(): Y.Doc {
  const content = [{ type: 'paragraph', content: [{ type: 'text', text: 'a' }] }]
  return openState(deriveState({ type: 'doc', content }))
}
