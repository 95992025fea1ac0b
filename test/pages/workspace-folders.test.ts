import pg from 'pg'
import { sql } from '../../shared/database/database.ts'
import type { Client } from '../support/client.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor, Visitor } from '../support/visitor.ts'

const service = await startTestService(t)

async function author() {
  const client = await service.signUp()
  const base = await made(client, '/knowledge-bases', { name: 'Handbook' })
  const visitor = await signedInVisitor(service, { userId: client.user_id })
  return { client, base: base.id as number, visitor }
}

async function made(client: Client, path: string, body: object) {
  const { status, body: answer } = await client.post(path, body)
  if (status !== 201) throw new Error(JSON.stringify(answer))
  return answer.data
}

// The names in the list of a page, in their order.
function listedIn(html: string): string[] {
  return [...html.matchAll(/<a class="name" href="[^"]*"><bdi>([^<]*)<\/bdi>/g)].map(([, name = '']) => name)
}

async function waitingForLocks(): Promise<number> {
  const waiting = await service.database.any(sql.unsafe`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  return waiting.length
}

// Sends the form of a page that has this button, as a browser does.
async function press(visitor: Visitor, page: string, button: { action: string; name: string; value: string }) {
  const { html } = await visitor.get(page)
  const form = html.split('<form').find((text) => text.includes(`name="${button.name}" value="${button.value}"`)) ?? ''
  const fields = hiddenFields(`<form${form}`, button.action)
  return visitor.post(button.action, { ...fields, [button.name]: button.value })
}

t.test('a person fills a folder, and finds everything in it again', async (t) => {
  const { client, base, visitor } = await author()
  const folder = await visitor.submit({
    page: `/kb/${base}`,
    action: `/kb/${base}/folders`,
    fields: { name: ' Rivers ' },
  })
  t.match(folder, { status: 303, location: new RegExp(`^/kb/${base}/folders/[0-9]+$`) })
  const page = folder.location ?? ''
  t.match((await visitor.get(page)).html, 'Nothing is here yet')
  const document = await visitor.submit({ page, action: `${page}/documents`, fields: {} })
  t.match(document.location, /^\/d\/doc_/)
  t.strictSame(listedIn((await visitor.get(page)).html), ['Untitled'])
  t.strictSame(listedIn((await visitor.get(`/kb/${base}`)).html), ['Rivers'])
  const { data: path } = (await client.get(`/documents/${document.location?.slice(3)}/path`)).body
  t.equal(path.path_text, 'Handbook / Rivers / Untitled')
  const below = await visitor.submit({ page, action: `${page}/folders`, fields: { name: 'Deep' } })
  const { html } = await visitor.get(below.location ?? '')
  t.match(html, `href="${page}"><bdi>Rivers</bdi>`, 'the way back is shown')
  const refused = await visitor.submit({ page, action: `${page}/folders`, fields: { name: 'x'.repeat(201) } })
  t.match(refused, { status: 400, html: 'Give it a name of 1 to 200 characters.' })
})

t.test('a large folder comes a page at a time, and nothing is missed or twice', async (t) => {
  const { client, base, visitor } = await author()
  const names = Array.from({ length: 60 }, (_, index) => `Folder ${String(index).padStart(3, '0')}`)
  for (const name of names) await client.post('/folders', { name, knowledge_base_id: base })
  const titles = Array.from({ length: 45 }, (_, index) => `Page ${String(index).padStart(3, '0')}`)
  for (const title of titles) await client.post('/documents', { title, knowledge_base_id: base })
  const seen: string[] = []
  for (let path: string | undefined = `/kb/${base}`; path !== undefined; ) {
    const { html } = await visitor.get(path)
    const listed = listedIn(html)
    t.ok(listed.length <= 50)
    seen.push(...listed)
    path = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  }
  t.strictSame(seen, [...names, ...titles])
  t.match(await visitor.get(`/kb/${base}?cursor=made-up`), { status: 400 })
})

t.test('people put folders and documents in their own order, also across the pages of a list', async (t) => {
  const { client, base, visitor } = await author()
  const page = `/kb/${base}`
  for (const name of ['A', 'B', 'C']) await client.post('/folders', { name, knowledge_base_id: base })
  const documents: string[] = []
  for (let number = 0; number < 52; number += 1) {
    const title = `Page ${String(number).padStart(2, '0')}`
    documents.push((await made(client, '/documents', { title, knowledge_base_id: base })).id)
  }
  const [, second] = (await client.get(`${page.replace('/kb', '/knowledge-bases')}/tree`)).body.data.children
  const up = await press(visitor, `${page}?arrange=`, {
    action: `${page}/order`,
    name: 'after',
    value: String(second.id),
  })
  t.match(up, { status: 303, location: /moved=\d+\+down#item-\d+$/ })
  const { html } = await visitor.get(up.location?.split('#')[0] ?? '')
  t.strictSame(listedIn(html).slice(0, 4), ['B', 'A', 'C', 'Page 00'])
  t.match(html, /aria-label="Move A down"[^>]* autofocus/, 'the control that was used has the focus again')
  // The list has 55 items, so the last document of the first page is Page 46.
  const next = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  t.equal(listedIn((await visitor.get(next)).html)[0], 'Page 47')
  await press(visitor, next, { action: `${page}/order`, name: 'before', value: documents[46] ?? '' })
  t.strictSame(listedIn((await visitor.get(page)).html).slice(-2), ['Page 45', 'Page 47'])
  const moved = { kind: 'document', item: documents[0] ?? '', before: 'doc_none' }
  const late = await visitor.send(`${page}/order`, moved)
  t.match(late, { status: 404, html: 'Somebody has moved or deleted one of the two meanwhile' })
  t.match(late.html, /aria-label="Move Page 00 up"[^>]* autofocus/, 'the person is in the list, where they were')
})

t.test('of two people who rename the same at the same time, the second is told', async (t) => {
  const { client, base, visitor } = await author()
  const folder = await made(client, '/folders', { name: 'Rivers', knowledge_base_id: base })
  const holder = new pg.Client(service.url)
  await holder.connect()
  t.teardown(() => holder.end())
  for (const { page, path, table, id, was } of [
    {
      page: `/kb/${base}/folders/${folder.id}`,
      path: `/folders/${folder.id}`,
      table: 'folders',
      id: folder.id,
      was: 'Rivers',
    },
    { page: `/kb/${base}`, path: `/knowledge-bases/${base}`, table: 'knowledge_bases', id: base, was: 'Handbook' },
  ]) {
    await holder.query('BEGIN')
    await holder.query(`SELECT FROM ${table} WHERE id = $1 FOR UPDATE`, [id])
    const sent = ['First', 'Second'].map((name) => visitor.send(`${page}/organise`, { name, was }))
    await until(async () => (await waitingForLocks()) >= sent.length)
    await holder.query('COMMIT')
    const answers = await Promise.all(sent)
    t.strictSame(answers.map(({ status }) => status).sort(), [303, 409], page)
    t.match(answers.find(({ status }) => status === 409)?.html, /Somebody has renamed it to “(First|Second)”/)
    t.match((await client.get(path)).body.data.name, /^(First|Second)$/)
  }
})

t.test('a name that somebody else has changed meanwhile is not overwritten unseen', async (t) => {
  const { client, base, visitor } = await author()
  const folder = await made(client, '/folders', { name: 'Rivers', knowledge_base_id: base })
  const document = await made(client, '/documents', { title: 'Water', folder_id: folder.id })
  for (const { page, path, member, was } of [
    { page: `/d/${document.id}`, path: `/documents/${document.id}`, member: 'title', was: 'Water' },
    { page: `/kb/${base}/folders/${folder.id}`, path: `/folders/${folder.id}`, member: 'name', was: 'Rivers' },
    { page: `/kb/${base}`, path: `/knowledge-bases/${base}`, member: 'name', was: 'Handbook' },
  ]) {
    const action = `${page}/organise`
    const { html } = await visitor.get(action)
    const fields = hiddenFields(html, action)
    t.equal(fields['was'], was)
    await client.patch(path, { [member]: 'By a program' })
    const late = await visitor.post(action, { ...fields, name: 'Too late' })
    t.match(late, { status: 409, html: /renamed it to “By a program” meanwhile/ })
    t.match(late.html, 'value="Too late"', 'what was typed is still there')
    t.equal((await client.get(path)).body.data[member], 'By a program')
    const again = await visitor.post(action, { ...hiddenFields(late.html, action), name: 'Again' })
    t.equal(again.status, 303)
    t.equal((await client.get(path)).body.data[member], 'Again')
  }
  t.match(await visitor.submit({ page: `/d/${document.id}/organise`, fields: { name: ' ' } }), { status: 400 })
})

t.test('a person whose destination vanished while it was chosen goes on from the place above', async (t) => {
  const { client, base, visitor } = await author()
  const folder = await made(client, '/folders', { name: 'Outer', knowledge_base_id: base })
  const other = await made(client, '/folders', { name: 'Other', knowledge_base_id: base })
  const document = await made(client, '/documents', { title: 'Water', folder_id: other.id })
  const page = `/d/${document.id}/move`
  const address = `${page}?knowledge_base=${base}&folder=${folder.id}`
  const fields = hiddenFields((await visitor.get(address)).html, page)
  await client.delete(`/folders/${folder.id}`)
  const late = await visitor.post(page, fields)
  t.match(late, { status: 404, html: /That place no longer exists[\s\S]*><bdi>Other<\/bdi>/ })
  t.equal(late.html.split('no longer exists').length, 2, 'told once')
  t.match((await visitor.get(address)).html, /That place no longer exists[\s\S]*Move it to/)
  const several = { action: 'move', documents: document.id, knowledge_base: String(base), folder: String(folder.id) }
  const kb = `/kb/${base}/folders/${other.id}`
  t.match(await visitor.send(`${kb}/several`, several), { status: 404, html: 'That place no longer exists' })
  t.match(await visitor.send(page, { knowledge_base: '999999999', folder: '' }), {
    status: 404,
    html: 'All knowledge bases',
  })
})

t.test('documents and folders move to where the person walks', async (t) => {
  const { client, base, visitor } = await author()
  const outer = await made(client, '/folders', { name: 'Outer', knowledge_base_id: base })
  const inner = await made(client, '/folders', { name: 'Inner', parent_id: outer.id })
  const other = await made(client, '/knowledge-bases', { name: 'Archive' })
  const document = await made(client, '/documents', { title: 'Water', knowledge_base_id: base })
  const page = `/d/${document.id}/move`
  t.match((await visitor.get(page)).html, 'It is here now')
  t.match((await visitor.get(`${page}?knowledge_base=`)).html, `href="?knowledge_base=${other.id}"><bdi>Archive</bdi>`)
  const step = await visitor.get(`${page}?knowledge_base=${base}&folder=${outer.id}`)
  t.match(step.html, `href="?knowledge_base=${base}&amp;folder=${inner.id}"><bdi>Inner</bdi>`)
  const moved = await visitor.post(page, hiddenFields(step.html, page))
  t.match(moved, { status: 303, location: `/kb/${base}/folders/${outer.id}#item-${document.id}` })
  t.equal((await client.get(`/documents/${document.id}`)).body.data.folder_id, outer.id)
  const folderPage = `/kb/${base}/folders/${outer.id}`
  const cycle = await visitor.send(`${folderPage}/move`, { knowledge_base: String(base), folder: String(inner.id) })
  t.match(cycle, { status: 409, html: 'A folder cannot go into itself' })
  t.equal((await visitor.send(`${folderPage}/move`, { knowledge_base: String(other.id), folder: '' })).status, 303)
  t.match(await visitor.get(folderPage), { status: 303, location: `/kb/${other.id}/folders/${outer.id}` })
  const stranger = await service.signUp()
  const theirs = await made(stranger, '/knowledge-bases', { name: 'Theirs' })
  t.equal((await visitor.send(page, { knowledge_base: String(theirs.id), folder: '' })).status, 404)
})

t.test('what is deleted by mistake comes back with one button', async (t) => {
  const { client, base, visitor } = await author()
  const folder = await made(client, '/folders', { name: 'Rivers', knowledge_base_id: base })
  const document = await made(client, '/documents', { title: 'Water', folder_id: folder.id })
  const page = `/d/${document.id}/delete`
  const asked = await visitor.get(page)
  await client.put(
    `/documents/${document.id}/content`,
    { format: 'markdown', content: 'New words' },
    { 'if-match': '*' },
  )
  const late = await visitor.post(page, hiddenFields(asked.html, page))
  t.match(late, { status: 409, html: 'Somebody has changed the document' }, 'words that nobody has seen stay')
  const deleted = await visitor.post(page, hiddenFields(late.html, page))
  t.match(deleted, { status: 303, location: `/kb/${base}/folders/${folder.id}?deleted=${document.id}` })
  t.equal((await client.get(`/documents/${document.id}`)).status, 404)
  const { html } = await visitor.get(deleted.location ?? '')
  const [, restore = ''] = /action="(\/trash\/[^"]+\/restore)"/.exec(html) ?? []
  t.match(await visitor.post(restore, hiddenFields(html, restore)), { status: 303, location: `/d/${document.id}` })
  t.match((await client.get(`/documents/${document.id}/content?format=markdown`)).body.data.content, 'New words')
  const folderDeleted = await visitor.submit({ page: `/kb/${base}/folders/${folder.id}/delete`, fields: {} })
  t.match(folderDeleted, { status: 303, location: `/kb/${base}?deleted=${folder.id}` })
  t.match((await visitor.get('/trash')).html, '<bdi>Rivers</bdi>')
})

t.test('a knowledge base goes only after its name was typed, and for good only after another question', async (t) => {
  const { client, base, visitor } = await author()
  const folder = await made(client, '/folders', { name: 'Rivers', knowledge_base_id: base })
  const page = `/kb/${base}/delete`
  await visitor.submit({ page: `/kb/${base}/folders/${folder.id}/delete`, fields: {} })
  t.match(await visitor.submit({ page, fields: { name: 'handbook' } }), { status: 400 })
  t.equal((await client.get(`/knowledge-bases/${base}`)).status, 200)
  t.match(await visitor.submit({ page, fields: { name: 'Handbook' } }), { status: 303, location: '/trash' })
  const { html } = await visitor.get('/trash')
  const [first = '', second = ''] = [...html.matchAll(/action="(\/trash\/[^"]+\/restore)"/g)].map(
    ([, path]) => path ?? '',
  )
  t.match(await visitor.post(second, hiddenFields(html, second)), { status: 409, html: 'Restore that first' })
  t.match(await visitor.post(first, hiddenFields(html, first)), { status: 303, location: `/kb/${base}` })
  const purge = second.replace('/restore', '/purge')
  t.match(await visitor.submit({ page: purge, fields: {} }), { status: 303, location: '/trash' })
  t.match((await visitor.get('/trash')).html, 'The trash is empty')
  t.equal((await visitor.get(purge)).status, 404)
})

t.test('a duplicate opens in the editor, and stands beside its original', async (t) => {
  const { client, base, visitor } = await author()
  const document = await made(client, '/documents', { title: 'Water', knowledge_base_id: base, tags: ['blue'] })
  const copy = await visitor.submit({
    page: `/d/${document.id}/organise`,
    action: `/d/${document.id}/duplicate`,
    fields: {},
  })
  t.match(copy, { status: 303, location: /^\/d\/doc_/ })
  t.strictSame(listedIn((await visitor.get(`/kb/${base}`)).html), ['Water', 'Water (copy)'])
})

t.test('a form that is sent after the session has ended leads back to the page of the form', async (t) => {
  const { base } = await author()
  const signedOut = new Visitor(service.origin)
  const { location } = await signedOut.post(`/kb/${base}/organise`, { name: 'x' })
  t.equal(location, `/login?next=${encodeURIComponent(`/kb/${base}/organise`)}`)
})

t.test('tags narrow a knowledge base to the documents that have all of them', async (t) => {
  const { client, base, visitor } = await author()
  const folder = await made(client, '/folders', { name: 'Deep', knowledge_base_id: base })
  await made(client, '/documents', { title: 'Both', folder_id: folder.id, tags: ['a & b', 'new'] })
  await made(client, '/documents', { title: 'One', knowledge_base_id: base, tags: ['new'] })
  await made(client, '/documents', { title: 'None', knowledge_base_id: base })
  const { html } = await visitor.get(`/kb/${base}`)
  t.match(html, `href="/kb/${base}?tag=a+%26+b"`)
  t.strictSame(listedIn((await visitor.get(`/kb/${base}?tag=new`)).html), ['One', 'Both'])
  t.strictSame(listedIn((await visitor.get(`/kb/${base}?tag=NEW&tag=a+%26+b`)).html), ['Both'])
  t.match((await visitor.get(`/kb/${base}?tag=unknown`)).html, 'No document has this tag')
  t.strictSame(listedIn((await visitor.get(`/kb/${base}?sort=changed`)).html), ['None', 'One', 'Both'])
})

t.test('an address with more tags than a document can have is refused, and never shows other documents', async (t) => {
  const { base, visitor } = await author()
  const tags = Array.from({ length: 51 }, (_, index) => `tag=t${index}`).join('&')
  t.match(await visitor.get(`/kb/${base}?${tags}`), { status: 400, html: 'at most 50 tags' })
})

t.test('nobody organises what is not theirs, nor what they may only read', async (t) => {
  const workspace = 'of the viewer'
  const owner = await service.signUp({ workspace })
  const viewer = await service.signUp({ workspace, role: 'viewer' })
  const base = await made(owner, '/knowledge-bases', { name: 'Handbook' })
  const folder = await made(owner, '/folders', { name: 'Rivers', knowledge_base_id: base.id })
  const document = await made(owner, '/documents', { title: 'Water', folder_id: folder.id })
  await owner.delete(`/documents/${(await made(owner, '/documents', { title: 'Old', folder_id: folder.id })).id}`)
  const [entry] = (await owner.get('/trash')).body.data
  const [page, folderPage] = [`/kb/${base.id}`, `/kb/${base.id}/folders/${folder.id}`]
  const reads = await signedInVisitor(service, { userId: viewer.user_id })
  const stranger = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
  for (const path of [page, folderPage, `${page}?arrange=`, '/trash']) {
    const { status, html } = await reads.get(path)
    t.equal(status, 200, path)
    t.notMatch(html.replace(/<form method="post" action="\/logout">/, ''), 'method="post"', `no controls on ${path}`)
  }
  t.notMatch((await stranger.get('/trash')).html, 'Old')
  for (const path of [page, folderPage]) t.equal((await stranger.get(path)).status, 404, path)
  for (const below of ['organise', 'move', 'delete']) {
    for (const of of [`/d/${document.id}`, folderPage, ...(below === 'move' ? [] : [page])]) {
      t.equal((await reads.get(`${of}/${below}`)).status, 403, `a viewer at ${of}/${below}`)
      t.equal((await stranger.get(`${of}/${below}`)).status, 404, `a stranger at ${of}/${below}`)
      const fields = {
        name: 'Handbook',
        was: '',
        knowledge_base: String(base.id),
        folder: '',
        version: document.version,
      }
      t.equal((await reads.send(`${of}/${below}`, fields)).status, 403)
      t.equal((await stranger.send(`${of}/${below}`, fields)).status, 404)
      const forged = new Visitor(service.origin)
      t.equal((await forged.post(`${of}/${below}`, fields)).status, 303, 'nobody is sent to the sign-in page')
    }
  }
  const writes: [string, Record<string, string>][] = [
    [`/d/${document.id}/duplicate`, {}],
    [`${page}/folders`, { name: 'New' }],
    [`${folderPage}/documents`, {}],
    [`${folderPage}/order`, { kind: 'document', item: document.id, before: document.id }],
    [`/trash/${entry.id}/restore`, {}],
    [`/trash/${entry.id}/purge`, {}],
  ]
  for (const [path, fields] of writes) {
    t.equal((await reads.send(path, fields)).status, 403, `a viewer at ${path}`)
    t.equal((await stranger.send(path, fields)).status, 404, `a stranger at ${path}`)
    t.equal((await reads.post(path, fields)).status, 403, `without the token of the session at ${path}`)
  }
  for (const path of ['/kb/0', '/kb/1x', `/kb/${'9'.repeat(30)}`, `${page}/folders/0`, '/trash?knowledge_base=x']) {
    t.equal((await reads.get(path)).status, 404, path)
  }
  t.equal((await owner.get(`/documents/${document.id}`)).status, 200)
})
