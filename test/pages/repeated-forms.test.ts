import { liveTokens } from '../../shared/auth/queries.ts'
import { p } from '../document/build.ts'
import { Client } from '../support/client.ts'
import { make } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor, type Visit, type Visitor } from '../support/visitor.ts'

const service = await sharedService()

t.test('a form that is sent twice creates once, and both answers lead to what was created', async (t) => {
  const { ada, visitor, kb, id } = await start()
  const languages = { operation: 'activate', locale: 'en', targets: 'de', mode: 'blank' }
  const forms: { page: string; action: string; fields: Record<string, string> }[] = [
    { page: '/', action: '/kb', fields: { name: 'Plans', first: 'document' } },
    { page: kb, action: `${kb}/documents`, fields: {} },
    { page: kb, action: `${kb}/folders`, fields: { name: 'Rivers' } },
    { page: `/d/${id}/organise`, action: `/d/${id}/duplicate`, fields: {} },
    { page: `/d/${id}/sharing`, action: `/d/${id}/sharing`, fields: { action: 'create' } },
    { page: `/d/${id}/translations`, action: `/d/${id}/translations`, fields: languages },
  ]
  for (const { page, action, fields } of forms) {
    const form = { ...hiddenFields(formWithKey(await visitor.get(page), action), action), ...fields }
    const before = await countAll(ada)
    const first = await visitor.post(action, form)
    t.equal(first.status, 303, action)
    const after = await countAll(ada)
    t.notSame(after, before, `${action} creates`)
    t.match(await visitor.post(action, form), { status: 303, location: first.location }, `${action} leads to the same`)
    t.strictSame(await countAll(ada), after, `${action} creates once`)
  }
})

t.test('a second click while the first form is still worked on creates nothing', async (t) => {
  const { ada, visitor, kb } = await start()
  const before = (await ada.get('/documents')).body.data.length
  const action = `${kb}/documents`
  const form = hiddenFields((await visitor.get(kb)).html, action)
  const answers = await Promise.all(Array.from({ length: 5 }, () => visitor.post(action, form)))
  const [first] = answers
  for (const answer of answers) t.match(answer, { status: 303, location: first?.location })
  t.equal((await ada.get('/documents')).body.data.length, before + 1)
})

t.test('a token form that is sent twice makes one token, and both answers show it', async (t) => {
  const { ada, visitor } = await start()
  const action = '/account/tokens'
  const form = { ...hiddenFields((await visitor.get(action)).html, action), name: 'Backup', access: 'read_only' }
  const answers = await Promise.all([visitor.post(action, form), visitor.post(action, form)])
  const shown = [...answers, await visitor.post(action, form)].map(
    ({ html }) => /id="token"[^>]*>([^<]+)</.exec(html)?.[1],
  )
  t.match(shown[0], /^svc_tok_/)
  t.equal(new Set(shown).size, 1)
  t.equal(await liveTokens(service.database, ada.user_id), 2, 'and the token of the test')
  const token = shown[0] ?? ''
  t.equal((await new Client({ origin: service.origin, token }).get('/me')).status, 200)
  t.equal((await ada.post('/auth/revoke', { token })).status, 204)
  t.notMatch((await visitor.post(action, form)).html, 'svc_tok_', 'a revoked token is not offered again')
  const other = hiddenFields((await visitor.get(action)).html, action)
  t.match((await visitor.post(action, { ...form, ...other })).html, 'id="token"')
})

t.test('a form that is filled in anew, or by somebody else, creates again', async (t) => {
  const { ada, visitor, kb } = await start({ workspace: 'of two' })
  const action = `${kb}/folders`
  const form = hiddenFields((await visitor.get(kb)).html, action)
  const made = [
    await visitor.post(action, { ...form, name: 'One' }),
    await visitor.post(action, { ...form, name: 'Two' }),
  ]
  t.equal(new Set(made.map(({ location }) => location)).size, 2)
  const bob = await service.signUp({ workspace: 'of two' })
  const other = await signedInVisitor(service, { userId: bob.user_id })
  const { form_key = '' } = form
  const others = { ...hiddenFields((await other.get(kb)).html, action), form_key, name: 'One' }
  t.not((await other.post(action, others)).location, made[0]?.location)
  t.equal((await countAll(ada)).folders, 3)
})

t.test('a form that was refused can be sent again', async (t) => {
  const { visitor, kb } = await start()
  const action = `${kb}/folders`
  const form = hiddenFields((await visitor.get(kb)).html, action)
  t.equal((await visitor.post(action, { ...form, name: '' })).status, 400)
  t.equal((await visitor.post(action, { ...form, name: 'Rivers' })).status, 303)
})

t.test('an upload that is sent twice creates its documents once, and changed files again', async (t) => {
  const { ada, visitor, kb } = await start()
  const before = (await ada.get('/documents')).body.data.length
  const { csrf_token = '', form_key = '' } = hiddenFields((await visitor.get(`${kb}/upload`)).html, `${kb}/upload`)
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const send = async (text: string) => {
    const body = new FormData()
    for (const [name, value] of Object.entries({ csrf_token, form_key })) body.set(name, value)
    body.append('files', new Blob([text]), 'nile.md')
    const address = `${service.origin}${kb}/upload`
    return (await fetch(address, { method: 'POST', headers: { cookie }, body, redirect: 'manual' })).headers.get(
      'location',
    )
  }
  const [first, second, changed] = [await send('one'), await send('one'), await send('two')]
  t.match(first, /^\/d\/doc_/)
  t.equal(second, first)
  t.not(changed, first)
  t.equal((await ada.get('/documents')).body.data.length, before + 2)
})

t.test('a candidate that is accepted twice is told as accepted, not as reviewed by somebody else', async (t) => {
  const { visitor, id } = await start()
  const page = `/d/${id}/concepts`
  await visitor.send(page, { operation: 'extract' })
  const form = { ...hiddenFields(formWithKey(await visitor.get(page), page), page), operation: 'accept' }
  const [first, second] = [await visitor.post(page, form), await visitor.post(page, form)]
  t.match(first, { status: 303, location: `${page}?done=accept` })
  t.match(second, { status: 303, location: first.location })
})

t.test('a second click on a form that changes or deletes is told what the first has done', async (t) => {
  const { ada, visitor, kb, id } = await start()
  const folderId = (await ada.post('/folders', { name: 'Lakes', knowledge_base_id: Number(kb.slice(4)) })).body.data.id
  const folder = `${kb}/folders/${folderId}`
  const forms: { page: string; action: string; fields: Record<string, string> }[] = [
    { page: `/d/${id}/organise`, action: `/d/${id}/organise`, fields: { name: 'Rivers' } },
    { page: `${folder}/organise`, action: `${folder}/organise`, fields: { name: 'Seas' } },
    { page: `/d/${id}/properties`, action: `/d/${id}/properties`, fields: { add: 'wet', action: 'tags' } },
    { page: `/d/${id}/delete`, action: `/d/${id}/delete`, fields: {} },
    { page: `${folder}/delete`, action: `${folder}/delete`, fields: {} },
  ]
  for (const { page, action, fields } of forms) {
    const shown = await visitor.get(page)
    const form = { ...hiddenFields(formWithKey(shown, action), action), ...fields }
    const answers = [
      ...(await Promise.all([visitor.post(action, form), visitor.post(action, form)])),
      await visitor.post(action, form),
    ]
    const [first] = answers
    t.equal(first?.status, 303, action)
    for (const answer of answers) t.match(answer, { status: 303, location: first?.location }, action)
  }
})

t.test('a form that finds a change of somebody else is refused, whatever was sent from the page before', async (t) => {
  const { ada, visitor, id } = await start()
  const action = `/d/${id}/organise`
  const form = hiddenFields(formWithKey(await visitor.get(action), action), action)
  t.match(await visitor.post(action, { ...form, name: 'Mine' }), { status: 303 })
  await ada.patch(`/documents/${id}`, { title: 'Theirs' })
  t.match(await visitor.post(action, { ...form, name: 'Mine again' }), { status: 409 })
  t.equal((await ada.get(`/documents/${id}`)).body.data.title, 'Theirs')
})

async function start(options: { workspace?: string } = {}) {
  const ada = await service.signUp(options)
  const visitor: Visitor = await signedInVisitor(service, { userId: ada.user_id })
  const { data: base } = (await ada.post('/knowledge-bases', { name: 'Handbook' })).body
  const made = await make(ada, [p('About drinking')], { title: 'Water', knowledge_base_id: base.id })
  return { ada, visitor, kb: `/kb/${base.id}`, id: made.id }
}

// The part of a page from the form that creates something.
function formWithKey({ html }: Visit, action: string): string {
  const forms = html.split('<form').slice(1)
  const form = forms.find((text) => text.includes(`action="${action}"`) && text.includes('name="form_key"')) ?? ''
  return `<form${form}`
}

async function countAll(ada: Client) {
  const lists = ['/knowledge-bases', '/documents?include_variants=true', '/public-shares'].map(
    async (list) => (await ada.get(list)).body.data,
  )
  const [bases, documents, shares] = await Promise.all(lists)
  const folders = bases.reduce((sum: number, base: { folder_count: number }) => sum + base.folder_count, 0)
  return { bases: bases.length, documents: documents.length, shares: shares.length, folders }
}
