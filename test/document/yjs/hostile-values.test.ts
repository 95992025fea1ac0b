import fc from 'fast-check'
import * as Y from 'yjs'
import { inlineTypes, markTable, nodeTable } from '../../../shared/body/nodes.ts'
import { checkUpdate } from '../../../shared/body/yjs/client-update.ts'
import { readDocument } from '../../../shared/body/yjs/encoding.ts'
import { atOnce } from '../../../shared/computations/slices.ts'
import { type UpdateStruct, updateOf } from '../../hostile/updates.ts'
import { t } from '../../support/tap.ts'
import { paragraph } from './blocks.ts'
import { follow, opened } from './followed-editor.ts'
import { idFrom, normalised } from './random-body.ts'

type Content = UpdateStruct['content']

/** A node with one attribute that was set once or several times, and with a marked text. */
type HostileNode = { type: string; name: string; contents: readonly Content[]; mark: unknown; isNested: boolean }

const scalars = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 60,
  '',
  'x',
  '\u0000',
  '\ud800',
  idFrom(1),
  'javascript:x',
  'https://a.b/',
]
const objects = [
  {},
  { a: 1 },
  [],
  [1, 2],
  ...['toString', 'valueOf', 'toJSON', 'constructor', 'length'].map((name) => ({ [name]: 'x' })),
]
const json = [...scalars, ...objects, ...objects.map((one) => [one]), { href: 'https://a.b/', title: { toString: 1 } }]
// Yjs carries more than JSON: single letters, formats and types as attributes.
const contents: readonly Content[] = [
  ...[...json, undefined, Number.NaN, Number.POSITIVE_INFINITY].map((one) => ({ any: [one] })),
  { any: ['x', { toString: 'x' }] },
  { any: [{ toString: 'x' }, 'x'] },
  { text: 'abc' },
  { format: ['bold', '{"toString":1}'] },
  { element: 'paragraph' },
  { type: 6 },
  { deleted: 1 },
]

t.test('no value of an attribute or mark keeps the text of others from being stored', async (t) => {
  for (const attribute of everyAttribute()) {
    const nodes = contents.map((content, index) => {
      return { ...attribute, contents: [content], mark: json[index] ?? null, isNested: index % 2 === 0 }
    })
    try {
      storeBeside(nodes)
    } catch (error) {
      throw new Error(JSON.stringify(attribute), { cause: error })
    }
  }
  t.pass()
})

t.test('nor do several of them in one document', async (t) => {
  const node = fc.record({
    type: fc.constantFrom(...Object.keys(nodeTable)),
    name: fc.constantFrom(...new Set(everyAttribute().map(({ name }) => name))),
    contents: fc.array(fc.constantFrom(...contents), { minLength: 1, maxLength: 3 }),
    mark: fc.oneof(fc.constantFrom(...json), fc.jsonValue()),
    isNested: fc.boolean(),
  })
  fc.assert(fc.property(fc.array(node, { minLength: 1, maxLength: 5 }), storeBeside))
  t.pass()
})

/** Each attribute of each node, attributes that no node has, and the attributes that hold the marks of inline nodes. */
function everyAttribute(): { type: string; name: string }[] {
  const marks = Object.keys(markTable).map((mark) => `_mark_${mark}`)
  return [...Object.keys(nodeTable), 'hologram'].flatMap((type) => {
    const others = ['id', 'unknown', 'toString', ...(inlineTypes.has(type) ? marks : [])]
    return [...Object.keys(nodeTable[type]?.attrs ?? {}), ...others].map((name) => ({ type, name }))
  })
}

/** Stores text that was typed beside the nodes. Then a program removes and moves blocks. */
function storeBeside(nodes: readonly HostileNode[]): void {
  const { body, fragment } = opened(paragraph(1, 'one'), paragraph(2, 'two'))
  const editor = fragment.doc as Y.Doc
  const update = updateOf(structsOf(nodes))
  checkUpdate(editor, update)
  const typed = (fragment.get(0) as Y.XmlElement).get(0) as Y.XmlText
  typed.insert(0, 'typed ')
  Y.applyUpdate(editor, update)
  for (const repair of atOnce(body.settle('doc_1@1')).updates) Y.applyUpdate(editor, repair)
  if (!body.text.includes('typed one')) throw new Error(`Stored was ${body.text}`)
  if (atOnce(body.settle('doc_1@2')).repairs.length > 0) throw new Error('A repaired body was repaired')
  const stored = body.lines.map((line) => JSON.parse(line))
  const seen = JSON.stringify(normalised(readDocument(fragment).document))
  const expected = JSON.stringify(normalised({ type: 'doc', content: stored }))
  if (seen !== expected) throw new Error(`An editor sees ${seen}, and stored was ${expected}`)
  follow(body, ...stored.slice(1).toReversed(), paragraph(3, 'three'))
  atOnce(body.settle('doc_1@3'))
}

function structsOf(nodes: readonly HostileNode[]): UpdateStruct[] {
  const structs: UpdateStruct[] = []
  let clock = 0
  const add = (struct: UpdateStruct) => {
    const { content } = struct
    structs.push(struct)
    const at = [1, clock] as const
    clock += 'any' in content ? content.any.length : 'text' in content ? content.text.length : 1
    return at
  }
  const marks = Object.keys(markTable)
  for (const [index, { type, name, contents, mark, isNested }] of nodes.entries()) {
    const around = isNested ? add({ content: { element: 'blockquote' } }) : 'default'
    const element = add({ content: { element: type }, parent: around })
    const text = add({ content: { type: 6 }, parent: element })
    const format = [marks[index % marks.length] ?? '', JSON.stringify(mark)] as [string, string]
    add({ content: { text: 'w' }, origin: add({ content: { format }, parent: text }) })
    for (const content of contents) add({ content, key: name, parent: element })
  }
  return structs
}
