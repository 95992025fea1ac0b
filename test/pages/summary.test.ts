import { summaryWriter } from '../../workers/summaries.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor } from '../support/visitor.ts'
import { rewrite, startWorkers, write } from '../support/workers.ts'

const markdown = '# Elephants\n\nThey drink.\n\n## Food\n\nThey eat \\<grass>.'

t.test('a reader sees the summary of each level, and whether the text has changed since', async (t) => {
  const { ada, visitor } = await start(t)
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data
  const folder = (await ada.post('/folders', { name: 'Large & <grey>', knowledge_base_id: base.id })).body.data
  const { id } = await write(ada, markdown, { title: 'Big <animals>', folder_id: folder.id })
  const page = `/d/${id}/summary`
  const whole = await visitor.get(page)
  t.equal(whole.status, 200)
  t.match(whole.html, 'Nothing is stored')
  t.match(whole.html, 'Large &amp; &lt;grey&gt;')
  t.match(textOf(whole.html), 'Big &lt;animals&gt;')
  t.match(textOf((await visitor.get(`${page}?of=folder-${folder.id}`)).html), 'Big &lt;animals&gt;')
  t.match(textOf((await visitor.get(`${page}?of=knowledge_base`)).html), 'Large &amp; &lt;grey&gt;')
  const food = /of=(block_\w+)"><bdi>Food/.exec(whole.html)?.[1] ?? ''
  t.match(textOf((await visitor.get(`${page}?of=${food}`)).html), 'They eat &lt;grass&gt;')

  const made = await visitor.submit({ page, fields: { generator: 'deterministic' } })
  t.match(made, { status: 303, location: `${page}?of=document` })
  t.match((await visitor.get(page)).html, 'The text has not changed since')
  await rewrite(ada, id, '# Mice')
  t.match((await visitor.get(page)).html, /Stale<\/span> The text has changed since/)
  const gone = await visitor.get(`${page}?of=${food}`)
  t.match(gone, { status: 200, html: 'That section or folder is no longer there' })
})

t.test('a summary that somebody wrote is only replaced knowingly, and never in another version', async (t) => {
  const { ada, visitor } = await start(t)
  const { id, version } = await write(ada, markdown)
  const page = `/d/${id}/summary`
  const put = (text: string, pinned: boolean) =>
    ada.put(`/documents/${id}/summary`, { text, base_source_version: version, pinned }, { 'if-match': '*' })
  await put('By hand.', false)
  const fields = { ...hiddenFields((await visitor.get(page)).html, page), generator: 'deterministic' }
  t.match(await visitor.post(page, fields), { status: 428, html: 'Confirm that it may be replaced' })
  await put('By another hand.', false)
  const late = await visitor.post(page, { ...fields, replace: 'yes' })
  t.match(late, { status: 409, html: 'Somebody has changed this summary in the meantime' })
  t.equal(textOf(late.html), 'By another hand.')
  await put('Pinned.', true)
  t.notMatch((await visitor.get(page)).html, 'Make anew')
  t.match(await visitor.post(page, { ...fields, replace: 'yes' }), { status: 409, html: 'This summary is pinned' })
  await put('By hand again.', false)
  const now = { ...hiddenFields((await visitor.get(page)).html, page), generator: 'deterministic', replace: 'yes' }
  t.match(await visitor.post(page, now), { status: 303 })
  t.match(textOf((await visitor.get(page)).html), 'Elephants')
  const { data } = (await ada.get(`/audit?document_id=${id}`)).body
  t.match(data[0], { action: 'rebuildDocumentSummary', user_id: ada.user_id })
})

t.test('a model writes the summary as a job whose state and whose end the page tells', async (t) => {
  const stub = await startModelStub(t)
  const { ada, service, visitor } = await start(t, stub.env)
  await startWorkers(t, service, [summaryWriter])
  const { id } = await write(ada, markdown)
  const page = `/d/${id}/summary`
  const isDone = async () => !(await visitor.get(page)).html.includes('data-pending')
  const release = stub.hold()
  const asked = await visitor.submit({ page, fields: { generator: 'model' } })
  t.match(asked.location, /\?of=document&job=sjob_/)
  t.match((await visitor.get(page)).html, 'data-pending')
  await until(async () => stub.requests.length > 0)
  t.match((await visitor.get(page)).html, 'The model is writing a new summary')
  release({ text: 'They <drink>.' })
  await until(isDone)
  t.equal(textOf((await visitor.get(page)).html), 'They &lt;drink&gt;.')
  stub.answerWith(() => ({ status: 400 }))
  const failed = await visitor.submit({ page, fields: { generator: 'model' } })
  await until(isDone)
  t.match((await visitor.get(failed.location ?? '')).html, 'The model made no summary')
  const query = failed.location?.split('?')[1] ?? ''
  const other = await write(ada, markdown)
  const levels = [`/d/${other.id}/summary?${query}`, `${page}?${query.replace('of=document', 'of=knowledge_base')}`]
  for (const level of levels) t.notMatch((await visitor.get(level)).html, 'The model made no summary', level)
})

t.test('the page says that no model is configured, and a viewer can change nothing', async (t) => {
  const { ada, service, visitor } = await start(t)
  const { id } = await write(ada, markdown)
  const page = `/d/${id}/summary`
  t.match((await visitor.get(page)).html, 'No model is configured')
  t.match(await visitor.submit({ page, fields: { generator: 'model' } }), {
    status: 503,
    html: 'No model is configured',
  })
  const viewer = await service.signUp({ workspace: 'Zoo', role: 'viewer' })
  const reader = await signedInVisitor(service, { userId: viewer.user_id })
  const seen = await reader.get(page)
  t.equal(seen.status, 200)
  t.notMatch(seen.html, 'Make anew')
  t.equal((await reader.send(page, { of: 'document', tag: 'summary:0', operation: 'rebuild' })).status, 403)
  t.match((await reader.get(page)).html, 'Nothing is stored')
})

t.test('strangers, other sites and wrong levels get nothing', async (t) => {
  const { ada, service, visitor } = await start(t)
  const { id } = await write(ada, markdown)
  const page = `/d/${id}/summary`
  const stranger = await service.signUp()
  const other = await signedInVisitor(service, { userId: stranger.user_id })
  t.equal((await other.get(page)).status, 404)
  t.equal((await other.send(page, { of: 'document', tag: 'summary:0' })).status, 404)
  t.equal((await visitor.post(page, { of: 'document', tag: 'summary:0' })).status, 403, 'without the token of the form')
  for (const level of ['folder-1', '']) {
    const gone = await visitor.send(page, { of: level, tag: 'summary:0' })
    t.match(gone, { status: 404, html: 'That section or folder is no longer there' })
  }
  t.match((await visitor.get(page)).html, 'Nothing is stored')
})

t.test('a script gets the content of a panel alone', async (t) => {
  const { ada, visitor } = await start(t)
  const { id } = await write(ada, markdown)
  const { html } = await visitor.get(`/d/${id}/summary`, { 'x-fragment': 'true' })
  t.match(html.trim(), /^<section class="panel" data-panel="summary">/)
  t.notMatch(html, /<html|<script/)
})

async function start(t: Test, env: Record<string, string> = {}) {
  const service = await startTestService(t, env)
  const ada = await service.signUp({ workspace: 'Zoo' })
  return { service, ada, visitor: await signedInVisitor(service, { userId: ada.user_id }) }
}

function textOf(html: string): string {
  return /<div class="summary-text"[^>]*>([^<]*)</.exec(html)?.[1] ?? ''
}

t.test('a person writes a summary, pins and unpins it, and loses no word when something has changed', async (t) => {
  const { ada, visitor } = await start(t)
  const { id } = await write(ada, markdown)
  const page = `/d/${id}/summary`
  const form = async () => {
    const { html } = await visitor.get(page)
    return hiddenFields(html.split('<details class="write"')[1] ?? '', page)
  }
  const first = { ...(await form()), operation: 'save' }
  t.match(await visitor.post(page, { ...first, text: 'By \r\nhand <b>.', pinned: 'yes' }), { status: 303 })
  const { data } = (await ada.get(`/documents/${id}/summary`)).body
  t.match(data, { text: 'By \nhand <b>.', pinned: true, generator: 'manual', updated_by: ada.user_id })
  t.match((await visitor.get(page)).html, '\nBy \nhand &lt;b&gt;.</textarea>')

  const late = await visitor.post(page, { ...first, text: 'Typed <late>', pinned: 'yes' })
  t.match(late, { status: 409, html: 'Somebody has changed this summary in the meantime' })
  t.match(late.html, 'Typed &lt;late&gt;</textarea>')
  const second = { ...(await form()), operation: 'save', text: 'Mice' }
  await rewrite(ada, id, '# Mice')
  const moved = await visitor.post(page, second)
  t.match(moved, { status: 409, html: 'The document has changed since you loaded this page' })
  t.match(moved.html, 'Mice</textarea>')
  const again = hiddenFields(moved.html.split('<details class="write"')[1] ?? '', page)
  t.match(await visitor.post(page, { ...second, ...again }), { status: 303 })
  t.match((await ada.get(`/documents/${id}/summary`)).body.data, { text: 'Mice', pinned: false, freshness: 'current' })
  for (const text of ['', '  ', 'x'.repeat(20_001)]) {
    const refused = await visitor.post(page, { ...(await form()), operation: 'save', text })
    t.match(refused, { status: 400, html: 'A summary has 1 to 20000 characters' })
  }
  t.equal((await visitor.post(page, { ...(await form()), operation: 'save', text: '😀'.repeat(20_000) })).status, 303)
  const actions = ((await ada.get(`/audit?document_id=${id}`)).body.data as { action: string }[]).map(
    (one) => one.action,
  )
  t.equal(actions.filter((action) => action === 'putDocumentSummary').length, 3)
})
