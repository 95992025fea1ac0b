import fc from 'fast-check'
import * as Y from 'yjs'
import { UnstoredUpdates } from '../../api/collab/peers/unstored-updates.ts'
import { t } from '../support/tap.ts'

/** The keystrokes of one process: each is an update of the same Y document. */
function typist(count: number): Uint8Array[] {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (let index = 0; index < count; index += 1) doc.getText('t').insert(index, String(index % 10))
  return updates
}

const textOf = (updates: readonly Uint8Array[]): string => {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc.getText('t').toString()
}

t.test('updates are kept until their sender has said that they are stored, and then forgotten', async (t) => {
  const [first, second, third] = typist(3) as [Uint8Array, Uint8Array, Uint8Array]
  const unstored = new UnstoredUpdates()
  unstored.add('a', { number: 1, update: first, typist: 'ada' })
  unstored.add('a', { number: 3, update: Y.mergeUpdates([second, third]), typist: 'bob' })
  unstored.storedUpTo('a', 2)
  t.strictSame(
    unstored.all().map(({ number }) => number),
    [3],
    'a merged update is stored with its last number',
  )
  unstored.storedUpTo('b', 9)
  t.equal(unstored.all().length, 1, 'the numbers of another sender say nothing')
  unstored.storedUpTo('a', 3)
  unstored.storedUpTo('a', 1)
  unstored.add('a', { number: 2, update: second, typist: 'ada' })
  t.strictSame(unstored.all(), [], 'a late message does not come back')
})

t.test('the updates of a killed process stay until this process has stored them', async (t) => {
  const [update] = typist(1) as [Uint8Array]
  const unstored = new UnstoredUpdates()
  t.equal(unstored.senderGone('a'), false)
  unstored.add('a', { number: 7, update, typist: 'ada' })
  t.equal(unstored.senderGone('a'), true)
  const taken = unstored.all()
  t.equal(taken.length, 1)
  unstored.remove(taken)
  t.strictSame(unstored.all(), [])
  t.equal(unstored.senderGone('a'), false)
})

t.test('thousands of updates that cannot be stored stay few, and lose no text', async (t) => {
  const updates = typist(2000)
  const unstored = new UnstoredUpdates()
  for (const [index, update] of updates.entries()) unstored.add('a', { number: index + 1, update, typist: 'ada' })
  t.ok(unstored.all().length <= 500)
  t.equal(textOf(unstored.all().map(({ update }) => update)), textOf(updates))
  unstored.storedUpTo('a', 2000)
  t.strictSame(unstored.all(), [])
})

/** The keystrokes in these updates, by their clocks. */
const clocks = (updates: readonly Uint8Array[]): Set<number> =>
  new Set(
    updates
      .flatMap((update) => Y.decodeUpdate(update).structs)
      .flatMap(({ id, length }) => Array.from({ length }, (_, index) => id.clock + index)),
  )

type Message = { number: number; update: Uint8Array } | { upTo: number }

t.test('whatever the network does, a relayed keystroke is stored by its process or kept by the other', async () => {
  const step = fc.constantFrom('type', 'type', 'send', 'flush', 'deliver', 'deliver', 'repeat', 'lose', 'flush here')
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(20)), { maxLength: 60 }), (steps) => {
      const keystrokes = typist(60)
      let typed = 0
      let sent = 0
      let flushed = 0
      const database: Uint8Array[] = []
      const network: Message[] = []
      const unstored = new UnstoredUpdates()
      const arrived: Uint8Array[] = []
      let toldStored = 0
      const deliver = (message: Message | undefined) => {
        if (message === undefined) return
        if ('upTo' in message) {
          unstored.storedUpTo('a', message.upTo)
          toldStored = Math.max(toldStored, message.upTo)
        } else {
          unstored.add('a', { ...message, typist: 'ada' })
          arrived.push(message.update)
        }
      }
      for (const [does, which] of steps) {
        if (does === 'type') typed += 1
        else if (does === 'send' && typed > sent) {
          network.push({ number: typed, update: Y.mergeUpdates(keystrokes.slice(sent, typed)) })
          sent = typed
        } else if (does === 'flush') {
          database.push(...keystrokes.slice(flushed, typed))
          flushed = typed
          network.push({ upTo: flushed })
        } else if (does === 'deliver') deliver(network.splice(which % (network.length || 1), 1)[0])
        else if (does === 'repeat') deliver(network[which % (network.length || 1)])
        else if (does === 'lose') network.splice(which % (network.length || 1), 1)
        else if (does === 'flush here') {
          const taken = unstored.all()
          database.push(...taken.map(({ update }) => update))
          unstored.remove(taken)
        }
        for (const { number } of unstored.all()) {
          if (number <= toldStored) throw new Error('an update is kept although its sender has stored it')
        }
      }
      // The sender is killed now, and what arrived is stored here.
      unstored.senderGone('a')
      database.push(...unstored.all().map(({ update }) => update))
      const stored = clocks(database)
      for (const clock of clocks(arrived)) {
        if (!stored.has(clock)) throw new Error(`the keystroke ${clock} arrived and is not stored`)
      }
    }),
  )
})
