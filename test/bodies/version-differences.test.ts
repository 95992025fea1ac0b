import { applyPatch } from 'diff'
import type { BlockNode } from '../../shared/body/document.ts'
import { computationLoad } from '../../shared/computations/compute.ts'
import { h, p, text, ul } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, make, put, refused } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp } = await sharedService()

t.test('a kept version reads as the body read when it was current, in every format', async (t) => {
  const ada = await signUp()
  const { id, etag } = await make(ada, [h(1, 'Water'), p('One ', text('bold', 'bold'), '.'), ul(p('a'))])
  await put(ada, id, [p('second')])
  await ada.put(`/documents/${id}/content`, { format: 'markdown', content: '# Third' }, { 'if-match': '*' })
  const queries = ['', '?format=markdown', '?format=markdown&annotate=anchors', '?format=html', '?format=tiptap-json']
  const read = (path: string) => Promise.all(queries.map((query) => ada.get(`/documents/${id}${path}${query}`)))
  const current = await read('/content')
  await put(ada, id, [p('fourth')])
  const kept = await read('/versions/3/content')
  for (const [index, { status, headers, body }] of kept.entries()) {
    t.equal(status, 200)
    t.strictSame(body.data, { ...current[index]?.body.data, seq: 3 }, `the format of ${queries[index]}`)
    t.equal(headers.get('etag'), current[index]?.headers.get('etag'))
  }
  const first = await ada.get(`/documents/${id}/versions/1/content`)
  t.equal(first.headers.get('etag'), etag)
  t.equal(first.headers.get('cache-control'), 'private, no-cache')
  t.equal(first.body.data.updated_at, (await ada.get(`/documents/${id}`)).body.data.created_at)
  const conditional = (path: string, tag: string) => ada.get(`/documents/${id}${path}`, { 'if-none-match': tag })
  t.equal((await conditional('/versions/1/content', etag)).status, 304)
  t.equal((await conditional('/versions/1/content?format=html', `"x", ${etag}`)).status, 304)
  t.equal((await conditional('/versions/2/content', etag)).status, 200)
})

t.test('a difference shows what was added, removed, edited and moved, with both blocks', async (t) => {
  const ada = await signUp()
  const items = ul(p('milk'), p('bread'))
  const made = await make(ada, [p('gone'), p('One two three.'), items, p('moves'), p('stays'), p('stays too')])
  const [, edited, list, moves, stays, staysToo] = made.blocks as BlockNode[]
  const newList = JSON.parse(JSON.stringify(list).replace('bread', 'butter')) as BlockNode
  const bread = list?.content?.[1]?.content?.[0] as BlockNode
  const newEdited = { ...edited, content: [text('One '), text('2', 'bold'), text(' three.')] } as BlockNode
  await put(ada, made.id, [newEdited, newList, stays, staysToo, moves, p('new')] as BlockNode[])
  const after = await bodyOf(ada, made.id)
  const reply = await ada.get(`/documents/${made.id}/diff`)
  const place = (old_position: number | null, new_position: number | null) => ({ old_position, new_position })
  t.strictSame(reply.body.data, {
    document_id: made.id,
    from: { seq: 1, version: made.version },
    to: { seq: 'current', version: after.version },
    blocks: [
      { op: 'removed', block_id: made.blocks[0]?.attrs.id, ...place(0, null), before: made.blocks[0], after: null },
      {
        op: 'modified',
        block_id: edited?.attrs.id,
        ...place(1, 0),
        before: edited,
        after: after.blocks[0],
        hunks: [
          { op: 'equal', text: 'One ' },
          { op: 'delete', text: 'two' },
          { op: 'insert', text: '2', marks: [{ type: 'bold' }] },
          { op: 'equal', text: ' three.' },
        ],
      },
      {
        op: 'modified',
        block_id: list?.attrs.id,
        ...place(2, 1),
        before: list,
        after: after.blocks[1],
        children: [
          {
            block_id: bread.attrs.id,
            hunks: [
              { op: 'delete', text: 'bread' },
              { op: 'insert', text: 'butter' },
            ],
          },
        ],
      },
      { op: 'moved', block_id: moves?.attrs.id, ...place(3, 4), before: moves, after: moves },
      { op: 'added', block_id: after.blocks[5]?.attrs.id, ...place(null, 5), before: null, after: after.blocks[5] },
    ],
  })
})

t.test('any two bodies can be compared, in either direction', async (t) => {
  const ada = await signUp()
  const { id, texts } = await history(ada, 4)
  const diff = async (query: string) => (await ada.get(`/documents/${id}/diff${query}`)).body.data
  const sides = async (query: string) => {
    const { from, to, blocks } = await diff(query)
    return [from.seq, to.seq, blocks[0]?.before.content[0].text, blocks[0]?.after.content[0].text]
  }
  t.strictSame(await sides(''), [4, 'current', texts[3], texts[4]], 'by default what the last write has changed')
  t.strictSame(await sides('?from=1'), [1, 'current', texts[0], texts[4]])
  t.strictSame(await sides('?from=2&to=3'), [2, 3, texts[1], texts[2]])
  t.strictSame(await sides('?from=3&to=2'), [3, 2, texts[2], texts[1]])
  t.strictSame(await sides('?from=current&to=1'), ['current', 1, texts[4], texts[0]])
  t.strictSame(await sides('?to=1'), [4, 1, texts[3], texts[0]])
  t.strictSame((await diff('?from=2&to=2')).blocks, [])
  t.strictSame((await diff('?from=current')).blocks, [])
})

t.test('a difference in Markdown can be applied to the Markdown of the older body', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [h(1, 'Water'), p('one'), p('two'), ul(p('a'), p('b')), p('three')])
  const markdown = async (path: string) => (await ada.get(`/documents/${id}${path}?format=markdown`)).body.data.content
  const content = '# Water and milk\n\none\n\n- a\n- c\n\nthree\n\nfour\n'
  await ada.put(`/documents/${id}/content`, { format: 'markdown', content }, { 'if-match': '*' })
  const { data } = (await ada.get(`/documents/${id}/diff?format=markdown`)).body
  t.match(data, { document_id: id, from: { seq: 1 }, to: { seq: 'current' }, format: 'markdown', blocks: undefined })
  t.match(data.content, /^--- version 1\n\+\+\+ current\n@@ -1,/)
  t.equal(applyPatch(await markdown('/versions/1/content'), data.content), await markdown('/content'))
  const same = await ada.get(`/documents/${id}/diff?from=current&format=markdown`)
  t.equal(same.body.data.content, '')
})

t.test('a difference is sent again only when one of its bodies has changed', async (t) => {
  const ada = await signUp()
  const { id } = await history(ada, 2)
  const diff = (query: string, tag = '"none"') => ada.get(`/documents/${id}/diff${query}`, { 'if-none-match': tag })
  const tags = await Promise.all(
    ['', '?from=1', '?to=1', '?format=markdown'].map(async (query) => String((await diff(query)).headers.get('etag'))),
  )
  t.equal(new Set(tags).size, 4)
  t.equal((await diff('', tags[0])).status, 304)
  t.equal((await diff('?from=2&to=current&format=json', tags[0])).status, 304, 'however the bodies are named')
  await put(ada, id, [p('changed')])
  t.equal((await diff('', tags[0])).status, 200)
  t.equal((await diff('?from=1', tags[1])).status, 200)
  const kept = await diff('?from=1&to=2')
  await put(ada, id, [p('changed again')])
  t.equal((await diff('?from=1&to=2', String(kept.headers.get('etag')))).status, 304, 'kept versions never change')
})

t.test('asking for news of a large difference does not compare the bodies again', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('word '.repeat(20_000))])
  await put(ada, id, [p('other '.repeat(20_000))])
  const compared = () => computationLoad().ends.done
  const before = compared()
  const first = await ada.get(`/documents/${id}/diff`)
  t.equal(compared(), before + 1)
  const again = await ada.get(`/documents/${id}/diff`, { 'if-none-match': String(first.headers.get('etag')) })
  t.equal(again.status, 304)
  t.equal(compared(), before + 1)
})

t.test('a version that is not kept is not found, nor is the document of another workspace', async (t) => {
  const ada = await signUp({ workspace: 'Differences' })
  const viewer = await signUp({ workspace: 'Differences', role: 'viewer' })
  const writer = await signUp({ workspace: 'Differences', scopes: ['documents:write'] })
  const stranger = await signUp()
  const { id } = await make(ada, [p('x')])
  const path = `/documents/${id}`
  const missing = { status: 404, code: 'version_not_found' }
  refused(t, await ada.get(`${path}/diff`), { ...missing, details: { id: null, field: 'from' } })
  refused(t, await ada.get(`${path}/diff?from=current&to=1`), { ...missing, details: { id: '1', field: 'to' } })
  await put(ada, id, [p('y')])
  for (const seq of ['2', '999999999999999', '99999999999999999999']) {
    refused(t, await ada.get(`${path}/diff?from=${seq}`), { ...missing, details: { id: seq, field: 'from' } })
    refused(t, await ada.get(`${path}/versions/${seq}/content`), { ...missing, details: { id: seq } })
  }
  for (const seq of ['0', '-1', '1.5', 'x', '01', '1e1', '']) {
    refused(t, await ada.get(`${path}/diff?to=${seq}`), { status: 400, code: 'invalid_request' })
    if (seq !== '')
      refused(t, await ada.get(`${path}/versions/${seq}/content`), { status: 400, code: 'invalid_request' })
  }
  for (const query of ['format=html', 'format=json&format=json', 'from=1&from=2']) {
    refused(t, await ada.get(`${path}/diff?${query}`), { status: 400, code: 'invalid_request' })
  }
  for (const read of ['/diff', `/diff?from=${'9'.repeat(20)}`, '/versions/1/content', '/versions/9/content']) {
    refused(t, await stranger.get(path + read), { status: 404, code: 'document_not_found', details: { id } })
    refused(t, await writer.get(path + read), { status: 403, code: 'insufficient_scope' })
    if (!read.includes('9')) t.equal((await viewer.get(path + read)).status, 200)
  }
  t.equal((await ada.call('HEAD', `${path}/diff`)).status, 200)
})

t.test('two versions of a document stay comparable while it is written', async (t) => {
  const ada = await signUp()
  const { id } = await history(ada, 1)
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      index % 2 ? put(ada, id, [p(`write ${index}`)]) : ada.get(`/documents/${id}/diff`),
    ),
  )
  for (const { status, body } of replies) {
    t.equal(status, 200)
    const { from, to, blocks } = body.data
    if (blocks !== undefined) t.not(from.version, to.version, 'both sides are of one moment')
  }
})

t.test('two large bodies that have nothing in common are compared, too', async (t) => {
  const ada = await signUp()
  const words = (name: string) => Array.from({ length: 200 }, (_, index) => `${name}${index}`).join(' ')
  const { id, blocks } = await make(
    ada,
    Array.from({ length: 200 }, (_, index) => p(words(`a${index}x`))),
  )
  const rewritten = blocks.map((block, index) => ({ ...block, content: [text(words(`b${index}y`))] }))
  t.equal((await put(ada, id, rewritten)).status, 200)
  const reply = await ada.get(`/documents/${id}/diff`)
  t.equal(reply.body.data.blocks.length, 200)
  const size = JSON.stringify([blocks, rewritten]).length
  t.ok(reply.text.length < 10 * size, `${(reply.text.length / size).toFixed(1)} times the two bodies`)
})

/** Makes a document of one block that has `count` kept versions. Returns the texts of its bodies, oldest first. */
async function history(client: Client, count: number): Promise<{ id: string; texts: string[] }> {
  const texts = Array.from({ length: count + 1 }, (_, index) => `text${index}`)
  const { id, blocks } = await make(client, [p(String(texts[0]))])
  const [block] = blocks as [BlockNode]
  for (const value of texts.slice(1)) await put(client, id, [{ ...block, content: [text(value)] }])
  return { id, texts }
}
