import { Writable } from 'node:stream'
import type { Response } from 'express'
import fc from 'fast-check'
import { RecentEvents } from '../../api/event-streams/feed.ts'
import { EventStream, type StreamSource } from '../../api/event-streams/stream.ts'
import { resumption, type WireEvent } from '../../api/event-streams/wire.ts'
import { t } from '../support/tap.ts'

t.test('a stream holds no more than one page for a client that does not read', async (t) => {
  const recent = new RecentEvents({ after: 0, capacity: 10 })
  const { stream, response } = open({ recent, reads: false })
  await stream.start('opening')
  for (let id = 1; id <= 10_000; id += 1) {
    recent.add([eventOf(id)])
    stream.deliver([eventOf(id)], new Map())
  }
  t.ok(response.writableLength < 2000, `${response.writableLength} bytes wait`)
  t.notOk(response.destroyed)
  stream.beat(60_000)
  t.notOk(response.destroyed, 'it is waited for')
  stream.beat(0)
  t.ok(response.destroyed, 'but not for ever')
})

t.test('a stream that has fallen behind what can be read again is cut, so that nothing is skipped', async (t) => {
  const recent = new RecentEvents({ after: 100, capacity: 10 })
  const { stream, response, text } = open({ recent, reads: true, position: 5 })
  await stream.start('opening')
  t.ok(response.destroyed)
  t.equal(text(), 'opening')
})

t.test('live, from memory or from the log, a stream sends each event once and in order', async (t) => {
  const step = fc.oneof(
    fc.record({ arrive: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ pause: fc.boolean() }),
    fc.constant({ turn: true }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.nat(3), async (steps, position) => {
      const log = Array.from({ length: 3 }, (_, index) => eventOf(index + 1))
      const recent = new RecentEvents({ after: 3, capacity: 4 })
      const { stream, text, reads } = open({ recent, reads: true, position, log })
      const started = stream.start('')
      for (const action of steps) {
        if ('arrive' in action) {
          const events = Array.from({ length: action.arrive }, (_, index) => eventOf(log.length + index + 1))
          log.push(...events)
          recent.add(events)
          stream.deliver(events, new Map())
        } else if ('pause' in action) reads(!action.pause)
        else await turn()
      }
      reads(true)
      await started
      const expected = log.filter(({ id }) => id > position).map(({ text }) => String(text))
      while (text().length < expected.join('').length) await turn()
      return text() === expected.join('')
    }),
  )
  t.pass('for every course')
})

t.test('what is kept in memory is either complete or known to be incomplete', async (t) => {
  const ids = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(ids, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 9 }), (gaps, capacity, limit) => {
      const recent = new RecentEvents({ after: 0, capacity })
      const all: number[] = []
      for (const gap of gaps) {
        all.push((all.at(-1) ?? 0) + gap)
        recent.add([eventOf(all.at(-1) ?? 0)])
      }
      return Array.from({ length: (all.at(-1) ?? 0) + 2 }, (_, after) => after).every((after) => {
        const held = recent.after(after, limit)?.map(({ id }) => id)
        const due = all.filter((id) => id > after)
        return held === undefined ? due.length > capacity : held.join() === due.slice(0, limit).join()
      })
    }),
  )
  t.pass('for every capacity')
})

t.test('a cursor resumes where it was, or at the nearest place from which nothing is missing', async (t) => {
  const retained = { floor: 10, oldest: 13, newest: 20 }
  t.strictSame(resumption(10, retained), { position: 10, syncRequired: false })
  t.strictSame(resumption(15, retained), { position: 15, syncRequired: false })
  t.strictSame(resumption(20, retained), { position: 20, syncRequired: false })
  t.strictSame(resumption(9, retained), { position: 12, syncRequired: true })
  t.strictSame(resumption(0, retained), { position: 12, syncRequired: true })
  t.strictSame(resumption(21, retained), { position: 20, syncRequired: true })
  t.strictSame(resumption(9, { floor: 10, oldest: null, newest: 10 }), { position: 10, syncRequired: true })
  t.strictSame(resumption(0, { floor: 0, oldest: null, newest: 0 }), { position: 0, syncRequired: false })
})

function eventOf(id: number): WireEvent {
  return {
    id,
    rowNo: id,
    name: 'document.created',
    documentId: 'doc_1',
    workspaceId: 'ws_1',
    documentSetId: null,
    locale: null,
    text: Buffer.from(`<event ${id}>`),
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A stream on a response whose client reads, or does not; its log is `log`, or nothing that can be read any more. */
function open(options: { recent: RecentEvents; reads: boolean; position?: number; log?: WireEvent[] }) {
  const { recent, log } = options
  const written: Buffer[] = []
  let reading = options.reads
  let resume: (() => void) | undefined
  const response = new Writable({
    highWaterMark: 30,
    write(chunk, _encoding, done) {
      written.push(chunk)
      if (reading) setImmediate(done)
      else resume = done
    },
  })
  response.on('error', () => {})
  const source: StreamSource = {
    newest: () => recent.newest,
    async page({ after }) {
      const held = recent.after(after, 3)
      if (held !== null) return { events: held, upTo: held.at(-1)?.id ?? recent.newest }
      await turn()
      const events = log?.filter(({ id }) => id > after).slice(0, 3)
      return events === undefined ? null : { events, upTo: events.at(-1)?.id ?? after }
    },
  }
  const stream = new EventStream({
    tokenId: 'tok_1',
    lease: { credentialId: 'tok_1', streamId: '1' },
    response: response as unknown as Response,
    source,
    filter: { workspaceIds: ['ws_1'], documentSetId: undefined, locale: undefined },
    position: options.position ?? 0,
    missed: [],
  })
  return {
    stream,
    response,
    text: () => Buffer.concat(written).toString(),
    reads(wanted: boolean) {
      reading = wanted
      if (!wanted) return
      resume?.()
      resume = undefined
    },
  }
}
