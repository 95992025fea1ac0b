import fc from 'fast-check'
import { isRead } from '../../api/http/route.ts'
import { routes } from '../../api/routes/routes.ts'
import type { BlockNode } from '../../shared/body/document.ts'
import { foreignStatements } from '../../shared/database/database.ts'
import { createFixture, pathOf, payloadOf, queryOf, withModel } from '../contract/fixtures.ts'
import { h, p, text, ul } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, make, put, refused } from '../support/documents.ts'
import { anyWrite, type RandomWrite, requestOf } from '../support/random-writes.ts'
import { runsTimes } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

/*
 * A rehearsal is a write with `?dry_run=true`: everything happens but the commit. Callers rely on it in two ways: that
 * the answer is the answer of the write, and that nothing has happened.
 */

const service = await startTestService(t, { ...withModel, VERSIONS_RETENTION: '1000' })
const { signUp, database } = service
const statements = foreignStatements(database)

t.test('a rehearsal answers as the write would, and leaves nothing behind', async (t) => {
  const callers: Record<RandomWrite['who'], Client> = {
    owner: await signUp({ workspace: 'Rehearsed' }),
    viewer: await signUp({ workspace: 'Rehearsed', role: 'viewer' }),
    reader: await signUp({ workspace: 'Rehearsed', scopes: ['documents:read'] }),
    stranger: await signUp(),
  }
  const { id } = await make(callers.owner, [h(1, 'Water'), p('One two three.'), ul(p('a'), p('b')), p('Last.')])
  const fingerprint = await fingerprintOfDatabase()
  const outcomes = new Map<string, number>()
  for (const [index, write] of fc.sample(anyWrite, runsTimes(6)).entries()) {
    const current = await bodyOf(callers.owner, id)
    const { method, path, body, headers } = requestOf(write, current)
    const caller = callers[write.who]
    const before = await fingerprint()
    const rehearsed = await caller.call(method, `${path}?dry_run=true`, { body, headers })
    const name = `${index}: ${JSON.stringify(write)}`
    t.strictSame(await fingerprint(), before, `${name} has stored nothing`)
    const real = await caller.call(method, path, { body, headers })
    // The difference that the write has made is part of the answer of its rehearsal.
    const diff = real.status < 300 ? (await callers.owner.get(`/documents/${id}/diff`)).body.data : undefined
    const known = JSON.stringify([current.blocks, path, body])
    t.strictSame(comparable(rehearsed, { known }), comparable(real, { known, diff }), name)
    t.equal(rehearsed.headers.get('dry-run'), real.status < 300 ? 'true' : null, name)
    t.equal(real.headers.has('dry-run'), false)
    const key = `${real.status} ${real.body.error?.code ?? write.kind}`
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
  }
  const kinds: RandomWrite['kind'][] = ['put', 'markdown', 'insert', 'patch', 'delete', 'batch', 'edit', 'rollback']
  const codes = ['invalid_request', 'insufficient_scope', 'forbidden', 'document_not_found', 'precondition_required']
  const rare = [
    'version_conflict',
    'version_not_found',
    'block_not_found',
    'invalid_node',
    'attachment_not_found',
    'text_not_found',
    'section_not_found',
  ]
  const met = [...outcomes.keys()].map((key) => key.split(' ')[1])
  for (const wanted of [...kinds, ...codes, ...rare]) t.ok(met.includes(wanted), `${wanted} was met`)
})

t.test('a write that cannot be rehearsed refuses to be rehearsed, and does not happen', async (t) => {
  const owner = await signUp()
  const fixture = await createFixture(owner)
  const fingerprint = await fingerprintOfDatabase()
  const before = await fingerprint()
  const writes = routes.filter((spec) => !isRead(spec) && spec.rehearsal === undefined)
  t.ok(writes.length > 30)
  for (const spec of writes) {
    const query = queryOf(spec, fixture)
    for (const value of ['true', '1']) {
      const path = `${pathOf(spec, fixture)}${query}${query === '' ? '?' : '&'}dry_run=${value}`
      const reply = await owner.call(spec.method, path, payloadOf(spec, fixture))
      const fields = [{ path: '?dry_run', message: 'must be false: this endpoint has no rehearsal' }]
      refused(t, reply, { status: 400, code: 'invalid_request', details: { fields } })
    }
  }
  t.strictSame(await fingerprint(), before)
  t.equal((await owner.post('/knowledge-bases?dry_run=false', { name: 'Real' })).status, 201)
  t.equal(
    (await owner.get(`/documents/${fixture.documentId}?dry_run=true`)).status,
    200,
    'a read has no such parameter',
  )
  const several = await owner.post('/documents/read?dry_run=true', { ids: [fixture.documentId] })
  t.equal(several.status, 200, 'nor has a read by POST')
})

t.test('a rehearsal shows no body to a token that may not read it', async (t) => {
  const ada = await signUp({ workspace: 'Unread' })
  const writer = await signUp({ workspace: 'Unread', scopes: ['documents:write'] })
  const { id, etag, blocks } = await make(ada, [p('secret'), p('more')])
  await put(ada, id, blocks)
  const block = `/documents/${id}/blocks/${blocks[0]?.attrs.id}`
  const content = { format: 'markdown', content: '' }
  const headers = { 'if-match': '*' }
  const rehearsals = [
    await writer.put(`/documents/${id}/content?dry_run=true`, content, headers),
    await writer.call('DELETE', `${block}?dry_run=1`, { headers }),
    await writer.patch(`${block}?dry_run=true`, { content: [] }),
    await writer.post(`/documents/${id}/versions/1/rollback?dry_run=true`, undefined, headers),
    await writer.put('/documents/doc_none/content?dry_run=true', content, headers),
  ]
  for (const reply of rehearsals) {
    const details = { required_scopes: ['documents:write', 'documents:read'] }
    refused(t, reply, { status: 403, code: 'insufficient_scope', details })
    t.match(reply.headers.get('www-authenticate'), 'scope="documents:write documents:read"')
  }
  const wrong = await writer.put(`/documents/${id}/content?dry_run=true`, { format: 'pdf' }, headers)
  refused(t, wrong, { status: 400, code: 'invalid_request' })
  t.equal((await bodyOf(ada, id)).etag, etag)
  t.equal((await writer.put(`/documents/${id}/content?dry_run=false`, content, headers)).status, 200)
})

t.test('the description offers a rehearsal where there is one', async (t) => {
  const ada = await signUp()
  const { paths } = (await ada.get('//api/openapi.json')).body
  const reference = (await ada.get('//api-docs.md')).text
  t.match(reference, 'With `dry_run=true` nothing is stored')
  const offering: string[] = []
  for (const [path, operations] of Object.entries<Record<string, Operation>>(paths)) {
    for (const [method, { parameters = [], responses }] of Object.entries(operations)) {
      if (!parameters.some(({ name }) => name === 'dry_run')) continue
      offering.push(`${method} ${path}`)
      const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'))
      t.match(success?.[1], { headers: { 'Dry-Run': Object } })
      t.match(JSON.stringify(success), 'DocumentDifference')
    }
  }
  t.strictSame(offering.sort(), [
    'delete /documents/{id}/blocks/{blockId}',
    'patch /documents/{id}/blocks/{blockId}',
    'post /documents/{id}/batch',
    'post /documents/{id}/blocks',
    'post /documents/{id}/content/edit',
    'post /documents/{id}/versions/{seq}/rollback',
    'put /documents/{id}/content',
  ])
})

t.test('dry_run is true or false, once', async (t) => {
  const ada = await signUp()
  const { id, etag } = await make(ada, [p('x')])
  const content = { format: 'markdown', content: 'y' }
  const call = (query: string) => ada.put(`/documents/${id}/content?${query}`, content, { 'if-match': etag })
  for (const query of ['dry_run=yes', 'dry_run=', 'dry_run=TRUE', 'dry_run=true&dry_run=false']) {
    refused(t, await call(query), { status: 400, code: 'invalid_request' })
  }
  t.equal((await bodyOf(ada, id)).etag, etag)
  const rehearsed = await call('dry_run=1')
  t.equal(rehearsed.status, 200)
  t.equal(rehearsed.headers.get('etag'), `"${rehearsed.body.data.version}"`, 'the tag is that of the tried body')
  t.not(rehearsed.headers.get('etag'), etag)
  t.equal((await bodyOf(ada, id)).etag, etag)
  t.equal((await call('dry_run=0')).status, 200)
  t.not((await bodyOf(ada, id)).etag, etag)
})

t.test('a rehearsal neither uses nor takes an Idempotency-Key', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  const insert = (query: string, key: string) =>
    ada.post(
      `/documents/${id}/blocks${query}`,
      { position: { document_end: true }, nodes: [p('new')] },
      { 'idempotency-key': key },
    )
  t.equal((await insert('?dry_run=true', 'key')).status, 201)
  const real = await insert('', 'key')
  t.equal(real.status, 201, 'the key is still free')
  t.equal(real.headers.get('idempotent-replayed'), null)
  const rehearsed = await insert('?dry_run=true', 'key')
  t.equal(rehearsed.headers.get('idempotent-replayed'), null, 'a used key gives no old answer')
  t.not(rehearsed.body.data.block_ids[0], real.body.data.block_ids[0])
  t.equal((await insert('', 'key')).headers.get('idempotent-replayed'), 'true')
  t.equal((await insert('?dry_run=true', 'not visible')).status, 201, 'the header is not even read')
  t.equal((await bodyOf(ada, id)).blocks.length, 2)
})

t.test('a rehearsal counts as a call', async (t) => {
  const { signUp } = await startTestService(t, { RATE_WRITE_PER_MIN: '5' })
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  const rehearse = () =>
    ada.put(`/documents/${id}/content?dry_run=true`, { format: 'markdown', content: 'y' }, { 'if-match': '*' })
  const left: unknown[] = []
  for (let call = 0; call < 4; call += 1) left.push((await rehearse()).headers.get('x-ratelimit-remaining'))
  t.strictSame(left, ['3', '2', '1', '0'])
  refused(t, await rehearse(), { status: 429, code: 'rate_limited' })
})

t.test('a rehearsal of a large body shows what changes, and the next write does not wait for it', async (t) => {
  const ada = await signUp()
  const made = await make(
    ada,
    Array.from({ length: 3000 }, (_, index) => p(`Paragraph ${index} about storks and other large birds`)),
  )
  const changed = made.blocks.map((block, index) =>
    index % 3 === 0 ? { ...block, content: [text(`${index}`)] } : block,
  )
  const content = { format: 'tiptap-json', document: { type: 'doc', content: changed } }
  const [rehearsed, real] = await Promise.all([
    ada.put(`/documents/${made.id}/content?dry_run=true`, content, { 'if-match': made.etag }),
    ada.patch(`/documents/${made.id}/blocks/${made.blocks[1]?.attrs.id}`, { content: [text('patched')] }),
  ])
  t.equal(real.status, 200)
  // Whichever of the two came first, the answer is one that the write could have got.
  if (rehearsed.status === 409) refused(t, rehearsed, { status: 409, code: 'version_conflict' })
  else t.equal(rehearsed.body.data.diff.blocks.length, 1000)
  const again = await ada.put(`/documents/${made.id}/content?dry_run=true`, content, { 'if-match': '*' })
  t.equal(again.body.data.diff.blocks.length, 1001)
  t.equal((await bodyOf(ada, made.id)).etag, real.headers.get('etag'))
})

t.test('a rehearsal shows the difference beside the members of the answer', async (t) => {
  const ada = await signUp()
  const { id, version, blocks } = await make(ada, [p('One two three.'), p('Last.')])
  const [first] = blocks as [BlockNode]
  const after = { ...first, content: [text('One 2 three.')] }
  const reply = await ada.patch(`/documents/${id}/blocks/${first.attrs.id}?dry_run=true`, { content: after.content })
  t.match(reply.body.data, { block_id: first.attrs.id, text: 'One 2 three.' })
  t.strictSame(reply.body.data.diff, {
    document_id: id,
    from: { seq: 1, version },
    to: { seq: 'current', version: reply.body.data.version },
    blocks: [
      {
        op: 'modified',
        block_id: first.attrs.id,
        old_position: 0,
        new_position: 0,
        before: first,
        after,
        hunks: [
          { op: 'equal', text: 'One ' },
          { op: 'delete', text: 'two' },
          { op: 'insert', text: '2' },
          { op: 'equal', text: ' three.' },
        ],
      },
    ],
  })
  const same = await put(ada, id, blocks)
  t.equal(same.status, 200)
  const unchanged = await ada.put(
    `/documents/${id}/content?dry_run=true`,
    { format: 'tiptap-json', document: { type: 'doc', content: blocks } },
    { 'if-match': '*' },
  )
  t.strictSame(unchanged.body.data.diff.blocks, [], 'a write that changes nothing shows nothing')
  t.strictSame(unchanged.body.data.diff.from, { seq: 2, version })
})

type Operation = { parameters?: { name?: string }[]; responses: Record<string, object> }

/**
 * Makes a function that returns the rows of every table in short: their number, and a sum of hashes of the transaction
 * that wrote each row and of its place. Every stored change makes another version of a row, with another transaction
 * and place. Calls themselves may count rates and note when a token was used.
 */
async function fingerprintOfDatabase(): Promise<() => Promise<unknown>> {
  const { rows } = await statements.executeSql(`
    SELECT format('SELECT %L AS name, count(*) AS rows, sum(hashtext(t.xmin::text || t.ctid)) AS sum FROM %I.%I t',
      relname, nspname, relname) AS part
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE nspname IN ('public', 'pgboss') AND relkind = 'r' AND relname NOT IN ('rate_limit_windows', 'tokens')
    ORDER BY 1`)
  // Without an order, PostgreSQL may read the tables side by side and answer in any order.
  const all = `${rows.map(({ part }) => part).join(' UNION ALL ')} ORDER BY name`
  return async () => (await statements.executeSql(all)).rows
}

/** What a caller gets, without what differs from call to call: new ids and what follows from them, and times. */
function comparable({ status, headers, body }: Reply, { known, diff }: { known: string; diff?: object }): unknown {
  const data = body.data && { ...body.data, ...(diff && { diff }) }
  const { changed_block_ids: changed, ...details } = body.error?.details ?? {}
  const error = body.error && { ...body.error, details: { ...details, changed: changed?.toSorted() } }
  return withoutNew({ status, etag: headers.get('etag'), location: headers.get('location'), data, error }, known)
}

function withoutNew(value: unknown, known: string): unknown {
  const names = new Map<string, string>()
  const text = JSON.stringify(value).replaceAll(/block_[0-9A-Z]{26}/g, (id) => {
    if (known.includes(id)) return id
    const name = names.get(id) ?? `new block ${names.size}`
    names.set(id, name)
    return name
  })
  const timeless = text.replaceAll(/"updated_at":\d+/g, '"updated_at":0')
  return JSON.parse(names.size === 0 ? timeless : timeless.replaceAll(/sha256:[0-9a-f]{64}/g, 'sha256'))
}
