import { createSocket } from 'node:dgram'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { askSystem } from '../../../shared/network/name-lookup.ts'
import { fetchPublic, PrivateAddressError } from '../../../shared/network/public-fetch.ts'
import { type Test, t } from '../../support/tap.ts'

t.test('name servers that never answer leave threads to other work, and are asked only as is of use', async (t) => {
  const asked: string[] = []
  const answered = Promise.withResolvers<LookupAddress[]>()
  const resolve = (name: string) => {
    asked.push(name)
    return answered.promise
  }
  const abort = new AbortController()
  const lookUp = (name: string, signal = abort.signal) =>
    askSystem(name, { signal, lookupOptions: { all: true }, resolve })
  const running = ['a', 'b'].map((name) => lookUp(name))
  const givenUp = ['c', 'd'].map((name) => lookUp(name))
  const patient = lookUp('e', new AbortController().signal)
  await new Promise(setImmediate)
  t.same(asked, ['a', 'b'], 'two of the four threads at most')
  abort.abort()
  const addresses = [{ address: '192.0.2.1', family: 4 }]
  answered.resolve(addresses)
  for (const lookup of [...running, patient]) t.same(await lookup, addresses)
  for (const lookup of givenUp) await t.rejects(lookup, { name: 'AbortError' })
  t.same(asked, ['a', 'b', 'e'])
})

t.test('names whose servers never answer keep no other name waiting, and a name must not point inside', async (t) => {
  const server = await startNameServer(t, {
    'inside.test': ['10.0.0.1'],
    'mapped.test': ['127.0.0.1'],
    'partly-inside.test': ['192.0.2.1', '93.184.215.14', '10.0.0.1'],
  })
  const fetchName = (name: string, signal: AbortSignal) =>
    fetchPublic(`https://${name}/`, {
      headers: new Headers(),
      signal,
      allowPrivate: false,
      nameServers: [server.address],
    })
  const abort = new AbortController()
  const silent = Array.from({ length: 20 }, (_, n) => fetchName(`silent${n}.test`, abort.signal))
  for (const fetched of silent) fetched.catch(() => {})
  await server.asked('silent19.test')
  for (const name of ['inside.test', 'mapped.test', 'partly-inside.test', 'localhost', 'a.localhost.']) {
    await t.rejects(fetchName(name, AbortSignal.timeout(2500)), PrivateAddressError, name)
  }
  await t.rejects(fetchName('unknown.test', AbortSignal.timeout(2500)), { code: 'ENOTFOUND' })
  abort.abort()
  for (const fetched of silent) await t.rejects(fetched, { name: 'AbortError' })
})

/**
 * Starts a name server on this computer, which ends with the test. It knows the IPv4 addresses of some names, does not
 * answer for names that begin with `silent`, and says of all others that they do not exist. `asked` resolves when it
 * has been asked for a name.
 */
async function startNameServer(t: Test, known: Record<string, string[]>) {
  const socket = createSocket('udp4')
  const seen = new Set<string>()
  const waiting = new Map<string, () => void>()
  socket.on('message', (query, { address, port }) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const name = labels.join('.').toLowerCase()
    seen.add(name)
    waiting.get(name)?.()
    if (name.startsWith('silent')) return
    const question = query.subarray(12, at + 5)
    const type = query.readUInt16BE(at + 1)
    const found = known[name]
    const addresses = type === 1 ? (found ?? []) : []
    // RFC 1035, section 4.1: id, flags with the code of the answer (3 is no such name), and the counts of the sections.
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    const records = addresses.flatMap((one) => [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...one.split('.').map(Number)])
    socket.send(Buffer.concat([header, question, Buffer.from(records)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  const asked = (name: string) =>
    new Promise<void>((resolve) => {
      if (seen.has(name)) resolve()
      else waiting.set(name, resolve)
    })
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}
