import { Client } from '../support/client.ts'
import { refused } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

t.test('a program that signs out leaves no token behind, and ends no token but its own', async (t) => {
  const { origin, signUp } = await sharedService()
  const [ada, other] = [await signUp(), await signUp()]
  const nobody = new Client({ origin })
  const almost = `${ada.token.slice(0, -1)}${ada.token.endsWith('x') ? 'y' : 'x'}`
  for (const token of [almost, 'svc_tok_1', '', 'x'.repeat(10_000)]) {
    t.match(await nobody.post('/auth/revoke', { token }), { status: 204, text: '' }, 'nobody learns which tokens exist')
  }
  t.equal((await ada.get('/me')).status, 200, 'the id of a token is not enough')
  t.equal((await nobody.post('/auth/revoke', { token: ada.token })).status, 204)
  refused(t, await ada.get('/me'), { status: 401, code: 'token_revoked' })
  t.equal((await nobody.post('/auth/revoke', { token: ada.token })).status, 204, 'a repetition is no error')
  t.equal((await other.get('/me')).status, 200)
  refused(t, await nobody.post('/auth/revoke', {}), { status: 400, code: 'invalid_request' })
})
