import fc from 'fast-check'
import { cutMessage, largestFrame, Reassembly } from '../../api/collab/peers/chunks.ts'
import { decodeFrames, encodeFrame, type Frame } from '../../api/collab/peers/wire.ts'
import { t } from '../support/tap.ts'

const sender = '0123456789abcdef'
const other = 'fedcba9876543210'

function reassembly() {
  const dropped = { chunks: 0 }
  return { dropped, chunks: new Reassembly((chunks) => (dropped.chunks += chunks)) }
}

t.test('a message of five megabytes arrives as it was sent, in payloads that NOTIFY takes', async (t) => {
  const bytes = Buffer.alloc(largestFrame)
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = (index * 31 + (index >> 8)) & 255
  const { chunks, dropped } = reassembly()
  const payloads = cutMessage({ from: sender, number: Number.MAX_SAFE_INTEGER, bytes })
  t.ok(payloads.every((payload) => Buffer.byteLength(payload) < 8000))
  const arrived = payloads.map((payload) => chunks.add(payload))
  t.equal(arrived.filter((message) => message !== null).length, 1)
  t.ok(bytes.equals(arrived.at(-1)?.bytes ?? Buffer.alloc(0)))
  t.equal(dropped.chunks, 0)
})

t.test('chunks that are lost, repeated or mixed with others lose messages and never make up a wrong one', async () => {
  const message = fc.uint8Array({ maxLength: 20_000 })
  const fate = fc.constantFrom('arrives', 'arrives', 'arrives', 'arrives', 'is lost', 'comes twice')
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(sender, other), message), { maxLength: 8 }),
      fc.infiniteStream(fate),
      fc.infiniteStream(fc.boolean()),
      (messages, fates, turns) => {
        const { chunks } = reassembly()
        const sent = messages.map(([from, bytes], number) => ({ from, payloads: cutMessage({ from, number, bytes }) }))
        const queues = [sender, other].map((from) =>
          sent.filter((each) => each.from === from).flatMap(({ payloads }) => payloads),
        )
        const originals = new Set(messages.map(([from, bytes]) => `${from} ${Buffer.from(bytes).toString('base64')}`))
        while (queues.some(({ length }) => length > 0)) {
          const queue = queues[Number(turns.next().value)]
          const payload = queue?.shift()
          if (payload === undefined) continue
          const happens = fates.next().value
          const copies = happens === 'is lost' ? [] : happens === 'comes twice' ? [payload, payload] : [payload]
          for (const copy of copies) {
            const arrived = chunks.add(copy)
            if (arrived === null) continue
            const text = `${arrived.from} ${Buffer.from(arrived.bytes).toString('base64')}`
            if (!originals.has(text)) throw new Error('a message arrived that nobody sent')
          }
        }
      },
    ),
  )
})

t.test('hostile payloads and messages that stay incomplete keep no memory', async (t) => {
  const { chunks, dropped } = reassembly()
  const hostile = ['', 'x', `${sender} 1 0/99999 AAAA`, `${sender} 1 5/9 AAAA`, `${sender} 1 0/2 ${'A'.repeat(9000)}`]
  for (const payload of hostile) t.equal(chunks.add(payload), null)
  t.equal(dropped.chunks, hostile.length)
  const [first = '', last = ''] = cutMessage({ from: sender, number: 1, bytes: Buffer.alloc(8000) })
  chunks.add(first)
  for (let beats = 0; beats < 5; beats += 1) chunks.age()
  t.equal(chunks.add(last), null, 'the rest comes too late')
  t.equal(dropped.chunks, hostile.length + 2)
  for (let count = 0; count < 3000; count += 1) {
    chunks.add(`${count.toString(16).padStart(16, '0')} 1 0/2 AAAA`)
  }
  t.equal(dropped.chunks, hostile.length + 2 + 2000, 'of many senders, only the last are waited for')
})

const id = fc.string({ maxLength: 40 })
const number = fc.nat(Number.MAX_SAFE_INTEGER)
const bytes = fc.uint8Array({ maxLength: 500 })
const frame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ kind: fc.constant('alive' as const) }),
  fc.record({ kind: fc.constant('joined' as const), all: fc.boolean(), documentIds: fc.array(id) }),
  fc.record({ kind: fc.constant('left' as const), documentIds: fc.array(id) }),
  fc.record({ kind: fc.constant('greeting' as const), documentId: id, answer: fc.boolean() }),
  fc.record({ kind: fc.constant('update' as const), documentId: id, number, typist: id, update: bytes }),
  fc.record({ kind: fc.constant('awareness' as const), documentId: id, update: bytes }),
  fc.record({ kind: fc.constant('stored' as const), documentId: id, upTo: number }),
)

t.test('the frames of a message are read as they were written', async (t) => {
  fc.assert(
    fc.property(fc.array(frame), (frames) => {
      t.same(decodeFrames(Buffer.concat(frames.map(encodeFrame))), frames)
    }),
  )
})

t.test('a malformed message is refused or read, and never more than its size is kept', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (malformed) => {
      try {
        decodeFrames(malformed)
      } catch (error) {
        if (!(error instanceof Error)) throw error
      }
    }),
  )
})
