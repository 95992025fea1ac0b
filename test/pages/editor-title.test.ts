import { p } from '../document/build.ts'
import { make } from '../support/documents.ts'
import { sharedService, type TestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor, Visitor } from '../support/visitor.ts'

/*
 * The title of a document, as people change it on its page.
 */

const service = await sharedService()

async function send(user: string, id: string, change: object): Promise<{ status: number; answer: unknown }> {
  const visitor = await signedInVisitor(service, { userId: user })
  const { html } = await visitor.get('/device')
  const token = hiddenFields(html, '/logout')['csrf_token'] ?? ''
  const response = await fetch(`${service.origin}/d/${id}/title`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...cookieOf(visitor), 'x-csrf-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(change),
  })
  const text = await response.text()
  return { status: response.status, answer: response.ok ? JSON.parse(text) : text }
}

function cookieOf({ cookies }: Visitor): { cookie: string } {
  return { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
}

const titleOf = async (client: Awaited<ReturnType<TestService['signUp']>>, id: string) =>
  (await client.get(`/documents/${id}`)).body.data.title

t.test('a title is saved, unless somebody else has changed it meanwhile', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p('Water')], { title: 'Rivers' })
  t.match(await send(ada.user_id, id, { title: ' Streams ', was: 'Rivers' }), {
    status: 200,
    answer: { title: 'Streams', problem: null },
  })
  t.equal(await titleOf(ada, id), 'Streams')
  const late = await send(ada.user_id, id, { title: 'Lakes', was: 'Rivers' })
  t.match(late, { status: 200, answer: { title: 'Streams', problem: /Somebody has changed the title to “Streams”/ } })
  t.equal(await titleOf(ada, id), 'Streams', 'nothing is overwritten')
  t.match(await send(ada.user_id, id, { title: 'Lakes', was: 'Streams' }), { answer: { title: 'Lakes' } })
  for (const title of ['', ' ', 'x'.repeat(501)]) {
    t.match(await send(ada.user_id, id, { title, was: 'Lakes' }), { answer: { title: 'Lakes', problem: /1 to 500/ } })
  }
  t.equal((await send(ada.user_id, id, { title: 1 })).status, 400)
})

t.test('only a writer of the workspace with the token of the page changes a title', async (t) => {
  const workspace = 'Elephants'
  const ada = await service.signUp({ workspace, email: 'ada@example.test' })
  const viewer = await service.signUp({ workspace, role: 'viewer', email: 'viewer@example.test' })
  const stranger = await service.signUp()
  const { id } = await make(ada, [p('Water')], { title: 'Rivers' })
  const change = { title: 'Lakes', was: 'Rivers' }
  t.equal((await send(viewer.user_id, id, change)).status, 403)
  t.equal((await send(stranger.user_id, id, change)).status, 404)
  const visitor = await signedInVisitor(service, { userId: ada.user_id })
  t.equal((await visitor.post(`/d/${id}/title`, {})).status, 403, 'another site has no token')
  t.equal((await new Visitor(service.origin).post(`/d/${id}/title`, {})).status, 303)
  t.equal(await titleOf(ada, id), 'Rivers')
  const page = (await (await signedInVisitor(service, { userId: ada.user_id })).get(`/d/${id}`)).html
  for (const name of ['history', 'properties', 'sharing', 'organise']) t.match(page, `href="/d/${id}/${name}"`)
  t.match(page, 'href="/kb/')
  t.notMatch((await (await signedInVisitor(service, { userId: viewer.user_id })).get(`/d/${id}`)).html, '/organise"')
})
