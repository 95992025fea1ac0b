import fc from 'fast-check'
import { blockId, h, node, p, text, ul } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, eventsOf, type Made, make, put, refused, shape } from '../support/documents.ts'
import { runsTimes } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService()
const unknown = `sha256:${'0'.repeat(64)}`

t.test('operations run in order, each on what the ones before it made', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a'), p('b'), ul(p('item'))])
  const [a, b, list] = made.blocks.map(({ attrs }) => attrs.id)
  const fresh = blockId('NEW')
  const operations = [
    {
      op: 'insert',
      position: { document_start: true },
      nodes: [node('heading', { level: 1, id: fresh }, 'H'), p('x')],
    },
    { op: 'insert', position: { after_heading: 'h' }, nodes: [p('under')] },
    { op: 'insert', position: { before_block_id: fresh }, nodes: [p('above')] },
    { op: 'replace', block_id: fresh, node: h(2, 'H2') },
    { op: 'delete', block_id: a },
    { op: 'insert', position: { document_end: 1 }, nodes: [node('paragraph', { id: String(a) }, 'a again')] },
    { op: 'replace', block_id: b, node: ul(p('one'), p('two')) },
    { op: 'delete', block_id: list },
  ]
  const reply = await ada.post(`/documents/${made.id}/batch`, { operations }, { 'if-match': made.etag })
  t.equal(reply.status, 200)
  const now = await bodyOf(ada, made.id)
  t.equal(reply.headers.get('etag'), now.etag)
  t.equal(reply.headers.get('location'), null)
  const { results, ...rest } = reply.body.data
  t.strictSame(rest, { document_id: made.id, version: now.version, applied: 8, warnings: [] })
  const at = (position: number) => now.blocks[position]?.attrs.id
  t.strictSame(results, [
    { index: 0, op: 'insert', block_ids: [fresh, at(3)] },
    { index: 1, op: 'insert', block_ids: [at(2)] },
    { index: 2, op: 'insert', block_ids: [at(0)] },
    { index: 3, op: 'replace', block_ids: [fresh] },
    { index: 4, op: 'delete', block_ids: [a] },
    { index: 5, op: 'insert', block_ids: [a] },
    { index: 6, op: 'replace', block_ids: [b] },
    { index: 7, op: 'delete', block_ids: [list] },
  ])
  const expected = await make(ada, [p('above'), h(2, 'H2'), p('under'), p('x'), ul(p('one'), p('two')), p('a again')])
  t.strictSame(shape(now.blocks), shape(expected.blocks))
  t.strictSame(await eventsOf(database, made.id), ['document.created', 'document.content.updated'], 'one event')
  t.match((await ada.get(`/documents/${made.id}/versions`)).body.data, [{ seq: 1 }], 'one version')
  t.equal((await ada.get(`/documents/${made.id}/versions`)).body.data.length, 1)
})

t.test('a batch that cannot be done whole is not done at all, and names the operation', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a'), ul(p('item'))])
  const [a, list] = made.blocks.map(({ attrs }) => attrs.id)
  const good = { op: 'insert', position: { document_end: true }, nodes: [p('x')] }
  const [named, placed] = [{ path: '/operations/1/block_id' }, { path: '/operations/1/position' }]
  const cases: [object, string, object][] = [
    [{ op: 'delete', block_id: blockId('B') }, 'block_not_found', { ...named, block_id: blockId('B') }],
    [{ op: 'delete', block_id: 'nonsense' }, 'block_not_found', { ...named, block_id: 'nonsense' }],
    [{ op: 'replace', block_id: blockId('B'), node: p('x') }, 'block_not_found', { ...named, block_id: blockId('B') }],
    [
      { ...good, position: { before_block_id: blockId('B') } },
      'block_not_found',
      { ...placed, block_id: blockId('B') },
    ],
    [{ ...good, position: { after_heading: 'none' } }, 'heading_not_found', { heading: 'none' }],
    [{ ...good, position: { parent_block_id: a } }, 'invalid_position', { ...placed, block_id: a }],
    [{ ...good, nodes: [p('x'), { type: 'nope' }] }, 'invalid_node', { path: '/operations/1/nodes/1' }],
    [{ op: 'replace', block_id: a, node: { type: 'nope' } }, 'invalid_node', { path: '/operations/1/node' }],
    [
      { op: 'replace', block_id: a, node: node('paragraph', { id: String(list) }) },
      'block_id_mismatch',
      { block_id: a },
    ],
    [{ ...good, nodes: [node('paragraph', { id: 'x' })] }, 'invalid_block_id', { path: '/operations/1/nodes/0' }],
    [{ ...good, nodes: [node('paragraph', { id: String(a) })] }, 'duplicate_block_id', { block_id: a }],
  ]
  for (const [bad, code, details] of cases) {
    const reply = await ada.post(`/documents/${made.id}/batch`, { operations: [good, bad, good] })
    t.match(reply, { status: 422, body: { error: { code, details: { ...details, operation_index: 1 } } } }, code)
  }
  const lost = { ...good, nodes: [node('image', { attachmentId: 'att_01ARZ3NDEKTSV4RRFFQ69G5FAV' })] }
  const reply = await ada.post(`/documents/${made.id}/batch`, { operations: [good, lost] })
  refused(t, reply, { status: 422, code: 'attachment_not_found' })
  t.match(reply.body.error.details, { path: '/operations/1/nodes/0', operation_index: 1 })
  t.strictSame(await bodyOf(ada, made.id), made)
  t.strictSame((await ada.get(`/documents/${made.id}/versions`)).body.data, [])
  t.strictSame(await eventsOf(database, made.id), ['document.created'])
})

t.test('a batch has 1 to 100 operations of the three kinds', async (t) => {
  const ada = await signUp()
  const { id, blocks } = await make(ada, [p('a')])
  const insert = { op: 'insert', position: { document_end: true }, nodes: [p('x')] }
  const block_id = blocks[0]?.attrs.id
  for (const body of [
    {},
    { operations: [] },
    { operations: Array.from({ length: 101 }, () => insert) },
    { operations: {} },
    { operations: [{ op: 'move', block_id }] },
    { operations: [{ block_id }] },
    { operations: [{ op: 'insert', position: { document_end: 1 } }] },
    { operations: [{ op: 'insert', position: {}, nodes: [p('x')] }] },
    { operations: [{ op: 'insert', position: { document_end: 1, document_start: 1 }, nodes: [p('x')] }] },
    { operations: [{ op: 'insert', position: { document_end: 1 }, nodes: [] }] },
    { operations: [{ op: 'replace', block_id }] },
    { operations: [{ op: 'delete' }] },
    { operations: [{ op: 'delete', block_id, if_match: 7 }] },
    { operations: [insert], base_version: 7 },
  ]) {
    refused(t, await ada.post(`/documents/${id}/batch`, body), { status: 400, code: 'invalid_request' })
  }
  const many = await ada.post(`/documents/${id}/batch`, { operations: Array.from({ length: 100 }, () => insert) })
  t.equal(many.body.data.applied, 100)
  t.equal((await bodyOf(ada, id)).blocks.length, 101)
})

t.test('the version a batch rests on goes into the header or the body, or agrees in both', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a'), p('b')])
  const second = await put(ada, made.id, [p('c'), ...made.blocks.slice(1)], made.etag)
  const current = second.body.data.version
  const changed = [second.body.data.document.content[0].attrs.id, made.blocks[0]?.attrs.id]
  const operations = [{ op: 'replace', block_id: made.blocks[1]?.attrs.id, node: made.blocks[1] }]
  const batch = (base_version: string | undefined, header?: string) =>
    ada.post(
      `/documents/${made.id}/batch`,
      { ...(base_version !== undefined && { base_version }), operations },
      header === undefined ? {} : { 'if-match': header },
    )
  for (const [base, header] of [
    [undefined, undefined],
    [current, undefined],
    [`"${current}"`, undefined],
    [undefined, `"${current}"`],
    [current, `"${current}"`],
    [`"${current}"`, `"${unknown}", "${current}"`],
    ['*', undefined],
    [current, '*'],
  ]) {
    t.equal((await batch(base, header)).status, 200, `${base} ${header}`)
  }
  for (const [base, header] of [
    [made.version, undefined],
    [made.etag, undefined],
    [undefined, made.etag],
    [made.version, made.etag],
    [made.version, '*'],
  ]) {
    const stale = await batch(base, header)
    refused(t, stale, {
      status: 409,
      code: 'version_conflict',
      details: { provided: made.version, current_version: current, changed_block_ids: changed },
    })
    t.equal(stale.headers.get('etag'), `"${current}"`)
  }
  refused(t, await batch(`W/"${current}"`), { status: 409, code: 'version_conflict' })
  const hash = (await ada.get(`/documents/${made.id}/blocks/${made.blocks[1]?.attrs.id}`)).body.data.hash
  refused(t, await batch(undefined, `"${hash}"`), { status: 409, code: 'version_conflict' })
  for (const [base, header] of [
    [current, made.etag],
    [made.version, `"${current}"`],
  ]) {
    refused(t, await batch(base, header), {
      status: 400,
      code: 'precondition_mismatch',
      details: { header: 'If-Match' },
    })
  }
  for (const [base, header] of [
    ['nonsense', undefined],
    ['', undefined],
    [undefined, 'nonsense'],
  ]) {
    refused(t, await batch(base, header), { status: 400, code: 'invalid_precondition' })
  }
})

t.test('single operations may be held against the blocks they touch, as they were before the batch', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a'), p('b'), ul(p('item'))])
  const [a, b] = made.blocks.map(({ attrs }) => String(attrs.id))
  const hashOf = async (id: unknown) => (await ada.get(`/documents/${made.id}/blocks/${id}`)).body.data.hash as string
  const [hashA, hashB] = [await hashOf(a), await hashOf(b)]
  const batch = (...operations: object[]) => ada.post(`/documents/${made.id}/batch`, { operations })
  const write = (block_id: unknown, word: string, if_match?: string) => ({
    op: 'replace',
    block_id,
    node: p(word),
    if_match,
  })

  t.equal((await batch(write(a, 'a1', hashA), write(b, 'b1', `"${hashB}"`), write(a, 'a2', hashA))).status, 200)
  const before = await bodyOf(ada, made.id)
  for (const stale of [hashB, `"${hashB}"`]) {
    const reply = await batch(write(a, 'a3', await hashOf(a)), { op: 'delete', block_id: b, if_match: stale })
    refused(t, reply, {
      status: 409,
      code: 'version_conflict',
      details: {
        provided: hashB,
        current_version: before.version,
        current_hash: await hashOf(b),
        operation_index: 1,
        block_id: b,
      },
    })
    t.equal(reply.headers.get('etag'), before.etag)
  }
  const long = await batch(write(a, 'a3', 'x'.repeat(1000)))
  t.equal(long.body.error.details.provided, 'x'.repeat(200), 'what was sent is not repeated whole')
  const weak = await batch(write(a, 'a3', `W/"${await hashOf(a)}"`))
  refused(t, weak, { status: 409, code: 'version_conflict' })
  const late = await batch({ op: 'delete', block_id: blockId('Q') }, write(b, 'b2', hashB))
  t.match(late, { status: 409, body: { error: { details: { operation_index: 1 } } } }, 'guards come before operations')
  const gone = await batch({ op: 'delete', block_id: blockId('Q'), if_match: hashB })
  t.match(gone, { status: 422, body: { error: { code: 'block_not_found', details: { operation_index: 0 } } } })
  t.strictSame(await bodyOf(ada, made.id), before)
  const inner = made.blocks[2]?.content?.[0]?.content?.[0]?.attrs?.id
  t.equal((await batch(write(inner, 'deep', await hashOf(inner)))).status, 200, 'nested blocks as well')
  t.equal((await batch({ op: 'delete', block_id: b, if_match: await hashOf(b) })).status, 200)
})

t.test('what was dropped from the nodes is told', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('a')])
  const bad = p(text('x', { type: 'link', attrs: { href: 'javascript:x' } }))
  const operations = [{ op: 'insert', position: { document_end: 1 }, nodes: [bad] }]
  const { data } = (await ada.post(`/documents/${id}/batch`, { operations })).body
  t.match(data.warnings, [{ code: 'link_removed', block_id: /^block_|null/ }])
})

t.test('of several faults the first in the order of checks is told', async (t) => {
  const owner = await signUp({ workspace: 'Checked' })
  const viewer = await signUp({ workspace: 'Checked', role: 'viewer' })
  const reader = await signUp({ workspace: 'Checked', role: 'editor', scopes: ['documents:read'] })
  const stranger = await signUp()
  const { id } = await make(owner, [p('x')])
  const path = `/documents/${id}/batch`
  const bad = { base_version: unknown, operations: [{ op: 'delete', block_id: blockId('A') }] }
  refused(t, await reader.post(path, bad), { status: 403, code: 'insufficient_scope' })
  refused(t, await stranger.post(path, {}), { status: 400, code: 'invalid_request' })
  refused(t, await stranger.post(path, bad), { status: 404, code: 'document_not_found', details: { id } })
  refused(t, await viewer.post(path, bad), { status: 403, code: 'forbidden' })
  refused(t, await owner.post(path, bad), { status: 409, code: 'version_conflict' })
  refused(t, await owner.post(path, { operations: bad.operations }), { status: 422, code: 'block_not_found' })
})

t.test('a repeated batch with the same key happens once; a refused one leaves its key free', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('x')])
  const path = `/documents/${made.id}/batch`
  const input = {
    base_version: made.version,
    operations: [{ op: 'insert', position: { document_end: 1 }, nodes: [p('y')] }],
  }
  const key = { 'idempotency-key': 'batch' }
  const failing = { operations: [{ op: 'delete', block_id: blockId('A') }] }
  refused(t, await ada.post(path, failing, key), { status: 422, code: 'block_not_found' })
  const first = await ada.post(path, input, key)
  t.equal(first.status, 200)
  const again = await ada.post(path, input, key)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.strictSame(again.body.data, first.body.data)
  t.equal(again.headers.get('etag'), first.headers.get('etag'))
  refused(t, await ada.post(path, failing, key), { status: 409, code: 'idempotency_key_reused' })
  t.equal((await bodyOf(ada, made.id)).blocks.length, 2)
})

type Step =
  | { kind: 'insert'; place: 'start' | 'end' | 'before' | 'after'; target: number; words: string[] }
  | { kind: 'replace'; target: number; word: string }
  | { kind: 'delete'; target: number }

const word = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 6 })
  .filter((value) => value.isWellFormed() && !value.includes('\u0000'))
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('insert' as const),
    place: fc.constantFrom('start' as const, 'end' as const, 'before' as const, 'after' as const),
    target: fc.nat(),
    words: fc.array(word, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('replace' as const), target: fc.nat(), word }),
  fc.record({ kind: fc.constant('delete' as const), target: fc.nat() }),
)

t.test('any sequence of operations, one by one or in batches, does what a list would do', async (t) => {
  const ada = await signUp()
  const script = fc.array(fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 5 }), batched: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  })
  await fc.assert(
    fc.asyncProperty(script, async (rounds) => {
      const made = await make(ada, [p('first'), p('second')])
      let model = made.blocks.map((block) => ({ id: block.attrs.id, word: String(block.content?.[0]?.text) }))
      for (const { steps, batched } of rounds) {
        const operations: object[] = []
        for (const one of steps) {
          const planned = plan(model, one)
          model = planned.model
          operations.push(planned.operation)
          if (!batched) await send(ada, made.id, planned.operation)
        }
        if (batched) await send(ada, made.id, { op: 'batch', operations })
      }
      const { blocks } = await bodyOf(ada, made.id)
      const found = blocks.map((block) => ({ id: block.attrs.id, word: String(block.content?.[0]?.text ?? '') }))
      // The paragraph that an emptied document gets has an id that the model does not know.
      const expected = model.map(({ id, word: value }, index) => ({
        id: id === '' ? found[index]?.id : id,
        word: value,
      }))
      return JSON.stringify(found) === JSON.stringify(expected)
    }),
    runsTimes(1 / 5),
  )
  t.pass('for every script')
})

type Line = { id: string; word: string }

let count = 0

/** One step of the model: the model after the step, and the operation that should lead there. */
function plan(model: Line[], one: Step): { model: Line[]; operation: object } {
  const index = 'target' in one ? one.target % model.length : 0
  const id = model[index]?.id
  // A block without a known id can only be addressed by its position.
  if (one.kind === 'insert' || id === '') {
    const words = one.kind === 'insert' ? one.words : ['x']
    const lines = words.map((value) => ({ id: blockId((++count).toString(16).toUpperCase()), word: value }))
    const place = one.kind === 'insert' && id !== '' ? one.place : 'end'
    const at = { start: 0, end: model.length, before: index, after: index + 1 }[place]
    const position = {
      start: { document_start: true },
      end: { document_end: true },
      before: { before_block_id: id },
      after: { after_block_id: id },
    }[place]
    const nodes = lines.map((line) => node('paragraph', { id: line.id }, line.word))
    return { model: model.toSpliced(at, 0, ...lines), operation: { op: 'insert', position, nodes } }
  }
  if (one.kind === 'replace') {
    const line = { id: String(id), word: one.word }
    return { model: model.with(index, line), operation: { op: 'replace', block_id: id, node: p(one.word) } }
  }
  const left = model.toSpliced(index, 1)
  return { model: left.length === 0 ? [{ id: '', word: '' }] : left, operation: { op: 'delete', block_id: id } }
}

async function send(
  client: Client,
  id: Made['id'],
  { op, ...operation }: { op?: string; block_id?: string; operations?: object[] },
): Promise<void> {
  const path = `/documents/${id}/${op === 'batch' ? 'batch' : 'blocks'}`
  const { block_id, ...body } = operation
  const reply =
    op === 'replace'
      ? await client.patch(`${path}/${block_id}`, body)
      : op === 'delete'
        ? await client.delete(`${path}/${block_id}`)
        : await client.post(path, body)
  if (reply.status >= 300) throw new Error(`${op}: ${reply.status} ${reply.text}`)
}
