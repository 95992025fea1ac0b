import { node, p, text } from '../document/build.ts'
import { uploaded } from '../support/attachments.ts'
import type { Client } from '../support/client.ts'
import { make, put, refused } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const service = await sharedService()

t.test('files are found by place and use, newest first', async (t) => {
  const ada = await service.signUp()
  const [zoo, lab] = [await base(ada), await base(ada)]
  const cage = await make(ada, [p(text('x'))], { knowledge_base_id: zoo })
  const bench = await make(ada, [p(text('x'))], { knowledge_base_id: lab })
  const files: string[] = []
  for (const { id } of [cage, bench, cage, bench, cage]) files.unshift(await uploaded(ada, { documentId: id }))
  const [fifth = '', fourth = '', third = '', second = '', first = ''] = files
  t.strictSame(await ids(ada, ''), files)
  t.strictSame(await ids(ada, `knowledge_base_id=${zoo}`), [fifth, third, first])
  t.strictSame(await ids(ada, `document_id=${bench.id}`), [fourth, second])
  t.strictSame(await ids(ada, `document_id=${bench.id}&knowledge_base_id=${zoo}`), [])
  t.strictSame(await ids(ada, 'referenced=true'), [])
  await put(ada, bench.id, [node('image', { attachmentId: third }), node('image', { attachmentId: second })])
  t.strictSame(await ids(ada, 'referenced=true'), [third, second], 'whichever document shows it')
  t.strictSame(await ids(ada, 'referenced=false'), [fifth, fourth, first])
  t.strictSame(await ids(ada, `referenced=1&knowledge_base_id=${zoo}`), [third])
  const { data } = (await ada.get('/attachments?limit=1')).body
  t.strictSame(data, [(await ada.get(`/attachments/${fifth}/metadata`)).body.data], 'each is the record of the file')
  await ada.delete(`/documents/${cage.id}`)
  t.strictSame(await ids(ada, ''), [fourth, second], 'files go with their document')
})

t.test('a list goes on where its page ended, also when a file is added or removed meanwhile', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const files: string[] = []
  for (let count = 0; count < 5; count++) files.unshift(await uploaded(ada, { documentId: id }))
  const first = (await ada.get('/attachments?limit=2')).body
  t.strictSame(idsOf(first.data), files.slice(0, 2))
  t.match(first.page, { cursor: null, has_more: true })
  await uploaded(ada, { documentId: id })
  t.equal((await ada.delete(`/attachments/${files[1]}`)).status, 204)
  const second = (await ada.get(`/attachments?limit=2&cursor=${first.page.next_cursor}`)).body
  t.strictSame(idsOf(second.data), files.slice(2, 4))
  const third = (await ada.get(`/attachments?limit=2&cursor=${second.page.next_cursor}`)).body
  t.strictSame(idsOf(third.data), files.slice(4))
  t.match(third.page, { next_cursor: null, has_more: false })
})

t.test('the list tells nobody about files of others, and refuses what it does not understand', async (t) => {
  const [ada, bob] = [await service.signUp(), await service.signUp()]
  const { id } = await make(ada, [p(text('x'))])
  await uploaded(ada, { documentId: id })
  t.strictSame(await ids(bob, ''), [])
  t.strictSame(await ids(bob, `document_id=${id}`), [])
  for (const empty of ['document_id=doc_unknown', 'knowledge_base_id=999999999']) {
    t.strictSame(await ids(ada, empty), [], empty)
  }
  const wrong = ['referenced=maybe', 'document_id=x', 'knowledge_base_id=0', 'limit=0', 'limit=101', 'referenced=']
  for (const query of wrong) {
    refused(t, await ada.get(`/attachments?${query}`), { status: 400, code: 'invalid_request' })
  }
  await uploaded(ada, { documentId: id })
  const { page } = (await ada.get('/attachments?limit=1')).body
  refused(t, await ada.get(`/attachments?limit=1&referenced=true&cursor=${page.next_cursor}`), {
    status: 400,
    code: 'invalid_cursor',
  })
  t.match(await ada.call('HEAD', '/attachments'), { status: 200, text: '' })
})

async function ids(client: Client, query: string): Promise<string[]> {
  const reply = await client.get(`/attachments?${query}`)
  if (reply.status !== 200) throw new Error(reply.text)
  return idsOf(reply.body.data)
}

function idsOf(data: readonly { id: string }[]): string[] {
  return data.map(({ id }) => id)
}

async function base(client: Client): Promise<number> {
  return (await client.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
}
