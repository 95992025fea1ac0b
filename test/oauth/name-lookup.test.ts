import type { LookupAddress } from 'node:dns'
import t from 'tap'
import { addressesOf } from '../../shared/network/name-lookup.ts'

t.test(
  'name servers that never answer leave threads to other work, and are asked no more than is of use',
  async (t) => {
    const asked: string[] = []
    const answered = Promise.withResolvers<LookupAddress[]>()
    const resolve = (name: string) => {
      asked.push(name)
      return answered.promise
    }
    const abort = new AbortController()
    const lookUp = (name: string, signal = abort.signal) =>
      addressesOf(name, { signal, lookupOptions: { all: true }, resolve })
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
  },
)
