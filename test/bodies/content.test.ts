import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { sql } from '../../shared/database/database.ts'
import { blockId, h, node, p, text, ul } from '../document/build.ts'
import { bodyOf, eventsOf, make, put, refused, shape } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService({ QUOTA_DOCUMENT_CHARACTERS: '2000' })
const unknown = `sha256:${'0'.repeat(64)}`

t.test('one version stands for a body in every format, and changes with it only', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [h(1, 'Title'), p('text')])
  const path = `/documents/${made.id}`
  for (const query of [
    '',
    '?format=tiptap-json',
    '?format=markdown',
    '?format=markdown&annotate=anchors',
    '?format=html',
  ]) {
    const reply = await ada.get(`${path}/content${query}`)
    t.equal(reply.headers.get('etag'), made.etag, query)
    t.equal(`"${reply.body.data.version}"`, made.etag)
  }
  for (const part of ['outline', 'read', 'blocks', `blocks/${made.blocks[0]?.attrs.id}`]) {
    t.equal((await ada.get(`${path}/${part}`)).headers.get('etag'), made.etag, part)
  }
  t.equal((await ada.get(path)).body.data.version, made.version)
  await ada.patch(path, { title: 'Other', collapsed_block_ids: ['x'] })
  t.equal((await bodyOf(ada, made.id)).etag, made.etag, 'metadata do not matter')
  const written = await put(ada, made.id, [p('other')], made.etag)
  t.not(written.headers.get('etag'), made.etag)
  t.equal(written.headers.get('etag'), `"${written.body.data.version}"`)
  const back = await put(ada, made.id, made.blocks, '*')
  t.equal(back.headers.get('etag'), made.etag, 'the same body has the same version again')
})

t.test('a body is read as JSON, Markdown with or without anchors, and HTML', async (t) => {
  const ada = await signUp()
  const [a, b] = [blockId('A'), blockId('B')]
  const { id, version } = await make(ada, [
    node('heading', { level: 2, id: a }, 'My Title'),
    node('paragraph', { id: b }, 'x'),
  ])
  const path = `/documents/${id}/content`
  const { updated_at } = (await ada.get(`/documents/${id}`)).body.data
  const common = { document_id: id, document_uri: `svc://doc/${id}`, version, updated_at, warnings: [] }
  const document = {
    type: 'doc',
    content: [
      { attrs: { id: a, level: 2 }, content: [{ text: 'My Title', type: 'text' }], type: 'heading' },
      { attrs: { id: b }, content: [{ text: 'x', type: 'text' }], type: 'paragraph' },
    ],
  }
  t.strictSame((await ada.get(path)).body.data, { ...common, format: 'tiptap-json', document })
  const markdown = await ada.get(`${path}?format=markdown`)
  t.strictSame(markdown.body.data, { ...common, format: 'markdown', content: '## My Title\n\nx\n' })
  t.equal(
    (await ada.get(`${path}?format=markdown&annotate=anchors`)).body.data.content,
    `<!-- block=${a} my-title -->\n## My Title\n\n<!-- block=${b} -->\nx\n`,
  )
  const html = (await ada.get(`${path}?format=html`)).body.data
  t.equal(html.format, 'html')
  t.match(html.content, `data-block-id="${a}"`)
  t.match(html.content, 'My Title')
  for (const query of ['format=pdf', 'annotate=ids', 'format=html&format=markdown']) {
    refused(t, await ada.get(`${path}?${query}`), { status: 400, code: 'invalid_request' })
  }
})

t.test('Accept decides between the two media types of a body, or for 415', async (t) => {
  const ada = await signUp()
  const { id, etag } = await make(ada, [p('x')])
  const path = `/documents/${id}/content`
  const vendor = 'application/vnd.svc.document+json'
  const json = 'application/json; charset=utf-8'
  for (const [accept, expected] of [
    ['*/*', json],
    ['application/*', json],
    ['application/json', json],
    [vendor, vendor],
    [`${vendor}, application/json;q=0.5`, vendor],
    [`application/json, ${vendor};q=0.5`, json],
    ['text/html, */*;q=0.1', json],
    ['application/json; charset=utf-8', json],
    ['application/json;profile="a,b;q=0"; q=0.5, text/html', json],
    [`${vendor}; v=1;q=0.9, application/json; charset=utf-8 ;q=0.1`, vendor],
    ['*/*;level=1', json],
  ] as const) {
    const reply = await ada.get(path, { accept })
    t.equal(reply.status, 200)
    t.equal(reply.headers.get('content-type')?.split(';')[0], expected.split(';')[0], accept)
    t.equal(reply.body.data.document_id, id, 'in the same envelope')
  }
  for (const accept of ['text/html', 'text/*', 'image/png', 'application/xml', 'application/json;v=1; q=0']) {
    refused(t, await ada.get(path, { accept }), {
      status: 415,
      code: 'unsupported_media_type',
      details: { accepted: ['application/json', vendor] },
    })
    t.equal((await ada.get(`/documents/${id}/blocks`, { accept })).status, 200, 'nowhere else')
  }
  const body = { format: 'markdown', content: 'y' }
  t.equal((await ada.put(path, body, { 'if-match': etag, 'content-type': vendor })).status, 200)
  refused(t, await ada.put(path, body, { 'if-match': '*', 'content-type': 'text/markdown' }), {
    status: 415,
    code: 'unsupported_media_type',
    details: { accepted: ['application/json', vendor] },
  })
  refused(t, await ada.patch(`/documents/${id}`, { title: 'x' }, { 'content-type': vendor }), {
    status: 415,
    code: 'unsupported_media_type',
  })
})

t.test('a reader that has the current body is told so without it', async (t) => {
  const ada = await signUp()
  const { id, etag, version, blocks } = await make(ada, [p('x')])
  const block = `blocks/${blocks[0]?.attrs.id}`
  for (const part of ['content', 'content?format=markdown', 'blocks', block]) {
    const path = `/documents/${id}/${part}`
    for (const tag of [etag, `W/${etag}`, '*', `"a", ${etag}`, version]) {
      const reply = await ada.get(path, { 'if-none-match': tag })
      t.equal(reply.status, 304, `${part} ${tag}`)
      t.equal(reply.text, '')
      t.equal(reply.headers.get('etag'), etag)
    }
    t.equal((await ada.get(path, { 'if-none-match': `"${unknown}"` })).status, 200)
    refused(t, await ada.get(path, { 'if-none-match': 'x' }), {
      status: 400,
      code: 'invalid_precondition',
      details: { header: 'If-None-Match' },
    })
    t.equal((await ada.get(path, { 'if-match': 'x' })).status, 200, 'If-Match means nothing to a read')
  }
  for (const part of ['outline', 'read', 'versions']) {
    // Without a Cache-Control header, fetch sends no-cache, which no other client does.
    const headers = { 'if-none-match': etag, 'cache-control': 'max-age=0' }
    t.equal((await ada.get(`/documents/${id}/${part}`, headers)).status, 200, part)
  }
})

t.test('HEAD answers as GET does, without the body', async (t) => {
  const ada = await signUp()
  const { id, etag, blocks } = await make(ada, [p('x')])
  const block = `/blocks/${blocks[0]?.attrs.id}`
  for (const part of ['', '/path', '/content', '/outline', '/read', '/versions', '/blocks', block]) {
    const head = await ada.call('HEAD', `/documents/${id}${part}`)
    const get = await ada.get(`/documents/${id}${part}`)
    t.equal(head.status, 200, part)
    t.equal(head.text, '')
    for (const name of ['etag', 'content-type', 'cache-control']) t.equal(head.headers.get(name), get.headers.get(name))
  }
  const cached = await ada.call('HEAD', `/documents/${id}/content`, { headers: { 'if-none-match': etag } })
  t.equal(cached.status, 304)
  t.equal((await ada.call('HEAD', '/documents/doc_none/content')).status, 404)
})

t.test('a replacement needs the version it replaces', async (t) => {
  const ada = await signUp()
  const { id, etag, version, blocks } = await make(ada, [p('one'), p('two'), p('three')])
  const path = `/documents/${id}/content`
  const body = { format: 'markdown', content: 'new' }
  refused(t, await ada.put(path, body), {
    status: 428,
    code: 'precondition_required',
    details: { missing: ['If-Match'] },
  })
  for (const malformed of ['', 'x', '"a', '"a" "b"', '*, "a"', `${version}x`]) {
    refused(t, await ada.put(path, body, { 'if-match': malformed }), {
      status: 400,
      code: 'invalid_precondition',
      details: { header: 'If-Match' },
    })
  }
  const next = await put(ada, id, [p('zero'), ...blocks.slice(1)], etag)
  const current = next.body.data.version
  const zero = next.body.data.document.content[0].attrs.id
  const conflict = (provided: string, changed?: unknown[]) => ({
    status: 409,
    code: 'version_conflict',
    details: { provided, current_version: current, ...(changed && { changed_block_ids: changed }) },
  })
  const stale = await ada.put(path, body, { 'if-match': etag })
  refused(t, stale, conflict(version, [zero, blocks[0]?.attrs.id]))
  t.equal(stale.headers.get('etag'), `"${current}"`, 'the current ETag comes along')
  refused(t, await ada.put(path, body, { 'if-match': `"${unknown}"` }), conflict(unknown))
  refused(t, await ada.put(path, body, { 'if-match': `"${unknown}", ${etag}` }), {
    ...conflict(`${unknown}, ${version}`, [zero, blocks[0]?.attrs.id]),
  })
  const hash = (await ada.get(`/documents/${id}/blocks/${zero}`)).body.data.hash
  refused(t, await ada.put(path, body, { 'if-match': `"${hash}"` }), conflict(hash))
  const weak = await ada.put(path, body, { 'if-match': `W/"${current}"` })
  t.match(weak, { status: 409, body: { error: { code: 'version_conflict', details: { current_version: current } } } })
  t.equal((await bodyOf(ada, id)).version, current, 'none of it was written')
  t.equal((await ada.get(`/documents/${id}/versions`)).body.data.length, 1, 'nor kept')

  t.equal((await ada.put(path, body, { 'if-match': current })).status, 200, 'a bare version')
  t.equal((await ada.put(path, body, { 'if-match': '*' })).status, 200, 'any version')
  const last = (await bodyOf(ada, id)).etag
  t.equal((await ada.put(path, body, { 'if-match': `"${unknown}" , ${last}` })).status, 200, 'one of several')
})

t.test('a conflict names blocks that only changed their places', async (t) => {
  const ada = await signUp()
  const { id, etag, blocks } = await make(ada, [p('one'), p('two'), p('three'), p('four')])
  const [one, two, three, four] = blocks as [never, never, never, never]
  await put(ada, id, [four, one, two, three], etag)
  const stale = await put(ada, id, blocks, etag)
  t.strictSame(stale.body.error.details.changed_block_ids, [blocks[3]?.attrs.id])
})

t.test('a conflict names at most a hundred blocks', async (t) => {
  const ada = await signUp()
  const { id, etag } = await make(
    ada,
    Array.from({ length: 80 }, (_, index) => p(String(index))),
  )
  await put(ada, id, [p('x')], etag)
  await put(
    ada,
    id,
    Array.from({ length: 80 }, (_, index) => p(String(index))),
  )
  const stale = await put(ada, id, [p('y')], etag)
  t.equal(stale.body.error.details.changed_block_ids.length, 100)
})

t.test('of several faults of a write the first in the order of checks is told', async (t) => {
  const owner = await signUp({ workspace: 'Checked' })
  const viewer = await signUp({ workspace: 'Checked', role: 'viewer' })
  const reader = await signUp({ workspace: 'Checked', role: 'editor', scopes: ['documents:read'] })
  const stranger = await signUp()
  const { id } = await make(owner, [p('x')])
  const path = `/documents/${id}/content`
  const bad = { format: 'tiptap-json', document: { type: 'nope' } }
  const stale = { 'if-match': `"${unknown}"` }
  refused(t, await reader.put(path, {}, {}), { status: 403, code: 'insufficient_scope' })
  refused(t, await stranger.put(path, { format: 'x' }), { status: 400, code: 'invalid_request' })
  refused(t, await stranger.put(path, bad, { 'if-match': 'x' }), { status: 400, code: 'invalid_precondition' })
  refused(t, await stranger.put(path, bad), { status: 404, code: 'document_not_found', details: { id } })
  refused(t, await viewer.put(path, bad), { status: 403, code: 'forbidden', details: { required_role: 'editor' } })
  refused(t, await owner.put(path, bad), { status: 428, code: 'precondition_required' })
  refused(t, await owner.put(path, bad, stale), { status: 409, code: 'version_conflict' })
  refused(t, await owner.put(path, bad, { 'if-match': '*' }), { status: 422, code: 'invalid_node' })
  t.equal((await viewer.get(path)).status, 200)
  refused(t, await stranger.get(path), { status: 404, code: 'document_not_found', details: { id } })
})

t.test('a content input is a format with its own member', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  const path = `/documents/${id}/content`
  for (const body of [
    {},
    { format: 'markdown' },
    { format: 'markdown', content: 7 },
    { format: 'markdown', content: null },
    { format: 'markdown', document: { type: 'doc' } },
    { format: 'tiptap-json', content: 'x' },
    { format: 'tiptap-json', document: [] },
    { format: 'tiptap-json', document: null },
    { format: 'html', content: '<p>x</p>' },
    { content: 'x' },
  ]) {
    refused(t, await ada.put(path, body, { 'if-match': '*' }), { status: 400, code: 'invalid_request' })
  }
  for (const raw of ['{', '[]', '"x"', 'null']) {
    refused(t, await ada.call('PUT', path, { raw, headers: { 'if-match': '*' } }), {
      status: 400,
      code: 'invalid_json',
    })
  }
})

t.test('what a body may not hold is refused with its place and the reason', async (t) => {
  const ada = await signUp()
  const { id, version } = await make(ada, [p('x')])
  const [a, att] = [blockId('A'), 'att_01ARZ3NDEKTSV4RRFFQ69G5FAV']
  const cases: [object[], string, string][] = [
    [[p('x'), { type: 'nope' }], 'invalid_node', '/document/content/1'],
    [[{ type: 'paragraph', content: [p('x')] }], 'invalid_node', '/document/content/0/content/0'],
    [
      [node('bulletList', {}, node('listItem', {}, h(1, 'x')))],
      'invalid_node',
      '/document/content/0/content/0/content/0',
    ],
    [[node('heading', { level: 7 }, 'x')], 'invalid_node', '/document/content/0'],
    [[{ type: 'paragraph', content: [text('x', 'nope')] }], 'invalid_node', '/document/content/0/content/0'],
    [[p('a\u0000b')], 'invalid_node', '/document/content/0/content/0'],
    [[node('image', { src: 'javascript:x' })], 'invalid_node', '/document/content/0'],
    [[node('paragraph', { id: 'x' })], 'invalid_block_id', '/document/content/0'],
    [[node('paragraph', { id: `block_${'I'.repeat(26)}` })], 'invalid_block_id', '/document/content/0'],
    [[node('paragraph', { id: a }), node('paragraph', { id: a })], 'duplicate_block_id', '/document/content/1'],
    [[node('image', { attachmentId: 'x' })], 'attachment_not_found', '/document/content/0'],
  ]
  for (const [blocks, code, place] of cases) {
    const reply = await put(ada, id, blocks as never)
    t.match(reply, { status: 422, body: { error: { type: 'request_error', code, details: { reason: String } } } })
    t.equal(reply.body.error.details.path, place, code)
  }
  for (const [type, details] of [
    ['image', { src: `/api/v1/attachments/${att}` }],
    ['image', { attachmentId: att }],
  ] as const) {
    const reply = await put(ada, id, [p('x'), node(type, details)])
    refused(t, reply, { status: 422, code: 'attachment_not_found' })
    t.equal(reply.body.error.details.path, '/document/content/1')
  }
  const markdown = (content: string) =>
    ada.put(`/documents/${id}/content`, { format: 'markdown', content }, { 'if-match': '*' })
  t.match((await markdown(`<!-- block=${a} -->\nx\n\n<!-- block=${a} -->\ny\n`)).body.error, {
    code: 'duplicate_block_anchor',
    details: { block_id: a, lines: [1, 4] },
  })
  t.match((await markdown('x\n\n<!-- block=block_1 -->\ny\n')).body.error, {
    code: 'invalid_markdown_anchor',
    details: { block_id: 'block_1', lines: [3] },
  })
  refused(t, await markdown(`![x](/api/v1/attachments/${att})`), { status: 422, code: 'attachment_not_found' })
  t.equal((await bodyOf(ada, id)).version, version)
  t.strictSame(await eventsOf(database, id), ['document.created'])
})

t.test('text is capped in characters, however it comes in', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  t.equal((await put(ada, id, [p('𝔸'.repeat(1500)), p('x'.repeat(500))])).status, 200, 'code points count')
  t.equal((await ada.get(`/documents/${id}`)).body.data.character_count, 2000)
  const tooLarge = {
    status: 422,
    code: 'document_too_large',
    details: { limit: 2000, actual: 2001, unit: 'characters' },
  }
  refused(t, await put(ada, id, [p('x'.repeat(2001))]), tooLarge)
  const markdown = { format: 'markdown', content: 'x'.repeat(2001) }
  refused(t, await ada.put(`/documents/${id}/content`, markdown, { 'if-match': '*' }), tooLarge)
  refused(t, await ada.post('/documents', { title: 'x', content: markdown }), tooLarge)
  const { blocks } = await bodyOf(ada, id)
  const insert = { position: { document_end: true }, nodes: [p('x')] }
  refused(t, await ada.post(`/documents/${id}/blocks`, insert), tooLarge)
  const path = `/documents/${id}/blocks/${blocks[1]?.attrs.id}`
  refused(t, await ada.patch(path, { content: [text('x'.repeat(501))] }), tooLarge)
  const operations = [{ op: 'insert', ...insert }]
  refused(t, await ada.post(`/documents/${id}/batch`, { operations }), { status: 422, code: 'document_too_large' })
  const swap = [
    { op: 'insert', ...insert },
    { op: 'delete', block_id: blocks[1]?.attrs.id },
  ]
  t.equal((await ada.post(`/documents/${id}/batch`, { operations: swap })).status, 200, 'only the result counts')
  t.equal((await ada.get(`/documents/${id}`)).body.data.character_count, 1501)
})

t.test('a write in Markdown shows what became of it, in both forms', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  const body = { format: 'markdown', content: '# A\n\n[bad](javascript:x)\n\n* one\n* two\n' }
  const plain = (await ada.put(`/documents/${id}/content`, body, { 'if-match': '*' })).body.data
  t.equal(plain.format, 'markdown')
  t.match(plain.warnings, [{ code: 'link_removed' }])
  t.match(plain.document.content, [{ type: 'heading' }, { type: 'paragraph' }, { type: 'bulletList' }])
  t.notMatch(plain.content, 'block=')
  const anchored = (await ada.put(`/documents/${id}/content?annotate=anchors`, body, { 'if-match': '*' })).body.data
  const [heading] = anchored.document.content
  t.match(anchored.content, `<!-- block=${heading.attrs.id} a -->\n# A`)
  t.not(heading.attrs.id, plain.document.content[0].attrs.id, 'without an anchor a block is new')
  const json = (await put(ada, id, anchored.document.content)).body.data
  t.equal(json.format, 'tiptap-json')
  t.strictSame(json.document, anchored.document)
  t.notOk('content' in json)
})

t.test('anchored Markdown written back unchanged is the same body to the byte, lossy nodes and all', async (t) => {
  const ada = await signUp()
  const cells = node('tableRow', {}, node('tableCell', { colspan: 2 }, p('a'), p('b')))
  const blocks = [
    h(1, 'Title'),
    p(
      text('red', { type: 'textStyle', attrs: { color: 'red' } }),
      ' and ',
      node('mention', { id: 'u1', label: 'Ada' }),
    ),
    p(),
    node('table', {}, cells),
    ul(p('one'), p('two')),
    node('codeBlock', { language: 'js' }, '<!-- block=block_x -->'),
  ]
  const { id, etag, blocks: stored } = await make(ada, blocks)
  const read = (await ada.get(`/documents/${id}/content?format=markdown&annotate=anchors`)).body.data
  t.ok(read.warnings.length > 0, 'something cannot be said in Markdown')
  const write = (content: string) =>
    ada.put(`/documents/${id}/content`, { format: 'markdown', content }, { 'if-match': '*' })
  const same = await write(read.content)
  t.equal(same.headers.get('etag'), etag)
  t.strictSame(same.body.data.document.content, stored)
  t.strictSame(await eventsOf(database, id), ['document.created'], 'nothing happened')

  const edited = await write(read.content.replace('two', 'two and a half'))
  const after = edited.body.data.document.content
  t.strictSame(after.slice(0, 4), stored.slice(0, 4), 'other blocks are kept as they were')
  const [list, wasList] = [after[4], stored[4] as never as { attrs: object; content: { attrs: object }[] }]
  t.strictSame(list.attrs, wasList.attrs)
  t.strictSame(
    list.content.map((item: { attrs: object }) => item.attrs),
    wasList.content.map((item) => item.attrs),
    'nested blocks keep their ids',
  )
  const swapped = await write(
    `<!-- block=${blockId('Z')} -->\nadopted\n\n<!-- block=${stored[0]?.attrs.id} -->\nwas a heading\n`,
  )
  t.match(swapped.body.data.document.content, [
    { type: 'paragraph', attrs: { id: blockId('Z') } },
    { type: 'paragraph', attrs: { id: stored[0]?.attrs.id } },
  ])
})

t.test('the body is stored in normal form whatever form it comes in', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  const given = [
    { type: 'heading', attrs: { textAlign: null, strange: 1 }, content: [text('a'), text(''), text('b')] },
    { type: 'paragraph', content: [text('x', 'italic', 'bold'), node('image', { src: 'a.png' })] },
    node('inlineImage', { src: 'b.png' }),
  ]
  const { document } = (await put(ada, id, given as never)).body.data
  const picture = (src: string) => ({ alt: null, attachmentId: null, src, title: null })
  t.strictSame(shape(document.content), [
    { attrs: { level: 1 }, content: [{ text: 'ab', type: 'text' }], type: 'heading' },
    {
      attrs: {},
      content: [
        { marks: [{ type: 'bold' }, { type: 'italic' }], text: 'x', type: 'text' },
        { attrs: picture('a.png'), type: 'inlineImage' },
      ],
      type: 'paragraph',
    },
    { attrs: picture('b.png'), type: 'image' },
  ])
  t.strictSame((await put(ada, id, [])).body.data.document.content.length, 1, 'an empty document has one paragraph')
  const links = [p(text('x', { type: 'link', attrs: { href: 'javascript:x' } }))]
  t.match((await put(ada, id, links)).body.data.warnings, [{ code: 'link_removed' }])
})

t.test('a write that changes nothing tells nobody and leaves the time, but is kept as a version', async (t) => {
  const ada = await signUp()
  const { id, etag, blocks } = await make(ada, [p('x')])
  const before = (await ada.get(`/documents/${id}`)).body.data
  t.equal((await put(ada, id, blocks, etag)).headers.get('etag'), etag)
  t.strictSame((await ada.get(`/documents/${id}`)).body.data, before)
  t.strictSame(await eventsOf(database, id), ['document.created'])
  t.match((await ada.get(`/documents/${id}/versions`)).body.data, [{ seq: 1 }])
  await put(ada, id, [p('y')])
  const after = (await ada.get(`/documents/${id}`)).body.data
  t.ok(after.updated_at >= before.updated_at)
  t.strictSame(await eventsOf(database, id), ['document.created', 'document.content.updated'])
  const document = await database.oneFirst(sql.unsafe`
    SELECT document FROM events WHERE document_id = ${id} ORDER BY row_no DESC LIMIT 1`)
  t.match(JSON.parse(JSON.stringify(document)), { id, version: after.version, updated_at: after.updated_at })
})

t.test('anybody can compute the hash of a block from what a read returns', async (t) => {
  const ada = await signUp()
  const odd = 'é\u2028 "\\/ \u0007 😀'
  const { id } = await make(ada, [
    h(2, odd),
    ul(p('a', text('b', 'bold'))),
    node('orderedList', { start: 7 }, node('listItem', {}, p(odd))),
  ])
  const { blocks } = await bodyOf(ada, id)
  const listed = (await ada.get(`/documents/${id}/blocks?recursive=true`)).body.data
  for (const block of listed) {
    const hash = createHash('sha256')
      .update(canonicalize(block.node) ?? '')
      .digest('hex')
    t.equal(block.hash, `sha256:${hash}`, block.type)
  }
  const top = listed.filter(({ depth }: { depth: number }) => depth === 0)
  t.strictSame(
    top.map((block: { node: unknown }) => block.node),
    blocks,
    'the node is what a read of the whole body has',
  )
})
