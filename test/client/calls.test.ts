import { KnowledgeBase } from '../../shared/client/client.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { origin, signUp } = await sharedService()

t.test('a program reads, writes and lists with typed calls', async (t) => {
  const { token } = await signUp()
  const kb = new KnowledgeBase({ origin, token })
  const { data: me } = await kb.api.GET('/me')
  t.equal(me.user.id.startsWith('usr_'), true)
  const { data: base } = await kb.api.POST('/knowledge-bases', { body: { name: 'Zoo' } })
  for (const title of ['a', 'b', 'c']) {
    await kb.api.POST('/documents', {
      body: { title, knowledge_base_id: base.id, content: { format: 'markdown', content: 'text' }, tags: ['x'] },
    })
  }
  const titles = []
  const query = { knowledge_base_id: base.id, limit: 2, tag: ['x'] }
  for await (const { title } of kb.items('/documents', { params: { query } })) titles.push(title)
  t.strictSame(titles.sort(), ['a', 'b', 'c'])
  const pages = []
  for await (const { data, page } of kb.pages('/documents', { params: { query } }))
    pages.push([data.length, page.has_more])
  t.strictSame(pages, [
    [2, true],
    [1, false],
  ])
  const deleted = await kb.api.DELETE('/knowledge-bases/{id}', {
    params: { path: { id: base.id } },
    body: { confirm_id: String(base.id) },
  })
  t.equal(deleted.data, undefined)
})

t.test('the types of a small answer have what it has, and nothing else', async (t) => {
  const { token } = await signUp()
  const { api } = new KnowledgeBase({ origin, token })
  const body = { title: 'one', content: { format: 'markdown' as const, content: 'text' } }
  const header = { Prefer: 'return=minimal' } as const
  const made = await api.POST('/documents', { params: { header }, body })
  const { id, version } = made.data
  t.equal(made.etag, version)
  // @ts-expect-error a small answer has no title
  t.equal(made.data.title, undefined)
  const params = { path: { id }, query: { ids: 'match' as const }, header: { ...header, 'If-Match': version } }
  const replaced = await api.PUT('/documents/{id}/content', { params, body: { ...body.content, content: 'other' } })
  t.same(Object.keys(replaced.data), ['document_id', 'version', 'changed_block_ids'])
  t.ok(replaced.data.changed_block_ids.length > 0)
  const whole = await api.PATCH('/documents/{id}', { params: { path: { id } }, body: { title: 'two' } })
  t.equal(whole.data.title, 'two')
})

t.test('an id that a program got from elsewhere never leads to another path', async (t) => {
  const { token } = await signUp()
  const kb = new KnowledgeBase({ origin, token })
  const { data: made } = await kb.api.POST('/documents', { body: { title: 'one' } })
  for (const targetDocId of ['..', '.', '']) {
    const path = { id: made.id, targetDocId }
    await t.rejects(kb.api.DELETE('/documents/{id}/translations/{targetDocId}', { params: { path } }), TypeError)
    await t.rejects(kb.download(targetDocId), TypeError)
  }
  const id = '../documents?x=1#'
  await t.rejects(kb.api.GET('/documents/{id}', { params: { path: { id } } }), { code: 'document_not_found' })
  t.equal((await kb.api.GET('/documents/{id}', { params: { path: { id: made.id } } })).data.title, 'one')
})
