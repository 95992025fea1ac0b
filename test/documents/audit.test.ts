import { isRead } from '../../api/http/route.ts'
import { routes } from '../../api/routes/routes.ts'
import { createFixture, validCall, withModel } from '../contract/fixtures.ts'
import { p, text } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { make, put, refused } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { review, translate, unitsOf } from '../support/translations.ts'

const service = await startTestService(t, withModel)

t.test('an owner sees who did what to a document, also when the document is gone, but none of its text', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('Raccoon City'))], { title: 'Umbrella' })
  await ada.patch(`/documents/${id}`, { title: 'Umbrella again' }, { 'user-agent': 'robot/1.2 (My Agent)' })
  await put(ada, id, [p(text('Raccoon City again'))])
  await ada.post(`/documents/${id}/public-share`, { password: 'trunk and tusk' })
  await ada.delete(`/documents/${id}`, undefined, { 'x-request-id': 'the-end' })
  const reply = await ada.get(`/audit?document_id=${id}`)
  t.equal(reply.status, 200)
  t.notMatch(reply.text, /Umbrella|Raccoon|tusk/)
  const { data } = reply.body
  t.strictSame(
    data.map(({ action }: { action: string }) => action),
    ['deleteDocument', 'ensurePublicShare', 'replaceContent', 'updateDocument', 'createDocument'],
  )
  const [deleted, , , updated] = data
  t.match(deleted.id, /^aud_[0-9A-HJKMNP-TV-Z]{26}$/)
  t.type(deleted.created_at, 'number')
  t.strictSame(
    { ...deleted, id: '', created_at: 0, client: null },
    {
      id: '',
      action: 'deleteDocument',
      user_id: ada.user_id,
      token_id: ada.token_id,
      client: null,
      document_id: id,
      created_at: 0,
      details: { method: 'DELETE', path: `/api/v1/documents/${id}`, request_id: 'the-end', is_agent: false },
    },
  )
  t.match(updated, { client: { name: 'My Agent', version: '1.2' }, details: { is_agent: true } })
  const ids = data.map(({ id }: { id: string }) => id)
  t.strictSame([...ids].sort().reverse(), ids, 'ids sort like the entries')
  t.equal(new Set(ids).size, ids.length)
})

t.test('what was refused, rehearsed or answered once more has no entry', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  await ada.patch(`/documents/${id}`, { title: '' })
  await ada.put(`/documents/${id}/content?dry_run=true`, { format: 'markdown', content: 'y' }, { 'if-match': '*' })
  for (let count = 0; count < 2; count++) {
    await ada.post(`/documents/${id}/public-share`, {}, { 'idempotency-key': 'once' })
  }
  t.strictSame(await actions(ada, `document_id=${id}`), ['ensurePublicShare', 'createDocument'])
})

t.test('what was done to a translation is found by the translation, even when it is deleted', async (t) => {
  const ada = await service.signUp()
  const { source, target } = await translate(ada, [p(text('Water'))])
  const [unit] = await unitsOf(ada, target)
  const path = `/documents/${source.id}/translations/${target}`
  await ada.patch(path, { title: 'Eau' })
  await ada.post(`${path}/prepare`, { align: 'by_position' })
  const reviewed = await review(ada, target, { unit: unit?.id ?? '', review_status: 'current' })
  t.equal(reviewed.status, 200, reviewed.text)
  const german = (await ada.post(`/documents/${source.id}/translations`, { locale: 'de' })).body.data.id
  await ada.delete(path)
  t.strictSame(await actions(ada, `document_id=${german}`), ['addTranslation'])
  t.strictSame(await actions(ada, `document_id=${target}`), [
    'deleteTranslation',
    'reviewTranslationUnit',
    'prepareTranslation',
    'updateTranslation',
    'activateTranslation',
  ])
})

t.test('what was restored, deleted for good or duplicated is found by its document', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const entry = async () => {
    await ada.delete(`/documents/${id}`)
    return (await ada.get('/trash')).body.data[0].id
  }
  t.equal((await ada.post(`/trash/${await entry()}/restore`)).status, 200)
  const copy = await ada.post(`/documents/${id}/duplicate`)
  t.equal((await ada.delete(`/trash/${await entry()}`)).status, 204)
  const made = ['createDocument', 'deleteDocument', 'restoreFromTrash', 'duplicateDocument', 'deleteDocument']
  t.strictSame((await actions(ada, `document_id=${id}`)).toReversed(), [...made, 'purgeFromTrash'])
  t.strictSame(await actions(ada, `document_id=${copy.body.data.id}`), ['duplicateDocument'])
})

t.test('entries are found by user, token, action and time, page by page', async (t) => {
  const ada = await service.signUp({ workspace: 'Lab' })
  const bob = await service.signUp({ workspace: 'Lab', role: 'editor' })
  const one = await make(ada, [p(text('x'))])
  const two = await make(bob, [p(text('x'))])
  const gone = await ada.post('/documents/delete', { ids: [one.id, two.id, one.id] })
  t.equal(gone.status, 204)
  const all = (await ada.get('/audit')).body.data
  t.strictSame(
    (await actions(ada, `document_id=${one.id}`)).concat(await actions(ada, `document_id=${two.id}`)),
    ['deleteDocuments', 'createDocument', 'deleteDocuments', 'createDocument'],
    'a write of several documents is found by each',
  )
  t.strictSame(await actions(ada, `user_id=${bob.user_id}`), ['createDocument'])
  t.strictSame(await actions(ada, `token_id=${ada.token_id}&action=deleteDocuments`), [
    'deleteDocuments',
    'deleteDocuments',
  ])
  for (const nothing of ['action=nothing', 'user_id=usr_x', 'token_id=x', 'document_id=doc_x', 'action=%27%3B--']) {
    t.strictSame(await actions(ada, nothing), [], nothing)
  }
  const [newest] = all
  const oldest = all.at(-1)
  const older = all.filter((entry: { created_at: number }) => entry.created_at < newest.created_at)
  t.strictSame((await ada.get(`/audit?before=${newest.created_at}`)).body.data, older)
  const newer = all.filter((entry: { created_at: number }) => entry.created_at > oldest.created_at)
  t.strictSame((await ada.get(`/audit?after=${oldest.created_at}`)).body.data, newer)
  t.strictSame(await actions(ada, 'before=2000-01-01'), [])
  t.strictSame((await ada.get('/audit?after=2000-01-01')).body.data, all)
  const pages = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const reply = await ada.get(`/audit?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    pages.push(...reply.body.data)
    cursor = reply.body.page.next_cursor
  }
  t.strictSame(pages, all)
  for (const wrong of ['after=yesterday', 'before=', 'limit=0', 'action=', 'user_id=a&user_id=b']) {
    refused(t, await ada.get(`/audit?${wrong}`), { status: 400, code: 'invalid_request' })
  }
  const { page } = (await ada.get('/audit?limit=1')).body
  refused(t, await ada.get(`/audit?limit=1&action=x&cursor=${page.next_cursor}`), {
    status: 400,
    code: 'invalid_cursor',
  })
})

t.test('only owners read the audit, and only of what they own', async (t) => {
  const owner = await service.signUp({ workspace: 'Owned' })
  const editor = await service.signUp({ workspace: 'Owned', role: 'editor' })
  const viewer = await service.signUp({ workspace: 'Owned', role: 'viewer' })
  for (const client of [editor, viewer]) {
    const reply = await client.get('/audit')
    refused(t, reply, { status: 403, code: 'forbidden' })
    t.strictSame(reply.body.error.details, { required_role: 'owner' })
  }
  const { id } = await make(editor, [p(text('x'))])
  t.strictSame(await actions(owner, `document_id=${id}`), ['createDocument'])
  const email = 'half@example.test'
  await service.signUp({ email, workspace: 'Owned', role: 'viewer' })
  const half = await service.signUp({ email, workspace: 'Own' })
  t.strictSame(await actions(half, ''), [], 'a workspace of which one is no owner stays closed')
  const stranger = await service.signUp()
  t.strictSame(await actions(stranger, `document_id=${id}`), [])
})

t.test('every write of the interface is in the audit of its workspace', async (t) => {
  const email = 'both@example.test'
  await service.signUp({ email, workspace: 'First' })
  const both = await service.signUp({ email, workspace: 'Second' })
  const first = await service.signUp({ workspace: 'First' })
  for (const spec of routes) {
    if (isRead(spec) || spec.access === 'anyone') continue
    const fixture = await createFixture(both, spec)
    const reply = await validCall({ client: both, spec, fixture })
    if (reply.status >= 300) continue
    const { data } = (await first.get(`/audit?user_id=${both.user_id}&limit=1`)).body
    t.match(data, [{ action: spec.operationId, token_id: both.token_id }], `${spec.method} ${spec.path}`)
    if (spec.path.startsWith('/documents/{id}')) t.match(data, [{ document_id: fixture.documentId }], spec.path)
  }
})

async function actions(client: Client, query: string): Promise<string[]> {
  const reply = await client.get(`/audit?${query}`)
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.body.data.map(({ action }: { action: string }) => action)
}
