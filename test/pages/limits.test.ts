import { csrfTokenOf } from '../../shared/auth/sessions.ts'
import { make } from '../support/documents.ts'
import { sharedService, type TestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { signedInVisitor, type Visitor } from '../support/visitor.ts'

// The token of the session of a browser, without a call that would be counted.
function tokenOf(service: TestService, visitor: Visitor): string {
  const id = [...visitor.cookies].find(([name]) => name.endsWith('svc_session'))?.[1] ?? ''
  return csrfTokenOf(service.config.SESSION_SECRET, id)
}

t.test('every page that is read counts against the reads of the person, in all browsers together', async (t) => {
  const service = await sharedService({ RATE_READ_PER_MIN: '3' })
  const { user_id: userId } = await service.signUp()
  const [here, there] = [await signedInVisitor(service, { userId }), await signedInVisitor(service, { userId })]
  for (const browser of [here, there, here]) t.equal((await browser.get('/')).status, 200)
  const paths = ['/', '/trash', '/search', '/kb/1', '/d/x', '/d/x/state', '/d/x/attachments/y', '/d/x/properties']
  for (const path of [...paths, '/d/x/sharing', '/d/x/history', '/d/x/summary', '/d/x/members']) {
    const refused = await there.get(path)
    t.equal(refused.status, 429, path)
    t.ok(refused.headers.get('retry-after'), path)
  }
  const { user_id: other } = await service.signUp()
  t.equal((await (await signedInVisitor(service, { userId: other })).get('/')).status, 200)
})

t.test('the pages and the tokens of a person share the calls of the person', async (t) => {
  const service = await sharedService({ RATE_READ_PER_MIN: '4', RATE_USER_FACTOR: '1' })
  const ada = await service.signUp()
  const browser = await signedInVisitor(service, { userId: ada.user_id })
  for (const _ of [1, 2]) t.equal((await browser.get('/')).status, 200)
  for (const _ of [1, 2]) t.equal((await ada.get('/me')).status, 200)
  t.equal((await browser.get('/')).status, 429)
})

t.test('a form counts once as a write, and is refused before it does anything', async (t) => {
  const service = await sharedService({ RATE_WRITE_PER_MIN: '4' })
  const ada = await service.signUp()
  const { id } = await make(ada, [])
  const browser = await signedInVisitor(service, { userId: ada.user_id })
  const csrf_token = tokenOf(service, browser)
  const send = (title: string) => browser.post(`/d/${id}/organise`, { csrf_token, name: title, was: '' })
  for (const _ of [1, 2, 3, 4]) t.equal((await send('')).status, 400, 'a refused form counts, too')
  t.equal((await send('Water')).status, 429)
  t.equal((await browser.post(`/d/${id}/sharing`, { csrf_token, action: 'create', password: 'x' })).status, 429)
  t.equal((await browser.get(`/d/${id}`)).status, 200, 'reading goes on')
})

t.test('a search counts as a search, and not as a read', async (t) => {
  const service = await sharedService({ RATE_READ_PER_MIN: '1', RATE_SEARCH_PER_MIN: '2' })
  const { user_id: userId } = await service.signUp()
  const browser = await signedInVisitor(service, { userId })
  for (const _ of [1, 2]) t.equal((await browser.get('/search?q=water')).status, 200)
  t.equal((await browser.get('/search?q=water')).status, 429)
  t.equal((await browser.get('/search')).status, 200)
})

t.test('an address that names nothing is a page that is not there, whatever characters it has', async (t) => {
  const service = await sharedService()
  const { user_id: userId } = await service.signUp()
  const browser = await signedInVisitor(service, { userId })
  for (const id of ['%E2%82%AC', '%0A', '%2F', '%3F', '%C3%A9']) {
    t.equal((await browser.get(`/d/${id}/duplicate`)).status, 404, id)
  }
})
