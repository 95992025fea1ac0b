import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import express from 'express'
import { sendArchive } from '../../api/http/exports.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { Turns } from '../../shared/turns/turns.ts'
import { WorkCounter } from '../hostile/work.ts'
import { type Test, t } from '../support/tap.ts'
import { zip } from '../support/zips.ts'

/** Runs `work` in a turn on behalf of a user's request. */
function ask<T>(turns: Turns, userId: string, work: () => Promise<T>): Promise<T> {
  return onBehalfOf(userId, () => turns.run(work), { signal: new AbortController().signal })
}

const roomy = { waiting: 100, waitingOfOneUser: 100 }

t.test('one user cannot keep the others from exporting, and whoever waits gets the next turn', async (t) => {
  const turns = new Turns({ ...roomy, atOnce: 3, ofOneUser: 2, patienceMs: 60_000 })
  const running: string[] = []
  const ends: Record<string, () => void> = {}
  const start = (user: string, name: string) =>
    ask(turns, user, async () => {
      running.push(name)
      await new Promise<void>((resolve) => {
        ends[name] = resolve
      })
      running.splice(running.indexOf(name), 1)
    })
  const all = [start('ada', 'a1'), start('ada', 'a2'), start('ada', 'a3'), start('bob', 'b1'), start('eve', 'e1')]
  await settled()
  t.strictSame(running, ['a1', 'a2', 'b1'])
  ends['b1']?.()
  await all[3]
  await settled()
  t.strictSame(running, ['a1', 'a2', 'e1'], 'the place is for whoever has fewer')
  ends['a1']?.()
  await all[0]
  await settled()
  t.strictSame(running, ['a2', 'e1', 'a3'])
  for (const name of ['a2', 'e1', 'a3']) ends[name]?.()
  await Promise.all(all)
  t.strictSame(running, [])
})

t.test('whoever gets no turn is told to come back, and work that fails gives its turn on', async (t) => {
  const turns = new Turns({ ...roomy, atOnce: 1, ofOneUser: 1, patienceMs: 1 })
  let end = () => {}
  const busy = ask(turns, 'ada', () => new Promise<void>((resolve) => (end = resolve)))
  await settled()
  await t.rejects(
    ask(turns, 'bob', async () => {}),
    { code: 'service_unavailable', headers: { 'Retry-After': '30' } },
  )
  end()
  await busy
  await t.rejects(
    ask(turns, 'ada', async () => {
      throw new Error('broken')
    }),
    /broken/,
  )
  t.equal(await ask(turns, 'bob', async () => 'done'), 'done')
})

t.test('the surplus of one user is sent away, and delays another user by what runs alone', async (t) => {
  const turns = new Turns({ atOnce: 1, ofOneUser: 1, waiting: 3, waitingOfOneUser: 2, patienceMs: 60_000 })
  const order: string[] = []
  let end = () => {}
  const busy = ask(turns, 'ada', () => new Promise<void>((resolve) => (end = resolve)))
  await settled()
  const asked = ['a1', 'a2', 'a3'].map((name) => ask(turns, 'ada', async () => order.push(name)))
  const refused = { code: 'rate_limited', details: { bucket: 'concurrency' } }
  await t.rejects(asked[2] as Promise<number>, refused, 'the third of a user who may have two')
  const small = ask(turns, 'bob', async () => order.push('b1'))
  await settled()
  await t.rejects(
    ask(turns, 'eve', async () => {}),
    { code: 'service_unavailable' },
    'the process is full',
  )
  const job = onBehalfOf('ada', () => turns.run(async () => order.push('job')))
  end()
  await Promise.all([busy, asked[0], asked[1], small, job])
  t.strictSame(order, ['b1', 'a1', 'a2', 'job'], 'a job waits as long as necessary')
  t.strictSame(turns.state, { running: 0, waiting: 0 })
})

t.test('what nobody waits for any more leaves the queue', async (t) => {
  const turns = new Turns({ atOnce: 1, ofOneUser: 1, waiting: 2, waitingOfOneUser: 1, patienceMs: 60_000 })
  let end = () => {}
  const busy = ask(turns, 'ada', () => new Promise<void>((resolve) => (end = resolve)))
  for (const name of ['first', 'second']) {
    const left = new AbortController()
    const waits = onBehalfOf('ada', () => turns.run(async () => t.fail()), { signal: left.signal })
    await settled()
    left.abort(new Error(name))
    await t.rejects(waits, new RegExp(name), 'it takes the place of nobody')
  }
  const gone = new AbortController()
  const left = onBehalfOf('bob', () => turns.run(async () => t.fail()), { signal: gone.signal })
  await settled()
  gone.abort(new Error('gone'))
  await t.rejects(left, /gone/)
  end()
  await busy
  t.equal(await ask(turns, 'bob', async () => 'next'), 'next')
})

/** Waits until all work that needs no timer has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

t.test('a reader that takes nothing, or takes too long, is cut off and what wrote for it ends', async (t) => {
  for (const patience of [
    { pauseMs: 300, wholeMs: 600_000 },
    { pauseMs: 600_000, wholeMs: 300 },
  ]) {
    const { socket, written } = await stalledReader(t, patience)
    await written
    // Bytes that were sent before still arrive, and then the connection ends.
    socket.resume()
    if (!socket.closed) await once(socket, 'close')
    t.pass(`${patience.pauseMs} ${patience.wholeMs}`)
  }
})

/** Opens a connection that requests an endless archive and reads nothing of it. */
async function stalledReader(t: Test, patience: { pauseMs: number; wholeMs: number }) {
  const app = express()
  const written = new Promise<void>((resolve, reject) => {
    app.get('/', (_, response) => {
      const noise = Buffer.alloc(1 << 20, 'x')
      sendArchive(response, patience, async (archive) => {
        for (let index = 0; ; index += 1)
          await archive.add(`${index}`, noise, { modified: new Date(), compress: false })
      }).then(resolve, reject)
    })
  })
  const server = app.listen(0)
  await once(server, 'listening')
  t.teardown(() => server.close())
  const socket = connect((server.address() as AddressInfo).port)
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  t.teardown(() => socket.destroy())
  return { socket, written }
}

t.test('the checksum of a large file leaves the event loop to others again and again', async (t) => {
  const counter = new WorkCounter()
  t.teardown(() => counter.end())
  const shares: number[] = []
  let isOver = false
  const done = zip({ 'large.json': 'a text '.repeat(600_000) }).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await nextTurn()
    const { byFunction } = counter.take()
    const checksums = [...byFunction].filter(([name]) => name.includes('crc32'))
    shares.push(checksums.reduce((sum, [, count]) => sum + count, 0))
  }
  await done
  const total = shares.reduce((sum, share) => sum + share, 0)
  t.ok(Math.max(...shares) < total / 4, `${Math.max(...shares)} of ${total} in one turn`)
})
