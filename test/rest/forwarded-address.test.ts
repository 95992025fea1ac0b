import type { IncomingMessage } from 'node:http'
import { clientAddress, handedOnFor, handedOnHeader } from '../../shared/auth/forwarded-address.ts'
import { t } from '../support/tap.ts'

const secret = 's'.repeat(32)

t.test('limits count the address that the trusted proxies name, whatever a client claims', async (t) => {
  const headers = { 'x-forwarded-for': '192.0.2.66, 198.51.100.7,203.0.113.2' }
  t.equal(addressOf({ headers, proxies: 0 }), '10.0.0.1')
  t.equal(addressOf({ headers, proxies: 1 }), '203.0.113.2')
  t.equal(addressOf({ headers, proxies: 2 }), '198.51.100.7')
  t.equal(addressOf({ headers, proxies: 9 }), '192.0.2.66', 'no more can be known than what is there')
  t.equal(addressOf({ headers: {}, proxies: 2 }), '10.0.0.1')
})

t.test('the address of a connection that the API hands on is believed by its signature alone', async (t) => {
  const signed = handedOnFor(secret, '2001:db8::1')
  const forged = handedOnFor('t'.repeat(32), '2001:db8::1')
  t.equal(addressOf({ headers: { [handedOnHeader]: signed }, proxies: 0 }), '2001:db8::1')
  for (const value of [forged, `192.0.2.66 ${signed.split(' ')[1]}`, '192.0.2.66', ' ', '']) {
    t.equal(addressOf({ headers: { [handedOnHeader]: value }, proxies: 0 }), '10.0.0.1', value)
  }
})

function addressOf({ headers, proxies }: { headers: Record<string, string>; proxies: number }): string {
  const socket = { remoteAddress: '10.0.0.1' } as IncomingMessage['socket']
  return clientAddress({ headers, socket }, { secret, proxies })
}
