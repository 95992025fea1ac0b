import { p, text } from '../document/build.ts'
import { bodyOf, make, put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor } from '../support/visitor.ts'

t.test('a reader sees who changed what and when, page by page', async (t) => {
  const { service, ada, visitor } = await start(t, { VERSIONS_RETENTION: '45' })
  const grace = await service.signUp({ email: 'grace@example.test', workspace: 'Zoo', role: 'editor' })
  const { id } = await make(ada, [p('text 0')], { title: 'Big <animals>' })
  const page = `/d/${id}/history`
  t.match((await visitor.get(page)).html, 'No version is kept yet')
  for (let number = 1; number <= 43; number++) await put(number === 43 ? grace : ada, id, [p(`text ${number}`)])
  const first = await visitor.get(page)
  t.equal(first.status, 200)
  t.match(first.html, 'Big &lt;animals&gt;')
  t.match(first.html, 'From version 43 to the current text')
  t.match(first.html, /Changed <time datetime="[^"]+">[^<]+UTC<\/time> · <bdi>grace<\/bdi>/)
  t.strictSame(versionsOn(first.html), numbers(43, 24))
  const second = await visitor.get(`${page}?before=24`)
  t.strictSame(versionsOn(second.html), numbers(23, 4))
  const last = await visitor.get(`${page}?before=4`)
  t.strictSame(versionsOn(last.html), numbers(3, 1))
  t.notMatch(last.html, 'Older versions')
  t.match(last.html, `${page}?from=1&amp;to=2&amp;before=4`, 'the page of the list stays while changes are looked at')
  t.notMatch(last.html, 'aria-label="What changed in version 1"', 'nothing is known before the first version')
  const two = await visitor.get(`${page}?from=3&to=40`)
  t.match(two.html, 'From version 3 to version 40')
  t.match(two.html, 'text <del>2</del><ins>39</ins>', 'an edit is shown as one, although the ids were replaced')
})

t.test('a difference shows words, and what people wrote is text', async (t) => {
  const { ada, visitor } = await start(t)
  const made = await make(ada, [p('One <b>two</b> three.'), p('gone')])
  const [first] = made.blocks
  await put(ada, made.id, [{ ...first, content: [text('One <i>two</i> three.')] }, p('new')] as typeof made.blocks)
  const { html, headers } = await visitor.get(`/d/${made.id}/history`)
  t.match(html, /One &lt;<del>b<\/del><ins>i<\/ins>&gt;two/)
  t.match(html, /<del><p [^>]*>gone<\/p><\/del>/)
  t.match(html, /<ins><p [^>]*>new<\/p><\/ins>/)
  t.match(html, 'Blocks: 1 changed, 1 added, 1 removed.')
  t.notMatch(headers.get('content-security-policy'), /script-src|unsafe-inline/)
  const same = await visitor.get(`/d/${made.id}/history?from=current&to=current`)
  t.match(same.html, 'Both texts are the same')
})

t.test('a version is shown as it was, with the pictures of the document', async (t) => {
  const { ada, visitor } = await start(t)
  const { id } = await make(ada, [p('as it was')])
  await put(ada, id, [p('as it is')])
  const { status, html } = await visitor.get(`/d/${id}/versions/1`)
  t.equal(status, 200)
  t.match(html, 'as it was')
  t.notMatch(html, 'as it is')
  t.match(html, /kept <time datetime="[^"]+">[^<]+<\/time> for <bdi>ada<\/bdi>/)
})

t.test('a version comes back after a question that says what is lost, and in no other text', async (t) => {
  const { ada, visitor } = await start(t, { VERSIONS_RETENTION: '2' })
  const { id, etag } = await make(ada, [p('first')])
  await put(ada, id, [p('second')])
  const action = `/d/${id}/versions/1/restore`
  const asked = await visitor.get(action)
  t.match(asked.html, /<del><p [^>]*>second<\/p><\/del>/)
  t.match(asked.html, /<ins><p [^>]*>first<\/p><\/ins>/)
  t.match(asked.html, 'The current text is kept as version 2')
  t.notMatch(asked.html, 'is dropped for good')
  const fields = hiddenFields(asked.html, action)
  await put(ada, id, [p('third')])
  const late = await visitor.post(action, fields)
  t.match(late, { status: 409, html: 'changed in the meantime, so nothing was brought back' })
  t.match(late.html, /<del><p [^>]*>third<\/p><\/del>/, 'the page says what would be lost now')
  t.match(late.html, 'Version 1 is dropped for good')
  t.match((await bodyOf(ada, id)).blocks, [p('third')])
  const restored = await visitor.post(action, hiddenFields(late.html, action))
  t.match(restored, { status: 303, location: `/d/${id}/history?restored=1` })
  t.equal((await bodyOf(ada, id)).etag, etag)
  t.match((await visitor.get(restored.location ?? '')).html, 'Version 1 is the current text again')
  t.match((await visitor.get(`/d/${id}/versions/3`)).html, 'third', 'what was replaced is kept')
  const gone = await visitor.get(action)
  t.match(gone, { status: 404, html: 'This version is not kept' })
  t.match(await visitor.post(action, fields), { status: 404 })
  const { data } = (await ada.get(`/audit?document_id=${id}`)).body
  t.match(data[0], { action: 'rollbackDocument', user_id: ada.user_id })
})

t.test('of two people who restore at once, the second is asked again', async (t) => {
  const { ada, visitor } = await start(t)
  const { id } = await make(ada, [p('first')])
  await put(ada, id, [p('second')])
  await put(ada, id, [p('third')])
  const actions = [1, 2].map((seq) => `/d/${id}/versions/${seq}/restore`)
  const forms = await Promise.all(actions.map(async (path) => hiddenFields((await visitor.get(path)).html, path)))
  const answers = await Promise.all(actions.map((path, index) => visitor.post(path, forms[index] ?? {})))
  t.strictSame(answers.map(({ status }) => status).toSorted(), [303, 409])
  const { body } = await ada.get(`/documents/${id}/versions`)
  t.equal(body.data.length, 3, 'the text before is kept once')
})

t.test('there is nothing to restore where the texts are the same', async (t) => {
  const { ada, visitor } = await start(t)
  const { id, blocks } = await make(ada, [p('same')])
  await put(ada, id, blocks)
  const { html } = await visitor.get(`/d/${id}/versions/1/restore`)
  t.match(html, 'nothing to restore')
  t.notMatch(html, /<form method="post" action="\/d/)
})

t.test('viewers read the history and restore nothing; strangers and other sites get nothing', async (t) => {
  const { service, ada, visitor } = await start(t)
  const { id } = await make(ada, [p('first')])
  await put(ada, id, [p('second')])
  const { etag } = await bodyOf(ada, id)
  const [history, version, restore] = [`/d/${id}/history`, `/d/${id}/versions/1`, `/d/${id}/versions/1/restore`]
  const fields = hiddenFields((await visitor.get(restore)).html, restore)
  const viewer = await service.signUp({ workspace: 'Zoo', role: 'viewer' })
  const reader = await signedInVisitor(service, { userId: viewer.user_id })
  for (const path of [history, version]) {
    const { status, html } = await reader.get(path)
    t.equal(status, 200)
    t.notMatch(html, 'Restore')
  }
  t.equal((await reader.get(restore)).status, 403)
  t.equal((await reader.send(restore, { version: fields['version'] ?? '' })).status, 403)
  const stranger = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
  for (const path of [history, version, restore]) t.equal((await stranger.get(path)).status, 404, path)
  t.equal((await stranger.send(restore, { version: fields['version'] ?? '' })).status, 404)
  t.equal((await visitor.post(restore, { version: fields['version'] ?? '' })).status, 403, 'no token of the form')
  t.equal((await bodyOf(ada, id)).etag, etag)
})

t.test('an address that names no version is answered with a page that says so', async (t) => {
  const { ada, visitor } = await start(t)
  const { id } = await make(ada, [p('first')])
  await put(ada, id, [p('second')])
  for (const query of ['from=7', 'from=1&to=99999999999999999999', 'from=0', 'from=x', 'from=1&to=%00', 'from=-1']) {
    t.equal((await visitor.get(`/d/${id}/history?${query}`)).status, query.includes('%00') ? 200 : 404, query)
  }
  for (const seq of ['7', '0', 'x', '99999999999999999999', 'current']) {
    t.equal((await visitor.get(`/d/${id}/versions/${seq}`)).status, 404, seq)
    t.equal((await visitor.get(`/d/${id}/versions/${seq}/restore`)).status, 404, seq)
  }
  t.equal((await visitor.get(`/d/${id}/history?before=x&restored=<b>`)).status, 200)
})

async function start(t: Test, env: Record<string, string> = {}) {
  const service = await startTestService(t, env)
  const ada = await service.signUp({ email: 'ada@example.test', workspace: 'Zoo' })
  return { service, ada, visitor: await signedInVisitor(service, { userId: ada.user_id }) }
}

function versionsOn(html: string): number[] {
  return Array.from(html.matchAll(/\/versions\/(\d+)">Version/g), (match) => Number(match[1]))
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, index) => from - index)
}
