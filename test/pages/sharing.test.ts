import { createHook } from 'node:async_hooks'
import { sql } from 'slonik'
import { p, text } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { make } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor, type Visit, Visitor } from '../support/visitor.ts'

const service = await sharedService()
const password = 'trunk and tusk'

t.test('a person shares a document, changes the link and revokes it', async (t) => {
  const { ada, browser, id, page } = await shared({ title: 'Rivers <b>' })
  t.match((await browser.get(page)).html, 'Make a public link')
  t.match((await browser.get(page)).html, 'Rivers &lt;b&gt;')
  const made = await send(browser, page, { action: 'create', expires: '7', password })
  t.match(made, { status: 303, location: page })
  const [link] = (await ada.get(`/public-shares?document_id=${id}`)).body.data
  t.match(link, { has_password: true, created_by: ada.user_id })
  t.ok(Math.abs(link.expires_at - Date.now() - 7 * 86_400_000) < 60_000)
  const { html } = await browser.get(page)
  t.match(html, `value="${link.url}"`)
  t.match(html, `href="/s/${link.share_id}">Open`)
  t.match(html, 'Readers are asked for a password')
  t.notMatch(html, password)
  const reader = new Visitor(service.origin)
  t.match(await reader.get(`/s/${link.share_id}`), { status: 403, html: 'A password is needed' })

  const share = link.share_id
  t.equal((await send(browser, page, { action: 'no_password', share })).status, 303)
  t.equal((await reader.get(`/s/${share}`)).status, 200)
  t.equal((await send(browser, page, { action: 'password', share, password: 'another one' })).status, 303)
  t.equal((await reader.get(`/s/${share}`)).status, 403)
  t.equal((await send(browser, page, { action: 'expiry', share, expires: 'at', at: '2100-01-01T10:30' })).status, 303)
  t.match((await browser.get(page)).html, '<time datetime="2100-01-01T10:30:00.000Z">2100-01-01 10:30 UTC</time>')
  t.equal((await send(browser, page, { action: 'expiry', share, expires: '' })).status, 303)
  t.equal((await ada.get(`/public-shares?document_id=${id}`)).body.data[0].expires_at, null)
  t.equal((await send(browser, page, { action: 'revoke', share })).status, 303)
  t.equal((await reader.get(`/s/${share}`)).status, 404)
  t.match((await browser.get(page)).html, 'Make a public link')

  const { data } = (await ada.get(`/audit?document_id=${id}`)).body
  const written = data.map(({ action, token_id }: { action: string; token_id: string }) => [action, token_id])
  const changes = ['updatePublicShare', 'updatePublicShare', 'updatePublicShare', 'updatePublicShare']
  t.strictSame(
    written.slice(0, 6),
    ['deletePublicShare', ...changes, 'ensurePublicShare'].map((action) => [action, '']),
    'the audit log has every change',
  )
})

t.test('what cannot be is refused in words, and the link stays as it was', async (t) => {
  const { ada, browser, id, page } = await shared()
  for (const [fields, words] of [
    [{ action: 'create', expires: 'at', at: '2001-01-01T00:00' }, 'Choose a time in the future'],
    [{ action: 'create', expires: 'at', at: '' }, 'Choose a time in the future'],
    [{ action: 'create', expires: 'soon' }, 'Choose a time in the future'],
    [{ action: 'create', password: 'short' }, 'A password has 8 to 200 characters'],
    [{ action: 'create', password: 'x'.repeat(201) }, 'A password has 8 to 200 characters'],
  ] as const) {
    t.match(await send(browser, page, fields), { status: 400, html: words })
  }
  t.strictSame((await ada.get(`/public-shares?document_id=${id}`)).body.data, [])
  const refused = await send(browser, page, { action: 'create', expires: 'at', at: '2001-01-01T00:00' })
  t.match(refused.html, 'value="2001-01-01T00:00"', 'what was filled in is still there')
  t.match(refused.html, '<option value="at" selected>')

  const { share_id } = (await ada.post(`/documents/${id}/public-share`)).body.data
  const late = await send(browser, page, { action: 'create', expires: '1', password })
  t.match(late, { status: 409, html: 'Somebody has made a link in the meantime.' })
  t.match((await ada.get(`/public-shares?document_id=${id}`)).body.data, [{ has_password: false, expires_at: null }])
  const expires_at = Date.now() + 86_400_000
  await ada.patch(`/public-shares/${share_id}`, { expires_at })
  const silent = await send(browser, page, { share: share_id })
  t.match(silent, { status: 400, html: 'The form did not say what to do' })
  t.match((await ada.get(`/public-shares?document_id=${id}`)).body.data, [{ expires_at }], 'the link still expires')
  await ada.delete(`/public-shares/${share_id}`)
  const gone = await send(browser, page, { action: 'password', share: share_id, password })
  t.match(gone, { status: 404, html: 'This link was revoked in the meantime' })
})

t.test('viewers see the link and change nothing, and other workspaces see nothing', async (t) => {
  const { ada, page, id } = await shared({ workspace: 'team' })
  const { share_id: share, url } = (await ada.post(`/documents/${id}/public-share`)).body.data
  const viewer = await service.signUp({ workspace: 'team', role: 'viewer' })
  const reading = await signedInVisitor(service, { userId: viewer.user_id })
  const { html } = await reading.get(page)
  t.match(html, url)
  t.notMatch(html, /name="action"/)
  for (const action of ['create', 'revoke', 'password', 'expiry']) {
    t.equal((await send(reading, page, { action, share, password })).status, 403, action)
  }
  const other = await shared()
  t.equal((await other.browser.get(page)).status, 404)
  t.equal((await send(other.browser, page, { action: 'revoke', share })).status, 404)
  t.equal((await send(other.browser, other.page, { action: 'revoke', share })).status, 404, 'nor by its own page')
  const second = await make(ada, [p(text('x'))])
  const mine = await signedInVisitor(service, { userId: ada.user_id })
  t.equal((await send(mine, `/d/${second.id}/sharing`, { action: 'revoke', share })).status, 404)
  t.equal((await mine.post(page, { action: 'revoke', share })).status, 403, 'without the token of the form')
  t.equal((await ada.get(`/public-shares?document_id=${id}`)).body.data.length, 1)
  t.match(await new Visitor(service.origin).get(page), { status: 303, location: /^\/login/ })
})

t.test('a form that is refused or counts as too much makes the server hash no password', async (t) => {
  const limited = await sharedService({ RATE_WRITE_PER_MIN: '3' })
  const ada = await limited.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const browser = await signedInVisitor(limited, { userId: ada.user_id })
  const page = `/d/${id}/sharing`
  const hashes = countHashes(t)
  t.equal((await send(browser, page, { action: 'password', share: 'shr_unknown', password })).status, 404)
  t.equal(hashes.count, 0, 'for a link that is not there')
  t.equal((await send(browser, page, { action: 'create', password })).status, 303)
  t.equal(hashes.count, 1)
  t.equal((await send(browser, page, { action: 'revoke', share: 'shr_unknown' })).status, 404)
  t.equal((await send(browser, page, { action: 'create', password })).status, 429, 'each form counted once')
  t.equal(hashes.count, 1, 'over the limit')
})

t.test('an expired link says so, and links that the operator forbids are not offered', async (t) => {
  const { ada, browser, page, id } = await shared()
  await ada.post(`/documents/${id}/public-share`)
  await service.database.query(sql.unsafe`
    UPDATE public_shares SET expires_at = now() - interval '1 hour' WHERE document_id = ${id}`)
  t.match((await browser.get(page)).html, '<span class="badge bad">Expired</span>')

  const closed = await sharedService({ PUBLIC_SHARE_ENABLED: 'false' })
  const bob = await closed.signUp()
  const { id: closedId } = await make(bob, [p(text('x'))])
  const visitor = await signedInVisitor(closed, { userId: bob.user_id })
  const { html } = await visitor.get(`/d/${closedId}/sharing`)
  t.match(html, 'Whoever runs this service allows no public links')
  t.notMatch(html, /name="action"/)
  const forced = await send(visitor, `/d/${closedId}/sharing`, { action: 'create' })
  t.match(forced, { status: 403, html: 'allows no public links' })
})

// Counts the passwords that this process hashes from now on.
function countHashes(t: Test): { count: number } {
  const hashes = { count: 0 }
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'SCRYPTREQUEST') hashes.count += 1
    },
  }).enable()
  t.teardown(() => hook.disable())
  return hashes
}

async function shared({ title = 'Document', workspace }: { title?: string; workspace?: string } = {}) {
  const ada = await service.signUp(workspace === undefined ? {} : { workspace })
  const { id } = await make(ada as Client, [p(text('Water'))], { title })
  const browser = await signedInVisitor(service, { userId: ada.user_id })
  return { ada, browser, id, page: `/d/${id}/sharing` }
}

// Sends a form of a page with the token of the session.
async function send(browser: Visitor, page: string, fields: Record<string, string>): Promise<Visit> {
  const { csrf_token = '' } = hiddenFields((await browser.get('/device')).html, '/logout')
  return browser.post(page, { csrf_token, ...fields })
}
