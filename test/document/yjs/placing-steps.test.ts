import fc from 'fast-check'
import * as Y from 'yjs'
import { checkUpdate, mostSteps, RefusedUpdate } from '../../../shared/body/yjs/client-update.ts'
import { bodyFragment } from '../../../shared/body/yjs/encoding.ts'
import { openState } from '../../../shared/body/yjs/state.ts'
import { structMoves } from '../../../shared/body/yjs/struct-moves.ts'
import { encoded, type UpdateStruct } from '../../hostile/updates.ts'
import { runsTimes } from '../../support/runs.ts'
import { t } from '../../support/tap.ts'

/*
 * The check of an update bounds the steps that Yjs takes to find the places of its structs. What people write needs few
 * steps, whatever they do. The bound must never be below the steps that Yjs takes.
 */

type Action = { kind: 'type' | 'erase' | 'split' | 'attribute' | 'undo' | 'sync'; editor: number; at: number }

const actions = fc.array(
  fc.record({
    kind: fc.constantFrom<Action['kind']>('type', 'type', 'type', 'erase', 'split', 'attribute', 'undo', 'sync'),
    editor: fc.nat(3),
    at: fc.nat(),
  }),
  { maxLength: 80 },
)

t.test('the bound holds for what people write, also at the same places', async () => {
  fc.assert(
    fc.property(actions, fc.nat(3), (session, sender) => {
      const editors = played(session)
      const server = new Y.Doc()
      bodyFragment(server)
      for (const editor of [...editors.slice(sender), ...editors.slice(0, sender)]) {
        isBound(server, Y.encodeStateAsUpdate(editor, Y.encodeStateVector(server)))
      }
    }),
    runsTimes(3),
  )
})

t.test('the bound holds for structs that somebody makes up', async () => {
  const id = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(12))
  const made: fc.Arbitrary<UpdateStruct> = fc.record({
    content: fc.constantFrom<UpdateStruct['content']>({ text: 'a' }, { text: 'abc' }, { element: 'paragraph' }),
    origin: fc.option(id, { nil: undefined }),
    rightOrigin: fc.option(id, { nil: undefined }),
    parent: fc.constant('default'),
  })
  // A client names only its own earlier ids.
  const client = (number: number) =>
    fc.array(made, { maxLength: 12 }).map((structs) => {
      const isEarlier = (id: UpdateStruct['origin'], clock: number) => id && (id[0] !== number || id[1] < clock)
      return {
        client: number,
        structs: structs.map(({ origin, rightOrigin, ...struct }, clock) => ({
          ...struct,
          ...(isEarlier(origin, clock) && origin && { origin }),
          ...(isEarlier(rightOrigin, clock) && rightOrigin && { rightOrigin }),
        })),
      }
    })
  const update = fc.tuple(client(1), client(2), client(3))
  fc.assert(
    fc.property(update, fc.nat(12), (clients, cut) => {
      const server = new Y.Doc()
      bodyFragment(server)
      const known = clients.map(({ client, structs }) => ({ client, structs: structs.slice(0, cut) }))
      for (const some of [known, clients]) {
        const update = encoded(
          some.filter(({ structs }) => structs.length > 0),
          [],
        )
        if (isLetIn(server, update)) isBound(server, update)
      }
    }),
    runsTimes(5),
  )
})

t.test('an editor that was away for hours, a long paste and undo need few steps', async (t) => {
  const server = new Y.Doc()
  const blocks = Array.from({ length: 2000 }, (_, index) => block(`a block with the number ${index}`))
  bodyFragment(server).insert(0, blocks)
  const editor = openState(Y.encodeStateAsUpdate(server))
  const undo = new Y.UndoManager(bodyFragment(editor), { captureTimeout: 0 })
  // The editor types everywhere, splits every block, pastes much at the top, undoes and redoes it.
  for (const index of blocks.keys()) textIn(editor, index).insert(3, `typed ${index}`)
  for (const index of blocks.keys()) bodyFragment(editor).insert(index * 2 + 1, [block('the second half')])
  for (let index = 0; index < 2000; index += 1) bodyFragment(editor).insert(0, [block('pasted')])
  for (let count = 0; count < 500; count += 1) undo.undo()
  for (let count = 0; count < 500; count += 1) undo.redo()
  // Meanwhile others type at the same places.
  for (const index of blocks.keys()) textIn(server, index).insert(3, 'others ')
  bodyFragment(server).insert(0, [block('from others'), block('at the top')])
  const { steps } = checkUpdate(server, Y.encodeStateAsUpdate(editor, Y.encodeStateVector(server)))
  t.ok(steps < mostSteps / 10, `${steps} steps`)
})

t.test('an editor may replace a word in each block of a large document at once', async (t) => {
  const server = new Y.Doc()
  const size = 10_000
  bodyFragment(server).insert(
    0,
    Array.from({ length: size }, () => block('a block with some words')),
  )
  const editor = openState(Y.encodeStateAsUpdate(server))
  editor.transact(() => {
    for (const child of bodyFragment(editor).toArray()) {
      const text = (child as Y.XmlElement).get(0) as Y.XmlText
      text.delete(2, 5)
      text.insert(2, 'paragraph')
    }
  })
  const { steps } = checkUpdate(server, Y.encodeStateAsUpdate(editor, Y.encodeStateVector(server)))
  t.ok(steps < mostSteps, `${steps} steps`)
})

t.test('the bound holds for the moves of structs, whatever order they are split in', async () => {
  const places = fc.array(fc.nat(200), { maxLength: 60 })
  fc.assert(
    fc.property(places, places, places, (letters, earlier, deletions) => {
      const server = new Y.Doc()
      const text = { client: 1, structs: [{ content: { text: 'a'.repeat(202) }, parent: 'default' }] }
      Y.applyUpdate(server, encoded([text], []))
      const inserted = letters.map(
        (clock): UpdateStruct => ({
          content: { text: 'b' },
          origin: [1, clock],
          rightOrigin: [1, clock + 1],
        }),
      )
      Y.applyUpdate(server, encoded([], eachOf(earlier)))
      const update = encoded(inserted.length > 0 ? [{ client: 2, structs: inserted }] : [], eachOf(deletions))
      if (!isLetIn(server, update)) return
      const bound = structMoves(server, checkUpdate(server, update))
      const moves = movesOf(() => Y.applyUpdate(server, update))
      if (moves > bound) throw new Error(`Yjs moves ${moves} structs, and the bound is ${bound}`)
    }),
    runsTimes(3),
  )
})

t.test('the text of many editors in one update needs few steps', async (t) => {
  const first = new Y.Doc()
  bodyFragment(first).insert(
    0,
    Array.from({ length: 200 }, () => block('a block in which everybody types')),
  )
  const state = Y.encodeStateAsUpdate(first)
  const merged = new Y.Doc()
  for (let number = 0; number < 30; number += 1) {
    const editor = openState(state)
    for (let index = 0; index < 100; index += 1) textIn(editor, (index * 7) % 200).insert(2, `w${number}`)
    // Everybody writes at the very top, letter by letter and backwards.
    for (let index = 0; index < 20; index += 1) bodyFragment(editor).insert(0, [block('top')])
    Y.applyUpdate(merged, Y.encodeStateAsUpdate(editor))
  }
  const { steps } = checkUpdate(new Y.Doc(), Y.encodeStateAsUpdate(merged))
  t.ok(steps < mostSteps, `${steps} steps`)
})

function isLetIn(doc: Y.Doc, update: Uint8Array): boolean {
  try {
    return checkUpdate(doc, update) !== null
  } catch (error) {
    if (error instanceof RefusedUpdate) return false
    throw error
  }
}

/** Applies an update, and checks that the bound is not below the steps that Yjs takes. */
function isBound(doc: Y.Doc, update: Uint8Array): void {
  const { steps: bound, inserted } = checkUpdate(doc, update)
  const steps = stepsOf(() => Y.applyUpdate(doc, update))
  // Yjs looks at the item at which it ends, too.
  if (steps > bound + inserted.length) throw new Error(`Yjs takes ${steps} steps, and the bound is ${bound}`)
}

/** The steps of Yjs, which adds each item that it looks at to two sets. */
function stepsOf(work: () => void): number {
  const { add } = Set.prototype
  let added = 0
  Set.prototype.add = function (this: Set<unknown>, value: unknown) {
    if (value instanceof Y.Item) added += 1
    return add.call(this, value)
  }
  try {
    work()
  } finally {
    Set.prototype.add = add
  }
  return added / 2
}

/** Deletions of single letters of the client 1, in ascending order. */
function eachOf(clocks: readonly number[]): [number, number, number][] {
  return [...new Set(clocks)].sort((a, b) => a - b).map((clock) => [1, clock, 1])
}

/** The structs that Yjs moves when it splices an array. */
function movesOf(work: () => void): number {
  const { splice } = Array.prototype
  let moves = 0
  Array.prototype.splice = function (this: unknown[], ...parts: Parameters<typeof splice>) {
    if (this[0] instanceof Y.Item || this[0] instanceof Y.GC) moves += Math.max(this.length - parts[0], 0)
    return splice.apply(this, parts)
  } as typeof splice
  try {
    work()
  } finally {
    Array.prototype.splice = splice
  }
  return moves
}

function played(session: readonly Action[]): Y.Doc[] {
  const first = new Y.Doc()
  bodyFragment(first).insert(0, [block('one'), block('two')])
  const editors = Array.from({ length: 4 }, () => openState(Y.encodeStateAsUpdate(first)))
  const undos = editors.map((editor) => new Y.UndoManager(bodyFragment(editor), { captureTimeout: 0 }))
  for (const { kind, editor, at } of session) {
    const doc = editors[editor] as Y.Doc
    const fragment = bodyFragment(doc)
    const index = at % Math.max(fragment.length, 1)
    const text = fragment.length > 0 ? textIn(doc, index) : undefined
    const offset = text ? at % (text.length + 1) : 0
    if (kind === 'type') text?.insert(offset, 'ab')
    else if (kind === 'erase' && text && offset < text.length) text.delete(offset, 1)
    else if (kind === 'split') fragment.insert(at % (fragment.length + 1), [block('new')])
    else if (kind === 'attribute' && text) (text.parent as Y.XmlElement).setAttribute('level', String(at))
    else if (kind === 'undo') undos[editor]?.undo()
    else if (kind === 'sync') {
      const other = editors[at % 4] as Y.Doc
      Y.applyUpdate(doc, Y.encodeStateAsUpdate(other, Y.encodeStateVector(doc)))
    }
  }
  return editors
}

function block(text: string): Y.XmlElement {
  const element = new Y.XmlElement('paragraph')
  element.insert(0, [new Y.XmlText(text)])
  return element
}

function textIn(doc: Y.Doc, index: number): Y.XmlText {
  return (bodyFragment(doc).get(index) as Y.XmlElement).get(0) as Y.XmlText
}
