import type { BlockNode, BodyNode } from '../../shared/body/document.ts'
import { plainText } from '../../shared/body/text.ts'
import { computationLoad } from '../../shared/computations/compute.ts'
import { blockId, h, node, p, text, ul } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, eventsOf, make, put, refused, shape } from '../support/documents.ts'
import { onlyLong } from '../support/run-options.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService({
  VERSIONS_RETENTION: '1000',
  QUOTA_DOCUMENT_CHARACTERS: '6000000',
  DOCUMENT_MAX_BYTES: '16000000',
  BODY_MAX_BYTES: '16000000',
})

t.test('an agent that knows only a sentence can change it, and everything else stays as it was', async (t) => {
  const ada = await signUp()
  const link = { type: 'link', attrs: { href: 'https://x.org' } }
  const made = await make(ada, [
    h(1, 'Water'),
    p('Elephants drink ', text('a hundred litres', 'bold'), text(' a day', link), '.'),
    ul(p('first'), p('second')),
  ])
  const [heading, paragraph, list] = made.blocks as [BlockNode, BlockNode, BlockNode]
  const reply = await edit(ada, made.id, { op: 'replace', find: 'drink a hundred', replace: 'need two hundred' })
  t.equal(reply.status, 200, reply.text)
  const after = await bodyOf(ada, made.id)
  t.strictSame(reply.body.data, {
    document_id: made.id,
    version: after.version,
    applied: [{ index: 0, block_ids: [paragraph.attrs.id], count: 1 }],
    warnings: [],
  })
  t.equal(reply.headers.get('etag'), after.etag)
  const content = [
    { text: 'Elephants need two hundred', type: 'text' },
    { marks: [{ type: 'bold' }], text: ' litres', type: 'text' },
    { marks: [link], text: ' a day', type: 'text' },
    { text: '.', type: 'text' },
  ]
  t.strictSame(after.blocks, [heading, { ...paragraph, content }, list])
  t.equal((await ada.get(`/documents/${made.id}/versions`)).body.data.length, 1, 'the body before is kept')
  t.strictSame(await eventsOf(database, made.id), ['document.created', 'document.content.updated'])
})

t.test('a text that is not there is refused with what resembles it, one that is there twice with where', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [
    h(1, 'Storks'),
    p('Storks eat frogs in the morning.'),
    p('Herons eat fish.'),
    node(
      'table',
      {},
      node('tableRow', {}, node('tableCell', {}, p('Storks fly south')), node('tableCell', {}, p('x'))),
    ),
  ])
  const [heading, frogs, herons, table] = made.blocks as [BlockNode, BlockNode, BlockNode, BlockNode]
  const cell = table.content?.[0]?.content?.[0]?.content?.[0] as BlockNode
  const missing = await edit(ada, made.id, { op: 'replace', find: 'storks eat frogs in the evening', replace: 'x' })
  t.equal(missing.body.error.details.nearest[0].text, 'Storks eat frogs in the morning.')
  refused(t, missing, {
    status: 409,
    code: 'text_not_found',
    details: { index: 0, nearest: [{ block_id: frogs.attrs.id, text: 'Storks eat frogs in the morning.' }] },
  })
  refused(t, await edit(ada, made.id, { op: 'replace', find: 'zebra crossing', replace: 'x' }), {
    status: 409,
    code: 'text_not_found',
    details: { index: 0, nearest: [] },
  })
  refused(t, await edit(ada, made.id, { op: 'replace', find: 'Storks', replace: 'Cranes' }), {
    status: 409,
    code: 'text_ambiguous',
    details: { index: 0, block_ids: [heading.attrs.id, frogs.attrs.id, cell.attrs.id] },
  })
  const first = { op: 'replace', find: 'Storks', replace: 'Cranes', occurrence: 'first' }
  t.strictSame(applied(await edit(ada, made.id, first)), [{ index: 0, block_ids: [heading.attrs.id], count: 1 }])
  const inTable = { op: 'replace', find: 'Storks', replace: 'Cranes', block_id: table.attrs.id }
  t.strictSame(applied(await edit(ada, made.id, inTable)), [{ index: 0, block_ids: [cell.attrs.id], count: 1 }])
  const all = { op: 'replace', find: 'EAT', replace: 'hunt', occurrence: 'all', match_case: false }
  const ids = [frogs.attrs.id, herons.attrs.id]
  t.strictSame(applied(await edit(ada, made.id, all)), [{ index: 0, block_ids: ids, count: 2 }])
  refused(t, await edit(ada, made.id, { ...all, find: 'hunt', block_id: blockId('ZZZZ') }), {
    status: 422,
    code: 'block_not_found',
    details: {
      path: '/edits/0/block_id',
      reason: 'there is no such block',
      block_id: blockId('ZZZZ'),
      operation_index: 0,
    },
  })
})

t.test('of several edits each sees the ones before it, and one that fails undoes all', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('one two'), p('three')])
  const reply = await edit(
    ada,
    made.id,
    { op: 'replace', find: 'two', replace: 'four' },
    { op: 'append', markdown: 'and *four* more' },
    { op: 'replace', find: 'four', replace: '', occurrence: 'all' },
  )
  const after = await bodyOf(ada, made.id)
  const [first, , third] = after.blocks as [BlockNode, BlockNode, BlockNode]
  t.strictSame(applied(reply), [
    { index: 0, block_ids: [first.attrs.id], count: 1 },
    { index: 1, block_ids: [third.attrs.id], count: 1 },
    { index: 2, block_ids: [first.attrs.id, third.attrs.id], count: 2 },
  ])
  t.strictSame(shape(after.blocks), shape([p('one '), p('three'), p('and  more')].map(withoutAttributes)))
  refused(
    t,
    await edit(ada, made.id, { op: 'append', markdown: 'lost' }, { op: 'replace', find: 'nowhere', replace: 'x' }),
    { status: 409, code: 'text_not_found', details: { index: 1, nearest: [] } },
  )
  t.equal((await bodyOf(ada, made.id)).etag, after.etag)
})

t.test('Markdown goes to an end of the document or of a section, which an id or a slug names', async (t) => {
  const ada = await signUp()
  const content = {
    format: 'markdown',
    content: '---\na: 1\n---\n\n# Water\n\none\n\n## Deep\n\ntwo\n\n# Water\n\nthree',
  }
  const { id } = (await ada.post('/documents', { title: 'Sections', content })).body.data
  const [, heading] = (await bodyOf(ada, id)).blocks as [BlockNode, BlockNode]
  const reply = await edit(
    ada,
    id,
    { op: 'append', markdown: 'end of first', section: heading.attrs.id },
    { op: 'prepend', markdown: 'beginning of second', section: 'water-1' },
    { op: 'append', markdown: 'end of deep', section: 'deep' },
    { op: 'prepend', markdown: '- a\n- b\n\n1. c', section: undefined },
    { op: 'append', markdown: '# New\n\nend' },
    { op: 'append', markdown: 'end of new', section: 'new' },
    { op: 'append', markdown: ' \n ' },
  )
  t.equal(reply.status, 200, reply.text)
  t.strictSame(
    applied(reply).map(({ count }) => count),
    [1, 1, 1, 2, 2, 1, 0],
  )
  t.strictSame(
    (await bodyOf(ada, id)).blocks.map((block) => `${block.type} ${plainText(block)}`),
    [
      'frontmatter ',
      'bulletList a\nb',
      'orderedList c',
      'heading Water',
      'paragraph one',
      'heading Deep',
      'paragraph two',
      'paragraph end of first',
      'paragraph end of deep',
      'heading Water',
      'paragraph beginning of second',
      'paragraph three',
      'heading New',
      'paragraph end',
      'paragraph end of new',
    ],
  )
  const unknown = { op: 'append', markdown: 'x', section: 'nowhere' }
  refused(t, await edit(ada, id, { op: 'append', markdown: 'y' }, unknown), {
    status: 404,
    code: 'section_not_found',
    details: { id: 'nowhere', field: 'section', index: 1 },
  })
  refused(t, await edit(ada, id, { op: 'append', markdown: `<!-- block=${heading.attrs.id} -->\nagain` }), {
    status: 422,
    code: 'duplicate_block_id',
  })
  refused(t, await edit(ada, id, { op: 'append', markdown: '---\nb: 2\n---\n\nx' }), {
    status: 422,
    code: 'invalid_position',
  })
  refused(
    t,
    await edit(ada, id, { op: 'append', markdown: '![x](/api/v1/attachments/att_00000000000000000000000000)' }),
    {
      status: 422,
      code: 'attachment_not_found',
    },
  )
})

t.test('a list goes on, a table gets a row and a task is ticked, and every other block keeps its id', async (t) => {
  const ada = await signUp()
  const content = {
    format: 'markdown',
    content: '1. one\n2. two\n\ntext\n\n- [ ] buy *milk*\n\nmore\n\n| A | B |\n| :- | -: |\n| 1 | 2 |\n| 5 | 6 |',
  }
  const { id } = (await ada.post('/documents', { title: 'Log', content })).body.data
  const before = await bodyOf(ada, id)
  const [list, , tasks, , table] = before.blocks as [BlockNode, BlockNode, BlockNode, BlockNode, BlockNode]
  const [item, task, row] = [list, tasks, table].map((block) => block.content?.at(0) as BlockNode)
  const cell = table.content?.[1]?.content?.[0] as BlockNode
  const buy = task?.content?.[0] as BlockNode
  const at = (place: object, markdown: string) => ({ op: 'insert', markdown, ...place })
  const reply = await edit(
    ada,
    id,
    at({ parent_block_id: list.attrs.id }, '- three\n- four'),
    at({ after_block_id: item?.attrs.id }, '1. between'),
    at({ before_block_id: task?.attrs.id }, '- first'),
    at({ parent_block_id: tasks.attrs.id }, '- [x] last'),
    at({ parent_block_id: table.attrs.id }, '| 7 | 8 |\n| 9 |'),
    at({ after_block_id: row?.attrs.id }, '| a | b |\n| - | - |\n| *x* | y |'),
    at({ after_block_id: cell.attrs.id }, ' | 3 | 4 |'),
    { op: 'check', block_id: buy.attrs.id, if_match: await hashOf(ada, id, buy.attrs.id) },
  )
  t.equal(reply.status, 200, reply.text)
  t.strictSame(
    applied(reply).map(({ count }) => count),
    [2, 1, 1, 1, 2, 1, 1, 1],
  )
  t.strictSame(applied(reply).at(-1)?.block_ids, [task?.attrs.id])
  const { data } = (await ada.get(`/documents/${id}/content?format=markdown`)).body
  t.equal(
    data.content,
    '1. one\n2. between\n3. two\n4. three\n5. four\n\ntext\n\n- [ ] first\n- [x] buy *milk*\n- [x] last\n\nmore\n\n' +
      '| A | B |\n| :- | -: |\n| *x* | y |\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n| 7 | 8 |\n| 9 | |\n',
  )
  const after = idsIn((await bodyOf(ada, id)).blocks)
  t.strictSame(
    idsIn(before.blocks),
    after.filter((one) => idsIn(before.blocks).includes(one)),
    'in the same order',
  )
  t.equal((await edit(ada, id, { op: 'check', block_id: task?.attrs.id, checked: false })).status, 200)
  const [, open] = (await bodyOf(ada, id)).blocks[2]?.content ?? []
  t.strictSame(open, task)
  for (const wrong of [
    at({ parent_block_id: list.attrs.id }, '- [ ] a task'),
    at({ parent_block_id: list.attrs.id }, 'text'),
    at({ parent_block_id: table.attrs.id }, 'text'),
    at({ parent_block_id: buy.attrs.id }, 'text'),
    { op: 'check', block_id: item?.attrs.id },
    { op: 'check', block_id: list.attrs.id },
  ]) {
    const { status, body } = await edit(ada, id, wrong)
    t.match({ status, body }, { status: 422, body: { error: { code: 'invalid_position' } } }, JSON.stringify(wrong))
  }
  const twice = at({ parent_block_id: list.attrs.id, after_block_id: item?.attrs.id }, '- x')
  t.equal((await edit(ada, id, twice)).status, 400)
})

t.test('an edit may be guarded, repeated and rehearsed like every write to a body', async (t) => {
  const ada = await signUp()
  const viewer = await signUp({ workspace: 'Edited', role: 'viewer' })
  const owner = await signUp({ workspace: 'Edited' })
  const made = await make(ada, [p('one'), p('two')])
  const change = { op: 'replace', find: 'one', replace: 'first' }
  const path = `/documents/${made.id}/content/edit`
  const stale = `sha256:${'0'.repeat(64)}`
  const guarded = (members: object, headers: Record<string, string> = {}) =>
    ada.post(path, { edits: [change], ...members }, headers)
  refused(t, await guarded({ base_version: stale }), { status: 409, code: 'version_conflict' })
  refused(t, await guarded({}, { 'if-match': `"${stale}"` }), { status: 409, code: 'version_conflict' })
  refused(t, await guarded({ base_version: made.version }, { 'if-match': `"${stale}"` }), {
    status: 400,
    code: 'precondition_mismatch',
  })
  const absent = { edits: [{ ...change, find: 'nowhere' }], base_version: stale }
  refused(t, await ada.post(path, absent), { status: 409, code: 'text_not_found' })
  const faulty = { edits: [{ ...change, block_id: 'nowhere' }], base_version: stale }
  refused(t, await ada.post(path, faulty), { status: 409, code: 'version_conflict' })

  const rehearsed = await ada.post(`${path}?dry_run=true`, { edits: [change] })
  t.equal(rehearsed.body.data.diff.blocks.length, 1)
  t.equal((await bodyOf(ada, made.id)).etag, made.etag)
  const replies: Reply[] = []
  for (let call = 0; call < 2; call += 1) {
    replies.push(await guarded({ base_version: made.version }, { 'idempotency-key': 'once' }))
  }
  const [real, replay] = replies as [Reply, Reply]
  t.equal(real.headers.get('etag'), rehearsed.headers.get('etag'))
  t.equal(replay.headers.get('idempotent-replayed'), 'true')
  t.strictSame(replay.body.data, real.body.data)

  const shared = await make(owner, [p('one')])
  refused(t, await edit(viewer, shared.id, change), { status: 403, code: 'forbidden' })
  refused(t, await edit(owner, made.id, change), { status: 404, code: 'document_not_found' })
  for (const edits of [
    [],
    [{ op: 'replace', find: '', replace: 'x' }],
    [{ op: 'replace', find: 'a\nb', replace: 'x' }],
    [{ op: 'replace', find: 'a', replace: 'x\ny' }],
    [{ op: 'replace', find: '水'.repeat(2001), replace: 'x' }],
    [{ op: 'replace', find: 'a', replace: 'x', occurrence: 'last' }],
    [{ op: 'append', markdown: '' }],
    [{ op: 'rename' }],
    Array.from({ length: 101 }, () => change),
  ]) {
    refused(t, await ada.post(path, { edits }), { status: 400, code: 'invalid_request' })
  }
})

t.test('editors of one document at once lose nothing of each other', async (t) => {
  const ada = await signUp()
  const names = Array.from({ length: 40 }, (_, index) => `word${index}.`)
  const made = await make(ada, [p(names.join(' ')), h(1, 'Notes')])
  const replies = await Promise.all(
    names.flatMap((name) => [
      edit(ada, made.id, { op: 'replace', find: name, replace: `new ${name}` }),
      edit(ada, made.id, { op: 'append', markdown: `about ${name.slice(4)}`, section: 'notes' }),
    ]),
  )
  for (const reply of replies) t.equal(reply.status, 200, reply.text)
  const [words, , ...notes] = (await bodyOf(ada, made.id)).blocks as [BlockNode, BlockNode]
  t.equal(plainText(words), names.map((name) => `new ${name}`).join(' '))
  t.strictSame(
    notes.map((note) => plainText(note as BodyNode)).sort(),
    names.map((name) => `about ${name.slice(4)}`).sort(),
  )
  t.equal((await ada.get(`/documents/${made.id}/versions`)).body.data.length, replies.length)
  const both = await Promise.all(
    ['x', 'y'].map((replace) => edit(ada, made.id, { op: 'replace', find: 'new word7.', replace })),
  )
  t.strictSame(
    both.map(({ status }) => status).sort(),
    [200, 409],
    'the second does not find what the first has replaced',
  )
})

t.test('an edit that waits for another edit of a large body works on what that edit has made', async (t) => {
  const ada = await signUp()
  const filler = 'some words of a long text '.repeat(10)
  const made = await make(
    ada,
    Array.from({ length: 1500 }, (_, index) => p(`paragraph ${index}. ${filler}`)),
  )
  const numbers = [3, 700, 1400, 3]
  const replies = await Promise.all(
    numbers.map((number) => edit(ada, made.id, { op: 'replace', find: `paragraph ${number}.`, replace: `${number}:` })),
  )
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 200, 200, 409])
  const { blocks } = await bodyOf(ada, made.id)
  for (const number of numbers) t.match(plainText(blocks[number] as BlockNode), new RegExp(`^${number}: some`))
})

t.test('the largest edits of the largest body leave the event loop to others', onlyLong, async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('small')])
  const chunk = `${'b'.repeat(1999)} `
  t.equal(
    (
      await put(
        ada,
        made.id,
        Array.from({ length: 5 }, () => p(chunk.repeat(520))),
      )
    ).status,
    200,
  )
  // Each beginning of the text to find fits nearly everywhere, which is the worst case for a simple search.
  const edits = Array.from({ length: 100 }, (_, index) => ({
    op: 'replace',
    find: `${'b'.repeat(1998 - (index % 2))} b`,
    replace: `${'b'.repeat(1998 - (index % 2))} b`,
    occurrence: 'all',
    match_case: index % 2 === 0,
  }))
  const before = computationLoad().ends.done
  const reply = await edit(ada, made.id, ...edits)
  t.equal(reply.status, 200, reply.text.slice(0, 500))
  t.equal(applied(reply).length, 100)
  t.ok(computationLoad().ends.done > before, 'threads have computed it')
})

type Applied = { index: number; block_ids: string[]; count: number }

async function hashOf(client: Client, id: string, blockId: string): Promise<string> {
  return (await client.get(`/documents/${id}/blocks/${blockId}`)).body.data.hash
}

function idsIn(blocks: readonly BodyNode[]): string[] {
  return blocks.flatMap(({ attrs, content = [] }) => [
    ...(attrs?.id === undefined ? [] : [`${attrs.id}`]),
    ...idsIn(content),
  ])
}

function edit(client: Client, id: string, ...edits: object[]): Promise<Reply> {
  return client.post(`/documents/${id}/content/edit`, { edits })
}

function applied(reply: Reply): Applied[] {
  return reply.body.data.applied
}

function withoutAttributes({ type, content }: BodyNode): BodyNode {
  return { attrs: {}, content: content ?? [], type }
}
