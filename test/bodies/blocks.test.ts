import type { BodyNode } from '../../shared/body/document.ts'
import { blockId, h, node, p, text, ul } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, eventsOf, type Made, make, put, refused, shape } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService()
const unknown = `sha256:${'0'.repeat(64)}`

t.test('a block says what it is and where it stands', async (t) => {
  const ada = await signUp()
  const item = node('listItem', {}, p('one'), p('more'))
  const made = await make(ada, [p('intro'), h(1, 'A'), h(2, 'B'), node('bulletList', {}, item), h(1, 'C')])
  const list = made.blocks[3] as never as {
    attrs: { id: string }
    content: { attrs: { id: string }; content: never[] }[]
  }
  const [listItem] = list.content
  const inner = listItem?.content[1] as never as { attrs: { id: string } }
  const path = `/documents/${made.id}/blocks`
  const nested = await ada.get(`${path}/${inner.attrs.id}`)
  const { hash, ...rest } = nested.body.data
  t.match(hash, /^sha256:[0-9a-f]{64}$/)
  t.strictSame(rest, {
    block_id: inner.attrs.id,
    document_id: made.id,
    uri: `svc://doc/${made.id}#block=${inner.attrs.id}`,
    type: 'paragraph',
    attrs: { id: inner.attrs.id },
    text: 'more',
    node: inner,
    position: 3,
    depth: 2,
    parent_block_id: listItem?.attrs.id,
    heading_path: ['A', 'B'],
    version: made.version,
  })
  t.equal(nested.headers.get('etag'), made.etag, 'the ETag is that of the document')

  const top = (await ada.get(path)).body
  t.strictSame(top.page, { cursor: null, next_cursor: null, has_more: false })
  t.match(top.data, [
    { type: 'paragraph', position: 0, depth: 0, parent_block_id: null, heading_path: [] },
    { type: 'heading', position: 1, heading_path: ['A'] },
    { type: 'heading', position: 2, heading_path: ['A', 'B'] },
    { type: 'bulletList', position: 3, heading_path: ['A', 'B'] },
    { type: 'heading', position: 4, heading_path: ['C'] },
  ])
  const all = (await ada.get(`${path}?recursive=true`)).body.data
  t.strictSame(
    all.map((block: { type: string; depth: number }) => `${block.depth} ${block.type}`),
    ['0 paragraph', '0 heading', '0 heading', '0 bulletList', '1 listItem', '2 paragraph', '2 paragraph', '0 heading'],
    'all levels, depth first',
  )
  for (const block of all) t.strictSame((await ada.get(`${path}/${block.block_id}`)).body.data, block)
  t.equal((await ada.get(`${path}?recursive=maybe`)).status, 400)
  refused(t, await ada.get(`${path}/${blockId('A')}`), {
    status: 404,
    code: 'block_not_found',
    details: { id: blockId('A') },
  })
  refused(t, await ada.get(`${path}/nonsense`), { status: 404, code: 'block_not_found', details: { id: 'nonsense' } })
})

t.test('a long list of blocks comes in pages when it is asked for so', async (t) => {
  const ada = await signUp()
  const { id, blocks } = await make(ada, [p('1'), ul(p('2')), p('3'), p('4'), p('5')])
  const path = `/documents/${id}/blocks`
  const first = (await ada.get(`${path}?limit=3`)).body
  t.strictSame(idsOf(first.data), idsOfNodes(blocks.slice(0, 3)))
  const rest = (await ada.get(`${path}?limit=3&cursor=${first.page.next_cursor}`)).body
  t.strictSame(idsOf(rest.data), idsOfNodes(blocks.slice(3)))
  t.strictSame(rest.page, { cursor: first.page.next_cursor, next_cursor: null, has_more: false })
  for (const query of [`recursive=true&cursor=${first.page.next_cursor}`, 'cursor=x']) {
    refused(t, await ada.get(`${path}?${query}`), { status: 400, code: 'invalid_cursor' })
  }
  const [sort, print] = JSON.parse(Buffer.from(first.page.next_cursor, 'base64url').toString())
  const forged = Buffer.from(JSON.stringify([sort, print, -1])).toString('base64url')
  refused(t, await ada.get(`${path}?cursor=${forged}`), { status: 400, code: 'invalid_cursor' })
  const many = await make(
    ada,
    Array.from({ length: 1005 }, (_, index) => p(String(index))),
  )
  const whole = (await ada.get(`/documents/${many.id}/blocks`)).body
  t.equal(whole.data.length, 1000)
  const tail = (await ada.get(`/documents/${many.id}/blocks?cursor=${whole.page.next_cursor}`)).body
  t.strictSame(idsOf(tail.data), idsOfNodes(many.blocks.slice(1000)))
})

t.test('nested blocks that repeat each other come in pages that a client can hold', async (t) => {
  const ada = await signUp()
  const mebibyte = 1024 * 1024
  const quoted = Array.from({ length: 29 }).reduce<BodyNode>(
    (inner) => node('blockquote', {}, inner),
    p('x'.repeat(400_000)),
  )
  const made = await make(ada, [p('before'), quoted, p('after')])
  const path = `/documents/${made.id}/blocks?recursive=true`
  const seen: { block_id: string; text: string }[] = []
  let pages = 0
  for (let cursor = ''; cursor !== null; pages += 1) {
    const { text, body } = await ada.get(`${path}${cursor && `&cursor=${cursor}`}`)
    t.ok(Buffer.byteLength(text) < 9 * mebibyte, `a page of ${Math.round(text.length / mebibyte)} MiB`)
    t.ok(body.data.length > 0)
    seen.push(...body.data)
    cursor = body.page.next_cursor
    t.equal(body.page.has_more, cursor !== null)
  }
  t.ok(pages > 1)
  t.equal(seen.length, 32, 'no block is left out')
  t.equal(new Set(idsOf(seen)).size, 32, 'and none comes twice')
  t.equal((await ada.get(`${path}&limit=2`)).body.data.length, 2, 'a limit still holds')

  const [huge, small] = [node('htmlBlock', { html: 'x'.repeat(3_500_000) }), p('small')]
  const large = await make(ada, [small, huge, small])
  const first = (await ada.get(`/documents/${large.id}/blocks`)).body
  t.strictSame(idsOf(first.data), idsOfNodes(large.blocks.slice(0, 1)))
  const second = (await ada.get(`/documents/${large.id}/blocks?cursor=${first.page.next_cursor}`)).body
  t.strictSame(idsOf(second.data), idsOfNodes(large.blocks.slice(1, 2)), 'a block larger than a page is one')
  const third = (await ada.get(`/documents/${large.id}/blocks?cursor=${second.page.next_cursor}`)).body
  t.strictSame(idsOf(third.data), idsOfNodes(large.blocks.slice(2)))
})

t.test('blocks go to every place that a position can name', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [h(1, 'First  Part'), p('a'), ul(p('item')), h(2, 'Part two'), p('b')])
  const [heading, a, list] = made.blocks
  const item = list?.content?.[0]
  const inItem = item?.content?.[0]
  const cases: [object, string][] = [
    [{ document_start: true }, 'NEW|First  Part|a|(item)|Part two|b'],
    [{ document_end: null }, 'First  Part|a|(item)|Part two|b|NEW'],
    [{ before_block_id: a?.attrs.id }, 'First  Part|NEW|a|(item)|Part two|b'],
    [{ after_block_id: heading?.attrs.id }, 'First  Part|NEW|a|(item)|Part two|b'],
    [{ after_block_id: inItem?.attrs?.id }, 'First  Part|a|(item,NEW)|Part two|b'],
    [{ before_block_id: inItem?.attrs?.id }, 'First  Part|a|(NEW,item)|Part two|b'],
    [{ parent_block_id: item?.attrs?.id }, 'First  Part|a|(item,NEW)|Part two|b'],
    [{ after_heading: 'part TWO' }, 'First  Part|a|(item)|Part two|NEW|b'],
    [{ after_heading: ' first part ' }, 'First  Part|NEW|a|(item)|Part two|b'],
    [{ after_heading: 'part' }, 'First  Part|NEW|a|(item)|Part two|b'],
    [{ after_heading: 'two' }, 'First  Part|a|(item)|Part two|NEW|b'],
  ]
  for (const [position, expected] of cases) {
    const { etag } = await put(ada, made.id, made.blocks).then(() => bodyOf(ada, made.id))
    const inserted = await ada.post(
      `/documents/${made.id}/blocks`,
      { position, nodes: [p('NEW')] },
      { 'if-match': etag },
    )
    t.equal(inserted.status, 201)
    const now = await bodyOf(ada, made.id)
    t.equal(sketch(now), expected, JSON.stringify(position))
    t.equal(inserted.headers.get('etag'), now.etag)
    const [id] = inserted.body.data.block_ids
    t.equal(inserted.headers.get('location'), `/api/v1/documents/${made.id}/blocks/${id}`)
    t.strictSame(inserted.body.data, {
      document_id: made.id,
      version: now.version,
      block_ids: [id],
      blocks: [(await ada.get(`/documents/${made.id}/blocks/${id}`)).body.data],
    })
  }
})

t.test('an exact heading goes before one that contains the text, and nested headings do not count', async (t) => {
  const ada = await signUp()
  const quoted = node('blockquote', {}, h(1, 'Quoted'))
  const made = await make(ada, [h(1, 'The end of all'), h(1, 'End'), h(1, 'Bold ', text('word', 'bold')), quoted])
  const insert = (after_heading: string) =>
    ada.post(`/documents/${made.id}/blocks`, { position: { after_heading }, nodes: [p('NEW')] })
  t.equal((await insert('end')).body.data.blocks[0].position, 2)
  t.equal((await insert('bold WORD')).body.data.blocks[0].position, 4)
  refused(t, await insert('Quoted'), { status: 422, code: 'heading_not_found', details: { heading: 'Quoted' } })
})

t.test('several blocks keep their order, get ids where they have none and keep those they bring', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a')])
  const own = blockId('XYZ')
  const nodes = [p('1'), node('paragraph', { id: own }, '2'), ul(p('3'))]
  const { data } = (await ada.post(`/documents/${made.id}/blocks`, { position: { document_end: {} }, nodes })).body
  t.equal(data.block_ids[1], own)
  t.equal(new Set(data.block_ids).size, 3)
  t.match(data.blocks, [{ position: 1 }, { position: 2, block_id: own }, { position: 3, type: 'bulletList' }])
  const again = await ada.post(`/documents/${made.id}/blocks`, { position: { document_start: 1 }, nodes: [nodes[1]] })
  refused(t, again, {
    status: 422,
    code: 'duplicate_block_id',
    details: { path: '/nodes', reason: 'the id is in use in the document', block_id: own },
  })
})

t.test('what may not be inserted is refused with the reason', async (t) => {
  const ada = await signUp()
  const made = await make(
    ada,
    [p('a'), ul(p('item')), node('horizontalRule'), node('frontmatter', { yaml: 'x: 1' })].slice(0, 3),
  )
  const [paragraph, list, rule] = made.blocks
  const insert = (position: object, nodes: unknown[] = [p('x')]) =>
    ada.post(`/documents/${made.id}/blocks`, { position, nodes })
  const end = { document_end: true }
  for (const position of [
    {},
    { somewhere: 1 },
    { document_start: 1, document_end: 1 },
    { before_block_id: 'a', after_heading: 'b' },
    { before_block_id: null },
    { after_heading: 7 },
  ]) {
    refused(t, await insert(position), { status: 400, code: 'invalid_request' })
  }
  t.equal((await insert({ ...end, comment: 'unknown members are ignored' })).status, 201)
  for (const nodes of [[], Array.from({ length: 1001 }, () => p('x')), ['x'], [null]]) {
    refused(t, await insert(end, nodes), { status: 400, code: 'invalid_request' })
  }
  t.equal(
    (
      await insert(
        end,
        Array.from({ length: 1000 }, () => p('x')),
      )
    ).status,
    201,
  )
  refused(t, await ada.post(`/documents/${made.id}/blocks`, { nodes: [p('x')] }), {
    status: 400,
    code: 'invalid_request',
  })

  for (const key of ['before_block_id', 'after_block_id', 'parent_block_id']) {
    for (const id of [blockId('A'), 'nonsense']) {
      t.match(await insert({ [key]: id }), {
        status: 422,
        body: { error: { code: 'block_not_found', details: { path: '/position', block_id: id, reason: String } } },
      })
    }
  }
  const misplaced: [object, unknown[]][] = [
    [end, [node('listItem', {}, p('x'))]],
    [{ parent_block_id: paragraph?.attrs.id }, [p('x')]],
    [{ parent_block_id: rule?.attrs.id }, [p('x')]],
    [{ parent_block_id: list?.attrs.id }, [p('x')]],
    [{ before_block_id: list?.content?.[0]?.content?.[0]?.attrs?.id }, [h(1, 'x')]],
    [end, [node('frontmatter', { yaml: '' })]],
  ]
  for (const [position, nodes] of misplaced) {
    t.match(await insert(position, nodes), {
      status: 422,
      body: { error: { code: 'invalid_position', details: { path: '/position', reason: String } } },
    })
  }
  const invalid: [unknown, string, string][] = [
    [{ type: 'nope' }, 'invalid_node', '/nodes/1'],
    [text('x'), 'invalid_node', '/nodes/1'],
    [node('paragraph', { id: 'x' }), 'invalid_block_id', '/nodes/1'],
    [node('blockquote', {}, { type: 'nope' }), 'invalid_node', '/nodes/1/content/0'],
    [node('image', { attachmentId: 'att_01ARZ3NDEKTSV4RRFFQ69G5FAV' }), 'attachment_not_found', '/nodes/1'],
  ]
  for (const [bad, code, path] of invalid) {
    t.match(await insert(end, [p('x'), bad]), { status: 422, body: { error: { code, details: { path } } } })
  }
})

t.test('frontmatter stays the first block', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [node('frontmatter', { yaml: 'a: 1' }), p('x')])
  const insert = (position: object, ...nodes: unknown[]) =>
    ada.post(`/documents/${made.id}/blocks`, { position, nodes })
  t.equal((await insert({ document_start: true }, p('y'))).body.data.blocks[0].position, 1)
  refused(t, await insert({ before_block_id: made.blocks[0]?.attrs.id }, p('y')), {
    status: 422,
    code: 'invalid_position',
  })
})

t.test('a patch replaces the node, or merges attributes, or replaces the content; the id stays', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [h(2, 'Title'), ul(p('item')), node('paragraph', { textAlign: 'center' }, 'x')])
  const [heading, list, aligned] = made.blocks
  const inner = list?.content?.[0]?.content?.[0]
  const patch = (id: unknown, body: object) => ada.patch(`/documents/${made.id}/blocks/${id}`, body)

  const renamed = await patch(heading?.attrs.id, { content: [text('New '), text('name', 'bold')] })
  t.equal(renamed.status, 200)
  t.match(renamed.body.data, {
    block_id: heading?.attrs.id,
    text: 'New name',
    attrs: { level: 2 },
    heading_path: ['New name'],
  })
  const now = await bodyOf(ada, made.id)
  t.equal(renamed.headers.get('etag'), now.etag)
  t.strictSame(renamed.body.data, (await ada.get(`/documents/${made.id}/blocks/${heading?.attrs.id}`)).body.data)
  t.strictSame(now.blocks.slice(1), made.blocks.slice(1), 'the rest is as it was')

  t.match((await patch(heading?.attrs.id, { attrs: { level: 3, unknown: 1 } })).body.data, {
    attrs: { id: heading?.attrs.id, level: 3 },
    text: 'New name',
  })
  t.match((await patch(heading?.attrs.id, { attrs: { level: 1 }, content: [] })).body.data, {
    text: '',
    attrs: { level: 1 },
  })
  t.strictSame((await patch(aligned?.attrs.id, { attrs: { textAlign: null } })).body.data.attrs, {
    id: aligned?.attrs.id,
  })
  t.match((await patch(inner?.attrs?.id, { content: [text('deep')] })).body.data, {
    text: 'deep',
    depth: 2,
    position: 1,
    block_id: inner?.attrs?.id,
  })
  const retyped = (await patch(aligned?.attrs.id, { node: ul(p('y')) })).body.data
  t.match(retyped, { block_id: aligned?.attrs.id, type: 'bulletList', text: /y/ })
  const sameId = { type: 'paragraph', attrs: { id: aligned?.attrs.id }, content: [text('z')] }
  t.match((await patch(aligned?.attrs.id, { node: sameId })).body.data, { type: 'paragraph', text: 'z' })
})

t.test('what a patch may not do is refused with the reason', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a'), ul(p('item'))])
  const [paragraph, list] = made.blocks
  const id = String(paragraph?.attrs.id)
  const patch = (block: unknown, body: unknown) => ada.patch(`/documents/${made.id}/blocks/${block}`, body)
  for (const body of [
    {},
    { node: p('x'), attrs: {} },
    { node: p('x'), content: [] },
    { node: null },
    { node: [] },
    { attrs: null },
    { attrs: [] },
    { content: 'x' },
    { content: [1] },
  ]) {
    refused(t, await patch(id, body), { status: 400, code: 'invalid_request' })
  }
  for (const body of [{ node: node('paragraph', { id: blockId('B') }) }, { attrs: { id: blockId('B') } }]) {
    t.match(await patch(id, body), {
      status: 422,
      body: { error: { code: 'block_id_mismatch', details: { block_id: id, reason: String, path: String } } },
    })
  }
  const used = { node: node('blockquote', {}, node('paragraph', { id: String(list?.attrs.id) })) }
  t.match(await patch(id, used), { status: 422, body: { error: { code: 'duplicate_block_id' } } })
  const inner = list?.content?.[0]?.content?.[0]?.attrs?.id
  t.match(await patch(inner, { node: h(1, 'x') }), { status: 422, body: { error: { code: 'invalid_position' } } })
  t.match(await patch(id, { node: node('listItem', {}, p('x')) }), {
    status: 422,
    body: { error: { code: 'invalid_position' } },
  })
  for (const [body, path] of [
    [{ node: text('x') }, '/node'],
    [{ node: { type: 'heading', attrs: { level: 9 } } }, '/node'],
    [{ node: { type: 'blockquote', content: [{ type: 'nope' }] } }, '/node/content/0'],
    [{ content: [text('a'), p('x')] }, '/content/1'],
  ] as const) {
    const reply = await patch(id, body)
    t.match(reply, { status: 422, body: { error: { code: 'invalid_node' } } })
    t.equal(reply.body.error.details.path, path)
  }
  t.equal((await bodyOf(ada, made.id)).version, made.version)
})

t.test('a patch that changes nothing tells nobody', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a')])
  const before = (await ada.get(`/documents/${made.id}`)).body.data
  const path = `/documents/${made.id}/blocks/${made.blocks[0]?.attrs.id}`
  t.equal((await ada.patch(path, { content: [text('a')], attrs: { nothing: 1 } })).headers.get('etag'), made.etag)
  t.strictSame((await ada.get(`/documents/${made.id}`)).body.data, before)
  t.strictSame(await eventsOf(database, made.id), ['document.created'])
})

t.test('a deletion takes along what it empties, and leaves what must have a paragraph one', async (t) => {
  const ada = await signUp()
  const cell = (type: string, ...content: never[]) => node(type, {}, ...content)
  const cases: [string, ReturnType<typeof p>[], number[], unknown[]][] = [
    ['a top-level block', [p('a'), p('b')], [0], [p('b')]],
    ['the only block', [h(1, 'a')], [0], [p()]],
    ['the only item', [p('a'), ul(p('x'))], [1, 0], [p('a')]],
    ['the only paragraph of the only item', [p('a'), ul(p('x'))], [1, 0, 0], [p('a')]],
    ['one of two items', [ul(p('x'), p('y'))], [0, 0], [ul(p('y'))]],
    ['the only quote of a document', [node('blockquote', {}, node('blockquote', {}, p('x')))], [0, 0, 0], [p()]],
    [
      'the paragraph of a cell',
      [node('table', {}, node('tableRow', {}, cell('tableCell', p('x') as never), cell('tableCell', p('y') as never)))],
      [0, 0, 0, 0],
      [node('table', {}, node('tableRow', {}, cell('tableCell', p() as never), cell('tableCell', p('y') as never)))],
    ],
    [
      'the only cell of a row',
      [node('table', {}, node('tableRow', {}, cell('tableCell', p('x') as never))), p('a')],
      [0, 0, 0],
      [p('a')],
    ],
    [
      'the first paragraph of an item that goes on with a list',
      [node('bulletList', {}, node('listItem', {}, p('x'), ul(p('y'))))],
      [0, 0, 0],
      [node('bulletList', {}, node('listItem', {}, p(), ul(p('y'))))],
    ],
    [
      'the content of details',
      [node('details', {}, node('detailsSummary', {}, 's'), node('detailsContent', {}, p('x')))],
      [0, 1, 0],
      [node('details', {}, node('detailsSummary', {}, 's'), node('detailsContent', {}, p()))],
    ],
  ]
  for (const [name, blocks, path, left] of cases) {
    const made = await make(ada, blocks)
    const target = blockAt(made, path)
    const deleted = await ada.delete(`/documents/${made.id}/blocks/${target}`, undefined, { 'if-match': made.etag })
    t.equal(deleted.status, 200, name)
    const now = await bodyOf(ada, made.id)
    t.strictSame(deleted.body.data, { document_id: made.id, version: now.version, deleted_block_id: target })
    t.equal(deleted.headers.get('etag'), now.etag)
    const expected = await make(ada, left as never)
    t.strictSame(shape(now.blocks), shape(expected.blocks), name)
    refused(t, await ada.get(`/documents/${made.id}/blocks/${target}`), { status: 404, code: 'block_not_found' })
  }
  const details = node('details', {}, node('detailsSummary', {}, 's'), node('detailsContent', {}, p('x')))
  const made = await make(ada, [details])
  const summary = blockAt(made, [0, 0])
  refused(t, await ada.delete(`/documents/${made.id}/blocks/${summary}`), { status: 422, code: 'invalid_position' })
})

t.test('a guard may name the document, or the one block that is written', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a'), ul(p('item')), p('c')])
  const [a, list, c] = made.blocks
  const inner = blockAt(made, [1, 0, 0])
  const hashOf = async (id: unknown) => (await ada.get(`/documents/${made.id}/blocks/${id}`)).body.data.hash as string
  const path = (id: unknown) => `/documents/${made.id}/blocks/${id}`
  const patch = (id: unknown, guard: string) =>
    ada.patch(path(id), { content: [text(guard.slice(-9))] }, { 'if-match': guard })
  const [hash, innerHash, cHash] = [await hashOf(a?.attrs.id), await hashOf(inner), await hashOf(c?.attrs.id)]

  t.equal((await patch(a?.attrs.id, made.etag)).status, 200)
  t.equal((await patch(inner, `"${innerHash}"`)).status, 200, 'edits elsewhere do not disturb')
  t.equal((await patch(c?.attrs.id, `"${unknown}", ${cHash}`)).status, 200, 'bare, and one of several')
  const { version } = await bodyOf(ada, made.id)
  const current = await hashOf(a?.attrs.id)
  const now = { current_version: version, current_hash: current }
  for (const guard of [`"${hash}"`, hash]) {
    for (const stale of [
      await patch(a?.attrs.id, guard),
      await ada.delete(path(a?.attrs.id), undefined, { 'if-match': guard }),
    ]) {
      refused(t, stale, { status: 409, code: 'version_conflict', details: { provided: hash, ...now } })
      t.equal(stale.headers.get('etag'), `"${version}"`)
    }
  }
  const both = await patch(a?.attrs.id, `"${made.version}", "${hash}"`)
  t.match(both.body.error.details, { provided: `${made.version}, ${hash}`, ...now }, 'a list may hold both')
  refused(t, await patch(a?.attrs.id, `"${await hashOf(list?.attrs.id)}"`), { status: 409, code: 'version_conflict' })
  refused(t, await patch(a?.attrs.id, made.etag), {
    status: 409,
    code: 'version_conflict',
    details: {
      provided: made.version,
      current_version: version,
      changed_block_ids: [a?.attrs.id, list?.attrs.id, c?.attrs.id],
    },
  })
  for (const weak of [`W/"${version}"`, `W/"${current}"`]) {
    refused(t, await patch(a?.attrs.id, weak), { status: 409, code: 'version_conflict' })
  }
  for (const call of [
    (guard: string) => patch(a?.attrs.id, guard),
    (guard: string) => ada.delete(path(a?.attrs.id), undefined, { 'if-match': guard }),
    (guard: string) =>
      ada.post(
        `/documents/${made.id}/blocks`,
        { position: { document_end: 1 }, nodes: [p('x')] },
        { 'if-match': guard },
      ),
  ]) {
    refused(t, await call('x'), { status: 400, code: 'invalid_precondition', details: { header: 'If-Match' } })
    refused(t, await call(`"${unknown}"`), { status: 409, code: 'version_conflict' })
  }
  const insert = { position: { document_end: 1 }, nodes: [p('x')] }
  refused(t, await ada.post(`/documents/${made.id}/blocks`, insert, { 'if-match': `"${current}"` }), {
    status: 409,
    code: 'version_conflict',
  })
  t.equal((await patch(a?.attrs.id, '*')).status, 200)
  const last = await hashOf(a?.attrs.id)
  t.equal((await ada.delete(path(a?.attrs.id), undefined, { 'if-match': `"${last}"` })).status, 200)
  t.equal((await ada.delete(path(c?.attrs.id))).status, 200, 'a guard is not required')
})

t.test('whoever guards with the hash of a block that has changed goes on with the hash of the refusal', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a')])
  const path = `/documents/${made.id}/blocks/${made.blocks[0]?.attrs.id}`
  const refusal = await ada.patch(path, { content: [text('b')] }, { 'if-match': `"${'x'.repeat(1000)}"` })
  const { provided, current_hash } = refusal.body.error.details
  t.equal(provided, 'x'.repeat(200), 'what was sent is not repeated whole')
  t.equal((await ada.patch(path, { content: [text('b')] }, { 'if-match': `"${current_hash}"` })).status, 200)
})

t.test('of several faults the first in the order of checks is told', async (t) => {
  const owner = await signUp({ workspace: 'Checked' })
  const viewer = await signUp({ workspace: 'Checked', role: 'viewer' })
  const reader = await signUp({ workspace: 'Checked', role: 'editor', scopes: ['documents:read'] })
  const stranger = await signUp()
  const made = await make(owner, [p('x')])
  const block = `/documents/${made.id}/blocks/${made.blocks[0]?.attrs.id}`
  const missing = `/documents/${made.id}/blocks/${blockId('A')}`
  const stale = { 'if-match': `"${unknown}"` }
  const bad = { node: { type: 'nope' } }
  const badInsert = { position: { after_heading: 'none' }, nodes: [{ type: 'nope' }] }
  const writes: [(client: Client, headers: Record<string, string>) => Promise<Reply>, string | null][] = [
    [(client, headers) => client.patch(block, bad, headers), 'invalid_node'],
    [(client, headers) => client.post(`/documents/${made.id}/blocks`, badInsert, headers), 'invalid_node'],
    [(client, headers) => client.delete(block, undefined, headers), null],
  ]
  for (const [write, fault] of writes) {
    refused(t, await write(reader, stale), { status: 403, code: 'insufficient_scope' })
    refused(t, await write(stranger, { 'if-match': 'x' }), { status: 400, code: 'invalid_precondition' })
    refused(t, await write(stranger, stale), { status: 404, code: 'document_not_found', details: { id: made.id } })
    refused(t, await write(viewer, stale), { status: 403, code: 'forbidden' })
    refused(t, await write(owner, stale), { status: 409, code: 'version_conflict' })
    if (fault !== null) refused(t, await write(owner, {}), { status: 422, code: fault })
  }
  const notFound = { status: 404, code: 'block_not_found', details: { id: blockId('A') } }
  refused(t, await viewer.patch(missing, bad, stale), notFound)
  refused(t, await viewer.delete(missing, undefined, stale), notFound)
  refused(t, await owner.patch(missing, bad), notFound)
})

t.test('a repeated insert with the same key inserts once', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('x')])
  const input = { position: { document_end: true }, nodes: [p('y')] }
  const headers = { 'idempotency-key': 'insert', 'if-match': made.etag }
  const first = await ada.post(`/documents/${made.id}/blocks`, input, headers)
  const again = await ada.post(`/documents/${made.id}/blocks`, input, headers)
  t.equal(again.status, 201)
  t.strictSame(again.body.data, first.body.data)
  for (const name of ['etag', 'location']) t.equal(again.headers.get(name), first.headers.get(name))
  t.equal((await bodyOf(ada, made.id)).blocks.length, 2)
  t.equal((await ada.get(`/documents/${made.id}/versions`)).body.data.length, 1)
})

function idsOf(blocks: { block_id: string }[]): string[] {
  return blocks.map(({ block_id }) => block_id)
}

function idsOfNodes(blocks: Made['blocks']): string[] {
  return blocks.map(({ attrs }) => attrs.id)
}

/** The id of the block at a path of child indices. */
function blockAt(made: Made, [first = 0, ...rest]: number[]): string {
  const top = made.blocks[first] as Made['blocks'][number]
  return String(
    rest.reduce<(typeof top)['content'] extends undefined ? never : typeof top>(
      (at, index) => at.content?.[index] as never,
      top,
    ).attrs.id,
  )
}

/** The texts of a body in order; the texts of a list are in brackets. */
function sketch({ blocks }: Made): string {
  const words = (block: unknown): string => {
    const { text: word, type, content = [] } = block as { text?: string; type: string; content?: unknown[] }
    if (word !== undefined) return word
    return type === 'bulletList' ? `(${content.map(words).join(';')})` : content.map(words).join(',')
  }
  return blocks.map(words).join('|')
}
