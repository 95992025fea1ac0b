import type { Client } from '../support/client.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor } from '../support/visitor.ts'

const service = await sharedService()

t.test('a person chooses documents in a folder and moves them to another', async (t) => {
  const { ada, visitor, kb, ids } = await start()
  const { data: folder } = (await ada.post('/folders', { name: 'Rivers', knowledge_base_id: Number(kb.slice(4)) })).body
  const list = (await visitor.get(`${kb}?select=`)).html
  for (const id of ids) t.match(list, `type="checkbox" name="document" value="${id}"`)
  t.match(list, `action="${kb}/several"`)
  const chosen = `${kb}/several?${queryOf(ids.slice(0, 2))}&do=move`
  const { html } = await visitor.get(chosen)
  t.match(html, 'Move 2 documents')
  t.match(html, '<bdi>Nile &lt;1&gt;</bdi>')
  t.match(html, 'They are here now')
  const [, there = ''] = new RegExp(`href="(\\?[^"]*folder=${folder.id}[^"]*)"`).exec(html) ?? []
  t.match(
    (await visitor.get(`${kb}/several${there.replaceAll('&amp;', '&')}`)).html,
    'Move them to “<bdi>Rivers</bdi>”',
  )

  const fields = { knowledge_base: kb.slice(4), folder: String(folder.id), documents: ids.slice(0, 2).join(' ') }
  const moved = await visitor.send(`${kb}/several`, { ...fields, action: 'move' })
  t.match(moved, { status: 303, location: `${kb}/folders/${folder.id}` })
  const { data } = (await ada.get(`/folders/${folder.id}/children`)).body
  t.equal(data.length, 2)
  t.equal((await visitor.send(`${kb}/several`, fields)).status, 400, 'a form without its button does nothing')
})

t.test('documents are deleted together after a question, all or none', async (t) => {
  const { ada, visitor, kb, ids } = await start()
  const { html } = await visitor.get(`${kb}/several?${queryOf(ids.slice(0, 2))}&do=delete`)
  t.match(html, 'Delete 2 documents?')
  await ada.delete(`/documents/${ids[0]}`)
  const send = (page: string) =>
    visitor.send(`${kb}/several`, { ...hiddenFields(page, `${kb}/several`), action: 'delete' })
  t.match(await send(html), { status: 422, html: 'Delete 1 document?' })
  t.equal((await ada.get('/documents')).body.data.length, 2, 'and nothing is deleted')
  const question = await visitor.get(`${kb}/several?${queryOf(ids.slice(1))}&do=delete`)
  await ada.patch(`/documents/${ids[1]}`, { title: 'Renamed' })
  const content = { format: 'markdown', content: 'Written meanwhile.' }
  await ada.put(`/documents/${ids[1]}/content`, content, { 'if-match': '*' })
  const changed = await send(question.html)
  t.match(changed, { status: 409, html: /Somebody has changed .*Renamed.* since you chose it/ })
  t.equal((await ada.get('/documents')).body.data.length, 2, 'what others have written is not deleted unseen')
  const gone = await send(changed.html)
  t.match(gone, { status: 303, location: `${kb}?deleted_documents=2` })
  t.match((await visitor.get(gone.location ?? '')).html, '2 documents were deleted')
  t.strictSame((await ada.get('/documents')).body.data, [])
  t.equal((await ada.get('/trash')).body.data.length, 3)
})

t.test('viewers choose nothing, strangers see nothing, and too many at once are refused', async (t) => {
  const { ada, visitor, kb, ids } = await start({ workspace: 'chosen together' })
  const { user_id } = await service.signUp({ workspace: 'chosen together', role: 'viewer' })
  const viewer = await signedInVisitor(service, { userId: user_id })
  t.notMatch((await viewer.get(`${kb}?select=`)).html, 'checkbox')
  const stranger = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
  for (const [person, status] of [
    [viewer, 403],
    [stranger, 404],
  ] as const) {
    t.equal((await person.get(`${kb}/several?${queryOf(ids)}`)).status, status)
    t.equal((await person.send(`${kb}/several`, { action: 'delete', documents: ids.join(' ') })).status, status)
    const to = { knowledge_base: kb.slice(4), action: 'move', documents: ids.join(' ') }
    t.ok([403, 404].includes((await person.send(`${kb}/several`, to)).status))
  }
  t.equal((await ada.get('/documents')).body.data.length, 3)
  t.match(await visitor.get(`${kb}/several`), { status: 303, location: `${kb}?select=` })
  const many = queryOf(Array.from({ length: 101 }, (_, number) => `doc_${number}`))
  t.match(await visitor.get(`${kb}/several?${many}`), { status: 400, html: 'At most 100 documents' })
  const named = Array.from({ length: 101 }, (_, number) => `doc_${number}`).join(' ')
  t.equal((await visitor.send(`${kb}/several`, { action: 'delete', documents: named })).status, 400)
})

async function start(options: { workspace?: string } = {}) {
  const ada: Awaited<ReturnType<typeof service.signUp>> = await service.signUp(options)
  const visitor = await signedInVisitor(service, { userId: ada.user_id })
  const { data: base } = (await ada.post('/knowledge-bases', { name: 'Waters' })).body
  const ids: string[] = []
  for (const number of [1, 2, 3]) ids.push(await made(ada, { title: `Nile <${number}>`, knowledge_base_id: base.id }))
  return { ada, visitor, kb: `/kb/${base.id}`, ids }
}

async function made(ada: Client, body: object): Promise<string> {
  return (await ada.post('/documents', body)).body.data.id
}

function queryOf(ids: readonly string[]): string {
  return new URLSearchParams(ids.map((id): [string, string] => ['document', id])).toString()
}
