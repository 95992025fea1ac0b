import fc from 'fast-check'
import { mintTicket, readTicket } from '../../shared/auth/tickets.ts'
import { t } from '../support/tap.ts'

const secret = 's'.repeat(32)
const facts = { documentId: 'doc_1', userId: 'usr_1', sessionId: 'x'.repeat(43), now: 1_000_000 }
const ticket = mintTicket(secret, facts)

t.test('a ticket proves its document, its user and its session for a minute, and then nothing', async (t) => {
  t.match(ticket, /^svc_tik_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/)
  const { documentId, userId } = facts
  t.match(readTicket(secret, ticket, facts.now + 59_999), { documentId, userId, sessionHash: /^[0-9a-f]{64}$/ })
  t.equal(readTicket(secret, ticket, facts.now + 60_000), null)
  t.notMatch(Buffer.from(ticket.slice(8), 'base64url').toString(), facts.sessionId)
})

t.test('a ticket of another service is worth nothing', async (t) => {
  t.equal(readTicket('t'.repeat(32), ticket, facts.now), null)
})

t.test('no change of a ticket, however small, opens anything', async () => {
  const position = fc.nat({ max: ticket.length - 1 })
  fc.assert(
    fc.property(position, fc.string({ unit: 'binary-ascii', maxLength: 3 }), (at, replacement) => {
      const forged = ticket.slice(0, at) + replacement + ticket.slice(at + 1)
      return forged === ticket || readTicket(secret, forged, facts.now) === null
    }),
  )
})

t.test('what has the form of a ticket but another payload is refused, not an error', async (t) => {
  for (const text of ['', 'svc_tik_', 'svc_tik_.', `svc_tik_e30.${'A'.repeat(43)}`, `svc_tik_${'A'.repeat(3000)}`]) {
    t.equal(readTicket(secret, text, facts.now), null, text.slice(0, 40))
  }
})
