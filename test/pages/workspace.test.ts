import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { signedInVisitor, Visitor } from '../support/visitor.ts'

const shared = await sharedService()

async function visitorOf(userId: string): Promise<Visitor> {
  return signedInVisitor(shared, { userId })
}

t.test('the owner of an empty workspace is one button away from an open editor', async (t) => {
  const ada = await shared.signUp()
  const visitor = await visitorOf(ada.user_id)
  const { status, html, headers } = await visitor.get('/')
  t.equal(status, 200)
  t.equal(headers.get('vary'), 'Cookie')
  t.match(html, 'Nothing is here yet')
  const written = await visitor.submit({ page: '/', action: '/kb', fields: { name: ' Notes ', first: 'document' } })
  t.equal(written.status, 303)
  t.match(written.location, /^\/d\/doc_/)
  const editor = await visitor.get(written.location ?? '')
  t.match(editor.html, 'data-may-write="true"')
  const { data: bases } = (await ada.get('/knowledge-bases')).body
  t.match(bases, [{ name: 'Notes', document_count: 1, created_by: ada.user_id }])
  const actions = ((await ada.get('/audit')).body.data as { action: string }[]).map(({ action }) => action)
  t.strictSame(actions.sort(), ['createDocument', 'createKnowledgeBase'], 'the audit log has both writes')
  const next = await visitor.submit({ page: '/', action: `/kb/${bases[0].id}/documents`, fields: {} })
  t.match(next.location, /^\/d\/doc_/, 'and so is every further document')
})

t.test('the workspace shows what changed last, and knowledge bases a page at a time', async (t) => {
  const ada = await shared.signUp()
  const visitor = await visitorOf(ada.user_id)
  for (let number = 1; number <= 51; number += 1) await ada.post('/knowledge-bases', { name: `Base <${number}>` })
  const [first] = (await ada.get('/knowledge-bases')).body.data
  await ada.post('/documents', { title: 'Water & <b>stone</b>', knowledge_base_id: first.id })
  const { html } = await visitor.get('/')
  t.match(html, '<bdi>Water &amp; &lt;b&gt;stone&lt;/b&gt;</bdi>')
  t.match(html, '<bdi>Base &lt;50&gt;</bdi>')
  t.notMatch(html, 'Base &lt;51&gt;')
  const [, next = ''] = /href="(\/\?after=\d+)"/.exec(html) ?? []
  t.match((await visitor.get(next)).html, '<bdi>Base &lt;51&gt;</bdi>')
})

t.test('a knowledge base without a name is told in the form, and nothing is created', async (t) => {
  const ada = await shared.signUp()
  const visitor = await visitorOf(ada.user_id)
  const tooLong = 'x'.repeat(201)
  for (const name of ['', '   ', tooLong]) {
    const refused = await visitor.send('/kb', { name })
    t.equal(refused.status, 400)
    t.match(refused.html, 'Give it a name of 1 to 200 characters.')
  }
  t.match((await visitor.send('/kb', { name: tooLong })).html, `value="${tooLong}"`, 'what was typed is still there')
  t.strictSame((await ada.get('/knowledge-bases')).body.data, [])
})

t.test('viewers see no controls that they may not use, and are refused anyway', async (t) => {
  const ada = await shared.signUp({ workspace: 'shared by both' })
  const { data: base } = (await ada.post('/knowledge-bases', { name: 'Handbook' })).body
  const viewer = await shared.signUp({ workspace: 'shared by both', role: 'viewer' })
  const visitor = await visitorOf(viewer.user_id)
  const { html } = await visitor.get('/')
  t.match(html, 'Handbook')
  t.notMatch(html, 'action="/kb')
  t.equal((await visitor.send('/kb', { name: 'Mine' })).status, 403)
  t.equal((await visitor.send(`/kb/${base.id}/documents`, {})).status, 403)
  t.equal((await ada.get('/knowledge-bases')).body.data.length, 1)
})

t.test('other workspaces, other sites and strangers get nothing', async (t) => {
  const ada = await shared.signUp()
  const { data: base } = (await ada.post('/knowledge-bases', { name: 'Secret plans' })).body
  const stranger = await visitorOf((await shared.signUp()).user_id)
  t.notMatch((await stranger.get('/')).html, 'Secret plans')
  t.equal((await stranger.send(`/kb/${base.id}/documents`, {})).status, 404)
  const visitor = await visitorOf(ada.user_id)
  t.equal((await visitor.post('/kb', { name: 'Forged' })).status, 403)
  const nobody = new Visitor(shared.origin)
  const landing = await nobody.get('/')
  t.match(landing.html, 'A service for knowledge bases')
  for (const chapter of ['mcp', 'programs', 'command-line']) t.match(landing.html, `href="/guide/${chapter}"`)
  t.equal(nobody.cookies.size, 0, 'the landing page sets no cookie')
  t.match(await nobody.post('/kb', { name: 'x' }), { status: 303, location: '/login?next=%2Fkb' })
})
