import type { Connection } from '@hocuspocus/server'
import * as Y from 'yjs'
import type { ConnectionContext } from '../../../api/collab/protocol-server.ts'
import { UpdateGate } from '../../../api/collab/update-gate.ts'
import { RefusedUpdate } from '../../../shared/body/yjs/client-update.ts'
import { bodyFragment, writeNodes } from '../../../shared/body/yjs/encoding.ts'
import { openState } from '../../../shared/body/yjs/state.ts'
import { leaveFormats } from '../../../shared/body/yjs/yjs-internals.ts'
import { p } from '../../document/build.ts'
import { costlyUpdates, encoded, type UpdateStruct, updateFamilies } from '../../hostile/updates.ts'
import { type Test, t } from '../../support/tap.ts'

/*
 * A small update can take Yjs minutes, depending on what the document holds. An update that could take long is applied
 * to a copy in a thread first. People who type never wait for that, and no update takes the process longer than about a
 * second.
 */

const connections = new WeakMap<Y.Doc, Map<string, Connection<ConnectionContext>>>()

t.test('what a person types is applied at once, also in a large document with a long history', async (t) => {
  const { doc, admit, trials } = opened(paragraphs(10_000))
  for (let index = 0; index < 10_000; index += 5) textAt(doc, index).delete(2, 4)
  const editor = openState(Y.encodeStateAsUpdate(doc))
  const updates = updatesOf(editor)
  const undo = new Y.UndoManager(bodyFragment(editor), { captureTimeout: 0 })
  for (const letter of 'a person types ') textAt(editor, 5000).insert(3, letter)
  textAt(editor, 5000).insert(3, 'bold', { bold: {} })
  textAt(editor, 5000).format(1, 9, { italic: {} })
  textAt(editor, 5000).delete(0, 6)
  editor.transact(() => {
    const text = textAt(editor, 5000)
    const end = text.toString().slice(8)
    text.delete(8, text.length - 8)
    bodyFragment(editor).insert(5001, writeNodes([p(end)]))
  })
  undo.undo()
  undo.redo()
  bodyFragment(editor).insert(7000, writeNodes(paragraphs(5)))
  for (const update of updates) await applied({ doc, admit }, update)
  t.equal(trials(), 0)
  t.strictSame(doc.toJSON(), editor.toJSON())
  // An editor that connects again names all deletions of the document.
  textAt(editor, 3).insert(0, 'typed offline')
  await applied({ doc, admit }, Y.encodeStateAsUpdate(editor, Y.encodeStateVector(doc)))
  t.equal(trials(), 0)
})

t.test('the largest paste, and the work of hours without a connection, are tried and applied', async (t) => {
  const { doc, admit, trials } = opened(paragraphs(2000))
  const editor = openState(Y.encodeStateAsUpdate(doc))
  for (let index = 0; index < 2000; index += 1) {
    textAt(editor, index).insert(3, `typed ${index}`)
    textAt(doc, index).insert(3, 'others ')
  }
  await applied({ doc, admit }, Y.encodeStateAsUpdate(editor, Y.encodeStateVector(doc)))
  t.equal(trials(), 1)
  bodyFragment(editor).insert(1000, writeNodes(paragraphs(9000)))
  await applied({ doc, admit }, Y.encodeStateAsUpdate(editor, Y.encodeStateVector(doc)))
  t.equal(trials(), 2)
  t.equal(bodyFragment(doc).length, 11_000)
})

for (const [name, update] of Object.entries(costlyUpdates)) {
  t.test(`an update does not hold up the process: ${name}`, async (t) => {
    const { doc, admit, trials } = opened(paragraphs(1))
    await appliedOrRefused(t, { doc, admit }, update())
    t.equal(trials(), 1)
  })
}

t.test('a few letters at a place where very many stand already do not hold up the process', async (t) => {
  const { doc, admit, trials } = opened([])
  Y.applyUpdate(doc, encoded([{ client: 1, structs: backwards(100_000) }], []))
  const update = sideBySide(2, 100)
  t.ok(update.length < 2500)
  await refused(t, admit(update))
  t.equal(trials(), 1)
})

t.test('a letter for which very many others wait does not hold up the process', async (t) => {
  const { doc, admit } = opened([])
  Y.applyUpdate(doc, encoded([{ client: 1, structs: backwards(100_000) }], []))
  const waiting = times(3000, (): UpdateStruct => ({ content: { text: 'a' } }))
  await applied({ doc, admit }, encoded([{ client: 2, clock: 1, structs: waiting }], []))
  t.not(doc.store.pendingStructs, null)
  await refused(t, admit(encoded([{ client: 2, structs: [{ content: { text: 'a' } }] }], [])))
})

t.test('two updates that are cheap alone do not hold up the process together', async (t) => {
  const { doc, admit } = opened([])
  const update = (client: number) => encoded([{ client, structs: backwards(12_000, client) }], [])
  const before = process.threadCpuUsage().user
  const ends = await Promise.allSettled([1, 2].map((client) => applied({ doc, admit }, update(client))))
  t.ok((process.threadCpuUsage().user - before) / 1000 < mostMs)
  t.strictSame(new Set(ends.map(({ status }) => status)), new Set(['fulfilled', 'rejected']))
})

t.test('a document that changes all the time sends a large update away, to come again', async (t) => {
  const { doc, admit, trials } = opened([], () => bodyFragment(doc).insert(0, writeNodes(paragraphs(200))))
  const other = new Y.Doc()
  bodyFragment(other).insert(0, writeNodes(paragraphs(500)))
  t.equal(await admit(Y.encodeStateAsUpdate(other)), null)
  t.equal(trials(), 3)
})

t.test('somebody whose update takes too long is not tried again for a while, and can still type', async (t) => {
  const { doc, admit, trials } = opened(paragraphs(1))
  Y.applyUpdate(doc, encoded([{ client: 1, structs: backwards(50_000) }], []))
  await refused(t, admit(sideBySide(2, 200)))
  t.equal(await admit(sideBySide(3, 30)), null)
  t.equal(trials(), 1)
  const editor = openState(Y.encodeStateAsUpdate(doc))
  const updates = updatesOf(editor)
  bodyFragment(editor).insert(0, writeNodes([p('still typing')]))
  await applied({ doc, admit }, updates[0] as Uint8Array)
  await applied({ doc, admit }, sideBySide(3, 30), 'another user')
  t.equal(trials(), 2)
})

t.test('somebody whose small updates take long is tried, and others are not', async (t) => {
  const { doc, admit, trials } = opened([])
  Y.applyUpdate(doc, encoded([{ client: 1, structs: backwards(100_000) }], []))
  let client = 2
  for (; client < 50 && trials() === 0; client += 1) await applied({ doc, admit }, sideBySide(client, 9))
  t.equal(trials(), 1)
  t.ok(client > 3)
  await applied({ doc, admit }, sideBySide(client, 9), 'another user')
  t.equal(trials(), 1)
})

t.test('somebody who leaves before an update is applied does not pay for the work of the next', async (t) => {
  const { doc, admit, trials } = opened([])
  await admit(sideBySide(2, 1), 'a user who leaves')
  const before = process.threadCpuUsage().user
  doc.transact(() => {
    while (process.threadCpuUsage().user - before < 600_000);
  })
  await applied({ doc, admit }, sideBySide(2, 1), 'a user who leaves')
  t.equal(trials(), 0)
})

for (const [name, family] of Object.entries(updateFamilies)) {
  t.test(`an update with much of one kind does not hold up the process: ${name}`, async (t) => {
    const { doc, admit } = opened(paragraphs(1))
    await appliedOrRefused(t, { doc, admit }, family(20_000))
  })
}

// The most milliseconds of processor time for an update. A trial may take a second, and machines differ.
const mostMs = 4000

type Opened = Pick<ReturnType<typeof opened>, 'doc' | 'admit'>

async function applied({ doc, admit }: Opened, update: Uint8Array, userId = 'a user'): Promise<void> {
  if ((await admit(update, userId)) === null) throw new Error('The update was sent away')
  Y.applyUpdate(doc, update, { source: 'connection', connection: connectionOf(doc, userId) })
}

async function appliedOrRefused(t: Test, { doc, admit }: Opened, update: Uint8Array): Promise<void> {
  const before = process.threadCpuUsage().user
  try {
    await applied({ doc, admit }, update)
  } catch (error) {
    t.ok(error instanceof RefusedUpdate, String(error))
  }
  t.ok((process.threadCpuUsage().user - before) / 1000 < mostMs)
}

async function refused(t: Test, admitted: Promise<unknown>): Promise<void> {
  t.ok((await admitted.catch((error: unknown) => error)) instanceof RefusedUpdate)
}

/** An open document with a gate. `whileTried` runs during each trial. */
function opened(blocks: ReturnType<typeof paragraphs>, whileTried = () => {}) {
  const doc = new Y.Doc()
  leaveFormats(doc)
  bodyFragment(doc).insert(0, writeNodes(blocks))
  let trials = 0
  const gate = new UpdateGate({
    aside: (_, work) => {
      trials += 1
      whileTried()
      return work()
    },
  })
  const admit = (update: Uint8Array, userId = 'a user') => gate.admit(connectionOf(doc, userId), update)
  return { doc, admit, trials: () => trials }
}

/** The connection of a user to a document, as far as the gate needs it. */
function connectionOf(doc: Y.Doc, userId: string): Connection<ConnectionContext> {
  const ofDocument = connections.get(doc) ?? new Map<string, Connection<ConnectionContext>>()
  connections.set(doc, ofDocument)
  const connection = { document: doc, context: { editor: { userId, workspaceId: 'a workspace' } } }
  ofDocument.set(userId, ofDocument.get(userId) ?? (connection as Connection<ConnectionContext>))
  return ofDocument.get(userId) as Connection<ConnectionContext>
}

function updatesOf(doc: Y.Doc): Uint8Array[] {
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  return updates
}

/** Elements in the root, each before the one that came before it. */
function backwards(count: number, client = 1): UpdateStruct[] {
  return times(count, (clock) => ({
    content: { element: 'paragraph' },
    ...(clock > 0 && { rightOrigin: [client, clock - 1] as const }),
  }))
}

/** Elements in the root that know of no others. */
function sideBySide(client: number, count: number): Uint8Array {
  return encoded([{ client, structs: times(count, () => ({ content: { element: 'paragraph' } })) }], [])
}

function paragraphs(count: number) {
  return times(count, (index) => p(`a paragraph with the number ${index}`))
}

function textAt(doc: Y.Doc, index: number): Y.XmlText {
  return (bodyFragment(doc).get(index) as Y.XmlElement).get(0) as Y.XmlText
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
