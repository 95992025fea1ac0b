import type { Client } from '../support/client.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { signedInVisitor } from '../support/visitor.ts'

const service = await sharedService()

t.test('a person sees the tags of a knowledge base, renames, merges and removes them', async (t) => {
  const { ada, visitor, page } = await start()
  const { html } = await visitor.get(page)
  t.match(html, /<bdi>&lt;river&gt;<\/bdi><\/a> <span class="hint">2 documents/)
  t.match((await visitor.get(page.replace('/tags', ''))).html, `href="${page}">Tags`)

  const renamed = await visitor.send(`${page}/change`, { action: 'rename', tag: '<RIVER>', name: ' Stream ' })
  t.match(renamed, { status: 303, location: `${page}?done=renamed` })
  t.strictSame(await tagsOf(ada), { Stream: 2, lake: 1 })

  const fields = { action: 'rename', tag: 'stream', name: 'Lake' }
  const asked = await visitor.send(`${page}/change`, fields)
  t.match(asked, { status: 409, html: 'The tag “lake” exists already.' })
  t.match(asked.html, /name="merge" value="lake"/)
  t.match(asked.html, 'value="Lake"', 'what was typed is still there')
  t.strictSame(await tagsOf(ada), { Stream: 2, lake: 1 })
  const other = await visitor.send(`${page}/change`, { ...fields, merge: 'river' })
  t.match(other, { status: 409 }, 'a consent counts for one tag only')
  t.match(await visitor.send(`${page}/change`, { ...fields, merge: 'lake' }), { location: `${page}?done=merged` })
  t.strictSame(await tagsOf(ada), { lake: 3 })

  t.match(await visitor.send(`${page}/change`, { action: 'rename', tag: 'lake', name: 'Lake' }), { status: 303 })
  t.match((await visitor.get(`${page}/change?tag=lake`)).html, 'from 3 documents')
  t.match(await visitor.send(`${page}/change`, { action: 'remove', tag: 'lake' }), { location: `${page}?done=removed` })
  t.match((await visitor.get(page)).html, 'No document of this knowledge base has a tag')
  const actions = ((await ada.get('/audit')).body.data as { action: string }[]).slice(0, 4).map(({ action }) => action)
  t.strictSame(actions, ['deleteTag', 'renameTag', 'renameTag', 'renameTag'])
})

t.test('a tag that is gone, a wrong name and a form without its button change nothing', async (t) => {
  const { ada, visitor, page } = await start()
  const before = await tagsOf(ada)
  for (const name of ['', ' ', 'x'.repeat(65)]) {
    const refused = await visitor.send(`${page}/change`, { action: 'rename', tag: 'lake', name })
    t.match(refused, { status: 400, html: 'A tag has 1 to 64 characters' })
  }
  t.equal((await visitor.send(`${page}/change`, { action: 'rename', tag: 'gone', name: 'sea' })).status, 404)
  t.equal((await visitor.send(`${page}/change`, { action: 'remove', tag: 'gone' })).status, 404)
  t.equal((await visitor.get(`${page}/change?tag=gone`)).status, 404)
  t.equal((await visitor.send(`${page}/change`, { tag: 'lake', name: 'sea' })).status, 400)
  t.strictSame(await tagsOf(ada), before)
})

t.test('viewers read tags and change none, and nobody else sees them', async (t) => {
  const { ada, page } = await start({ workspace: 'read together' })
  const viewer = await service.signUp({ workspace: 'read together', role: 'viewer' })
  const reader = await signedInVisitor(service, { userId: viewer.user_id })
  t.notMatch((await reader.get(page)).html, '/change')
  t.equal((await reader.get(`${page}/change?tag=lake`)).status, 403)
  for (const action of ['rename', 'remove']) {
    t.equal((await reader.send(`${page}/change`, { action, tag: 'lake', name: 'sea' })).status, 403)
  }
  const stranger = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
  for (const path of [page, `${page}/change?tag=lake`]) t.equal((await stranger.get(path)).status, 404)
  t.equal((await stranger.send(`${page}/change`, { action: 'remove', tag: 'lake' })).status, 404)
  t.strictSame(await tagsOf(ada), { '<river>': 2, lake: 1 })
})

t.test('hundreds of tags come a page at a time', async (t) => {
  const { ada, visitor, page } = await start()
  const numbers = Array.from({ length: 100 }, (_, number) => `tag ${number}`)
  for (const tags of [numbers.slice(0, 50), numbers.slice(50)]) await tagged(ada, page, tags)
  const first = (await visitor.get(page)).html
  const next = /rel="next" href="([^"]+)"/.exec(first)?.[1] ?? ''
  const second = (await visitor.get(next)).html
  const shown = [first, second].flatMap((html) =>
    [...html.matchAll(/class="name"[^>]*><bdi>([^<]*)/g)].map(([, tag]) => tag),
  )
  t.equal(shown.length, 102)
  t.equal(new Set(shown).size, 102)
})

async function start(options: { workspace?: string } = {}) {
  const ada = await service.signUp(options)
  const visitor = await signedInVisitor(service, { userId: ada.user_id })
  const { data: base } = (await ada.post('/knowledge-bases', { name: 'Waters' })).body
  const page = `/kb/${base.id}/tags`
  for (const tag of ['<river>', '<river>', 'lake']) await tagged(ada, page, [tag])
  return { ada, visitor, page }
}

async function tagged(ada: Client, page: string, tags: string[]): Promise<void> {
  await ada.post('/documents', { title: 'Water', knowledge_base_id: Number(page.split('/')[2]), tags })
}

async function tagsOf(ada: Client): Promise<Record<string, number>> {
  const [base] = (await ada.get('/knowledge-bases')).body.data
  const { data } = (await ada.get(`/knowledge-bases/${base.id}/tags`)).body
  return Object.fromEntries(data.map((one: { tag: string; document_count: number }) => [one.tag, one.document_count]))
}
