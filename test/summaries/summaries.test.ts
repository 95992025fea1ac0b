import { sql } from '../../shared/database/database.ts'
import type { Client, Reply } from '../support/client.ts'
import { refused } from '../support/documents.ts'
import { startModelStub } from '../support/model-stub.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { rewrite, startSearchService, untilFresh, write } from '../support/workers.ts'

const zoo = `# Elephants

An elephant drinks **a hundred litres** a day.

## Food

They eat \`grass\` and [bark](https://example.test).

### Bark

Bark of old trees.

## Sleep

Two hours.`

const shared = await startTestService(t)

t.test('an agent reads a summary of anything, although nobody has written one', async (t) => {
  const { ada } = await start()
  const base = await created(ada, '/knowledge-bases', { name: 'Zoo' })
  const folder = await created(ada, '/folders', { name: 'Large', knowledge_base_id: base.id })
  const inner = await created(ada, '/folders', { name: 'Larger', parent_id: folder.id })
  const members = { title: 'Big animals', folder_id: folder.id }
  const document = await write(ada, zoo, members)
  await write(ada, 'Whales sing.', { title: 'Whales', folder_id: inner.id })
  const blocks = await blocksOf(ada, document.id)

  const whole = await summary(ada, `/documents/${document.id}`)
  t.equal(whole.text, 'Big animals\n\nElephants\nFood\nBark\nSleep\n\nAn elephant drinks a hundred litres a day.')
  t.match(whole, {
    target: { type: 'document', id: document.id, block_id: null },
    status: 'fallback',
    generator: 'deterministic',
    freshness: 'current',
    pinned: false,
    summary_version: 0,
    source_version: document.version,
    current_source_version: document.version,
    source_document_ids: [document.id],
    coverage: { covered_blocks: 5, total_blocks: 8, covered_documents: 1, total_documents: 1, truncated: false },
    model: null,
    query: null,
    pending_job_id: null,
    updated_at: null,
    updated_by: null,
  })
  t.same(whole.source_block_ids, [blocks[0], blocks[2], blocks[4], blocks[6], blocks[1]])

  const section = await summary(ada, `/documents/${document.id}`, `?block_id=${blocks[2]}`)
  t.equal(section.text, 'Food\n\nBark\n\nThey eat grass and bark.')
  t.match(section.target, { type: 'section', id: document.id, block_id: blocks[2] })
  t.match(section.coverage, { total_blocks: 4 })

  const inFolder = await summary(ada, `/folders/${folder.id}`)
  const line = 'Big animals: An elephant drinks a hundred litres a day.'
  t.equal(inFolder.text, `Large\n\nLarger: Whales\n${line}`)
  t.match(inFolder, {
    target: { type: 'folder', id: folder.id },
    source_document_ids: [document.id],
    coverage: { ratio: 0.5, covered_documents: 1, total_documents: 2 },
  })
  const inBase = await summary(ada, `/knowledge-bases/${base.id}`)
  t.equal(inBase.text, 'Zoo\n\nLarge: Larger, Big animals')
  t.match(inBase.coverage, { covered_documents: 0, total_documents: 2 })
})

t.test('a section is named by a heading of the top level, and by nothing else', async (t) => {
  const { ada } = await start()
  const { id } = await write(ada, zoo)
  const [, paragraph = '', heading = ''] = await blocksOf(ada, id)
  const unknown = `block_${'0'.repeat(26)}`
  const path = `/documents/${id}/summary`
  refused(t, await ada.get(`${path}?block_id=${paragraph}`), { status: 422, code: 'not_a_heading_block' })
  refused(t, await ada.get(`${path}?block_id=${unknown}`), {
    status: 404,
    code: 'block_not_found',
    details: { id: unknown, field: 'block_id' },
  })
  t.equal((await ada.get(`${path}?block_id=nonsense`)).status, 400)
  const version = (await summary(ada, `/documents/${id}`)).current_source_version
  const written = { text: 'x', base_source_version: version }
  const put = (block: string, etag: string) => ada.put(`${path}?block_id=${block}`, written, { 'if-match': etag })
  refused(t, await put(unknown, '*'), { status: 404, code: 'block_not_found' })
  t.match(await put(paragraph, '"summary:4"'), { status: 409, body: { error: { code: 'version_conflict' } } })
  refused(t, await put(paragraph, '"summary:0"'), { status: 422, code: 'not_a_heading_block' })
  t.match(await put(heading, '"summary:0"'), { status: 409, body: { error: { code: 'source_version_changed' } } })
  refused(t, await ada.post(`${path}/rebuild?block_id=${paragraph}`, {}), { status: 422, code: 'not_a_heading_block' })
})

t.test('an edit elsewhere leaves the summary of a section current, one inside does not', async (t) => {
  const { ada } = await start()
  const { id } = await write(ada, zoo)
  const [, , food = ''] = await blocksOf(ada, id)
  const stored = await ada.post(`/documents/${id}/summary/rebuild?block_id=${food}`)
  t.match(stored, { status: 200, body: { data: { status: 'ready', freshness: 'current' } } })
  const markdown = (await ada.get(`/documents/${id}/content?format=markdown&annotate=anchors`)).body.data.content
  await rewrite(ada, id, markdown.replace('Two hours', 'Three hours'))
  t.match(await summary(ada, `/documents/${id}`, `?block_id=${food}`), { freshness: 'current' })
  await rewrite(ada, id, markdown.replace('old trees', 'young trees'))
  t.match(await summary(ada, `/documents/${id}`, `?block_id=${food}`), { freshness: 'stale', status: 'ready' })
})

t.test('what a writer saves stays until somebody who has seen it replaces it', async (t) => {
  const { ada } = await start()
  const document = await write(ada, zoo)
  const path = `/documents/${document.id}/summary`
  const text = '  Elephants, by hand.\n'
  const written = { text, base_source_version: document.version, pinned: true }
  t.match(await ada.put(path, written), { status: 428, body: { error: { details: { missing: ['If-Match'] } } } })
  refused(t, await ada.put(path, { text }, { 'if-match': '"summary:0"' }), {
    status: 428,
    code: 'precondition_required',
    details: { missing: ['base_source_version'] },
  })
  refused(t, await ada.put(path, { text }), {
    status: 428,
    code: 'precondition_required',
    details: { missing: ['If-Match', 'base_source_version'] },
  })
  const stale = `sha256:${'0'.repeat(64)}`
  refused(t, await ada.put(path, { ...written, base_source_version: stale }, { 'if-match': '"summary:9"' }), {
    status: 409,
    code: 'source_version_changed',
    details: { provided: stale, current_version: document.version },
  })
  const saved = await ada.put(path, written, { 'if-match': '"summary:0"' })
  t.equal(saved.headers.get('etag'), '"summary:1"')
  t.match(saved.body.data, {
    text,
    status: 'ready',
    generator: 'manual',
    pinned: true,
    summary_version: 1,
    source_version: document.version,
    freshness: 'current',
    updated_by: ada.user_id,
  })
  const conflict = await ada.put(path, written, { 'if-match': '"summary:0"' })
  t.match(conflict, { status: 409, body: { error: { code: 'version_conflict' } } })
  t.equal(conflict.headers.get('etag'), '"summary:1"')

  const version = await rewrite(ada, document.id, 'Something else.')
  t.match(await summary(ada, `/documents/${document.id}`), {
    text,
    pinned: true,
    freshness: 'stale',
    source_version: document.version,
    current_source_version: version,
  })
  const pinned = { status: 409, code: 'summary_pinned', details: { summary_version: 1 } }
  refused(t, await ada.post(`${path}/rebuild`, {}, { 'if-match': '"summary:1"' }), pinned)
  t.match(await ada.post(`${path}/rebuild`), { status: 428 }, 'somebody wrote it, so it has to be named')

  const unpinned = { text: 'Unpinned.', base_source_version: version, pinned: false }
  t.match(await ada.put(path, unpinned, { 'if-match': '"summary:1"' }), { body: { data: { pinned: false } } })
  t.match(await ada.put(path, { text: 'x', base_source_version: version }, { 'if-match': '*' }), {
    body: { data: { pinned: false, summary_version: 3 } },
  })
  t.match(await ada.post(`${path}/rebuild`), { status: 428 })
  const rebuilt = await ada.post(`${path}/rebuild`, { base_source_version: version }, { 'if-match': '"summary:3"' })
  t.match(rebuilt.body.data, { generator: 'deterministic', text: 'Untitled\n\nSomething else.', summary_version: 4 })
  t.match(await ada.post(`${path}/rebuild`), { status: 200, body: { data: { summary_version: 5 } } })
  t.match(await ada.post(`${path}/rebuild`, { base_source_version: stale }), {
    body: { error: { code: 'source_version_changed' } },
  })
})

t.test('a summary of a folder notices what changes below it, and nothing else', async (t) => {
  const { ada } = await start()
  const base = await created(ada, '/knowledge-bases', { name: 'Zoo' })
  const folder = await created(ada, '/folders', { name: 'Large', knowledge_base_id: base.id })
  const inner = await created(ada, '/folders', { name: 'Larger', parent_id: folder.id })
  const whale = await write(ada, 'Whales sing.', { title: 'Whales', folder_id: inner.id })
  const other = await write(ada, 'Elsewhere.', { title: 'Other', knowledge_base_id: base.id })
  await ada.post(`/folders/${folder.id}/summary/rebuild`)
  await ada.post(`/knowledge-bases/${base.id}/summary/rebuild`)
  const freshness = async () => [
    (await summary(ada, `/folders/${folder.id}`)).freshness,
    (await summary(ada, `/knowledge-bases/${base.id}`)).freshness,
  ]
  t.same(await freshness(), ['current', 'current'])
  await ada.patch(`/documents/${other.id}`, { title: 'Another' })
  t.same(await freshness(), ['current', 'stale'])
  await ada.patch(`/documents/${other.id}`, { title: 'Other' })
  t.same(await freshness(), ['current', 'current'], 'as it was')
  await ada.patch(`/documents/${whale.id}`, { folder_id: folder.id })
  t.same(await freshness(), ['current', 'current'], 'a move within the subtree changes none of its texts')
  await ada.patch(`/folders/${inner.id}`, { name: 'Largest' })
  t.same(await freshness(), ['stale', 'stale'])
  await ada.patch(`/folders/${inner.id}`, { name: 'Larger' })
  await rewrite(ada, whale.id, 'Whales hum.')
  t.same(await freshness(), ['stale', 'stale'])
  await ada.patch(`/documents/${whale.id}`, { folder_id: null })
  await ada.delete(`/documents/${other.id}`)
  t.same(await freshness(), ['stale', 'stale'])
  t.match(await summary(ada, `/folders/${folder.id}`), { text: 'Large\n\nLarger: Whales' }, 'stored, not made anew')
})

t.test('a question is answered by passages in the order of the document, and nothing is stored', async (t) => {
  const { ada } = await start()
  const document = await write(ada, zoo, { title: 'Big animals' })
  const blocks = await blocksOf(ada, document.id)
  const path = `/documents/${document.id}`
  const found = await ada.get(`${path}/summary?query=old+bark`)
  t.equal(found.headers.get('etag'), '"summary:0"')
  t.match(found.body.data, { status: 'query', query: 'old bark', generator: 'deterministic', summary_version: 0 })
  t.equal(found.body.data.text, 'They eat grass and bark.\n\nBark\n\nBark of old trees.')
  t.same(found.body.data.source_block_ids, [blocks[3], blocks[4], blocks[5]])
  const section = await summary(ada, path, `?query=litres&block_id=${blocks[2]}`)
  t.match(section, { text: 'Food', source_block_ids: [], coverage: { covered_blocks: 0, ratio: 0 } })

  await ada.post(`${path}/summary/rebuild`)
  const again = await ada.get(`${path}/summary?query=elephants`)
  t.equal(again.headers.get('etag'), '"summary:1"', 'the tag of what is stored')
  t.match(again.body.data.text, 'An elephant drinks a hundred litres a day.', 'words are found in their other forms')
  t.equal((await ada.get(`${path}/summary?query=${'x'.repeat(201)}`)).status, 400)

  const whales = await write(ada, 'Whales eat krill, no bark.', { knowledge_base_id: document.knowledge_base_id })
  const inBase = await summary(ada, `/knowledge-bases/${document.knowledge_base_id}`, '?query=krill')
  t.match(inBase, { text: 'Whales eat krill, no bark.', source_document_ids: [whales.id], status: 'query' })
})

t.test('a model is asked only by whoever may spend money, and only where there is one', async (t) => {
  const { ada, signUp } = await start()
  const { id } = await write(ada, zoo)
  const frugal = await signUp({
    email: ada.email,
    workspace: ada.workspace,
    scopes: ['documents:write', 'documents:read'],
  })
  const path = `/documents/${id}/summary/rebuild`
  refused(t, await ada.post(path, { generator: 'model' }), { status: 503, code: 'model_unavailable' })
  t.equal((await frugal.post(path)).status, 200, 'a deterministic one costs nothing')
  refused(t, await frugal.post(path, { generator: 'model' }), {
    status: 403,
    code: 'insufficient_scope',
    details: { required_scopes: ['summaries:generate'] },
  })
})

t.test('who asks twice for the same gets one job', async (t) => {
  const stub = await startModelStub(t)
  const { ada, signUp } = await start(await startTestService(t, { ...stub.env, RATE_JOB_PER_MIN: '3' }))
  const { id } = await write(ada, zoo)
  const path = `/documents/${id}/summary/rebuild`
  const first = await ada.post(path, { generator: 'model' }, { 'idempotency-key': 'a' })
  t.equal(first.status, 202)
  const job = first.body.data
  t.equal(first.headers.get('location'), `/api/v1/summary-jobs/${job.id}`)
  t.equal(first.headers.get('x-ratelimit-limit'), '3')
  t.match(job, {
    status: 'pending',
    target: { type: 'document', id, block_id: null },
    generator: 'model',
    base_summary_version: 0,
    result_summary_version: null,
    model: 'stub-summary',
    usage: null,
    error: null,
    obsolete_reason: null,
    started_at: null,
    finished_at: null,
  })
  const [second, third] = await Promise.all([1, 2].map(() => ada.post(path, { generator: 'model' })))
  t.equal(second?.body.data.id, job.id)
  t.equal(third?.body.data.id, job.id)
  t.match(await ada.post(path, { generator: 'model' }), {
    status: 429,
    body: { error: { details: { bucket: 'job' } } },
  })
  t.match(await summary(ada, `/documents/${id}`), { pending_job_id: job.id, status: 'fallback' })
  t.match((await ada.get(`/summary-jobs/${job.id}`)).body.data, { id: job.id, status: 'pending' })

  const stranger = await signUp()
  t.equal((await stranger.get(`/summary-jobs/${job.id}`)).status, 404)
  t.equal((await stranger.get(`/documents/${id}/summary`)).status, 404)
  const viewer = await signUp({ workspace: ada.workspace, role: 'viewer' })
  t.equal((await viewer.get(`/summary-jobs/${job.id}`)).status, 200)
  const { version } = (await viewer.get(`/documents/${id}/summary`)).body.data
  const written = { text: 'x', base_source_version: version }
  t.equal((await viewer.put(`/documents/${id}/summary`, written, { 'if-match': '*' })).status, 403)
})

t.test('two first saves at once leave one of them, and the other one knows', async (t) => {
  const { ada } = await start()
  const { id, version } = await write(ada, zoo)
  const save = (text: string) =>
    ada.put(`/documents/${id}/summary`, { text, base_source_version: version }, { 'if-match': '"summary:0"' })
  const replies = await Promise.all(['one', 'two', 'three', 'four'].map(save))
  t.same(replies.map(({ status }) => status).sort(), [200, 409, 409, 409])
  const winner = replies.find(({ status }) => status === 200)?.body.data.text
  t.match(await summary(ada, `/documents/${id}`), { text: winner, summary_version: 1 })
})

t.test('tree and search show the same summaries as each target itself', async (t) => {
  const service = await startSearchService(t)
  const ada = await service.signUp()
  const base = await created(ada, '/knowledge-bases', { name: 'Zoo' })
  const folder = await created(ada, '/folders', { name: 'Large', knowledge_base_id: base.id })
  const inner = await created(ada, '/folders', { name: 'Larger', parent_id: folder.id })
  await created(ada, '/folders', { name: 'Empty', parent_id: inner.id })
  for (const place of [{ knowledge_base_id: base.id }, { folder_id: folder.id }, { folder_id: inner.id }]) {
    for (let number = 0; number < 3; number += 1) await write(ada, zoo, { title: `Big ${number}`, ...place })
  }
  const many = await created(ada, '/folders', { name: 'Many', knowledge_base_id: base.id })
  for (let number = 0; number < 53; number += 1) {
    await write(ada, `Number ${number} of ${'many '.repeat(40)}`, { title: `Number ${number}`, folder_id: many.id })
  }
  await ada.post(`/folders/${inner.id}/summary/rebuild`)
  const noted = await write(ada, zoo, { title: 'Noted', folder_id: inner.id })
  const written = { text: 'By hand.', base_source_version: noted.version, pinned: true }
  await ada.put(`/documents/${noted.id}/summary`, written, { 'if-match': '"summary:0"' })

  const plain = (await ada.get(`/knowledge-bases/${base.id}/tree`)).text
  t.notMatch(plain, '"summary"')
  for (const reading of ['first', 'second']) {
    const tree = (await ada.get(`/knowledge-bases/${base.id}/tree?include_summary=true`)).body.data
    t.same(tree.summary, await summary(ada, `/knowledge-bases/${base.id}`), reading)
    const nodes: Node[] = tree.children.flatMap(below)
    t.equal(nodes.length, 67)
    for (const node of nodes) t.same(node.summary, await summary(ada, `/${node.type}s/${node.id}`))
  }
  const inMany = await summary(ada, `/folders/${many.id}`)
  t.match(inMany, { coverage: { covered_documents: 50, total_documents: 53, truncated: true } })
  t.ok(Array.from(inMany.text as string).length <= 4000)
  t.match(await summary(ada, `/folders/${inner.id}`), { status: 'ready', freshness: 'stale' })

  await untilFresh(ada)
  const { results } = await searchV2(ada, { q: 'hundred litres', include_summary: 'true', limit: 100 })
  t.equal(results.length, 10)
  for (const hit of results) t.same(hit.summary, await summary(ada, `/documents/${hit.document_id}`))
  t.notOk('summary' in (await searchV2(ada, { q: 'hundred litres' })).results[0])
})

type Node = { type: string; id: string | number; children?: Node[]; summary: object }

function below(node: Node): Node[] {
  return [node, ...(node.children ?? []).flatMap(below)]
}

t.test('summaries go with what they are about', async (t) => {
  const { ada, database } = await start(await startTestService(t))
  const base = await created(ada, '/knowledge-bases', { name: 'Zoo' })
  const folder = await created(ada, '/folders', { name: 'Large', knowledge_base_id: base.id })
  const { id } = await write(ada, zoo, { folder_id: folder.id })
  const [heading] = await blocksOf(ada, id)
  for (const path of [`/documents/${id}`, `/folders/${folder.id}`, `/knowledge-bases/${base.id}`]) {
    t.equal((await ada.post(`${path}/summary/rebuild`)).status, 200)
  }
  await ada.post(`/documents/${id}/summary/rebuild?block_id=${heading}`)
  const stored = async () => (await database.any(sql.unsafe`SELECT FROM summaries`)).length
  t.equal(await stored(), 4)
  await ada.delete(`/folders/${folder.id}`)
  t.equal(await stored(), 1)
  await ada.delete(`/knowledge-bases/${base.id}`, { confirm_id: base.id })
  t.equal(await stored(), 0)
})

t.test('a save that meets the deletion of its target finds it gone', async (t) => {
  const { ada, database } = await start(await startTestService(t))
  const base = await created(ada, '/knowledge-bases', { name: 'Zoo' })
  const { id } = await created(ada, '/folders', { name: 'Large', knowledge_base_id: base.id })
  const { rebuilt } = await database.transaction(async (tx) => {
    await tx.query(sql.unsafe`DELETE FROM folders WHERE id = ${id}`)
    const waiting = sql.unsafe`
      SELECT FROM pg_locks WHERE transactionid = pg_current_xact_id()::xid AND NOT granted`
    const rebuilt = ada.post(`/folders/${id}/summary/rebuild`)
    await until(async () => (await tx.any(waiting)).length > 0)
    return { rebuilt }
  })
  refused(t, await rebuilt, { status: 404, code: 'folder_not_found', details: { id } })
})

t.test('a repeated rebuild shows nothing of a workspace that was lost meanwhile', async (t) => {
  const { ada, database } = await start(await startTestService(t))
  const { id } = await write(ada, zoo)
  const rebuild = () => ada.post(`/documents/${id}/summary/rebuild`, {}, { 'idempotency-key': 'a' })
  t.match(await rebuild(), { status: 200, body: { data: { summary_version: 1 } } })
  t.match(await rebuild(), { status: 200, body: { data: { summary_version: 1 } } })
  await database.query(sql.unsafe`DELETE FROM memberships WHERE user_id = ${ada.user_id}`)
  refused(t, await rebuild(), { status: 404, code: 'workspace_not_found' })
})

async function start(service = shared) {
  const workspace = `workspace ${Math.random()}`
  const ada = Object.assign(await service.signUp({ workspace }), { workspace })
  return { ...service, ada }
}

async function summary(client: Client, path: string, query = '') {
  const reply = await client.get(`${path}/summary${query}`)
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}

async function created(client: Client, path: string, body: object): Promise<{ id: number }> {
  const reply: Reply = await client.post(path, body)
  if (reply.status !== 201) throw new Error(`${path} answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}

async function blocksOf(client: Client, id: string): Promise<string[]> {
  const { body } = await client.get(`/documents/${id}/content`)
  return body.data.document.content.map((block: { attrs: { id: string } }) => block.attrs.id)
}
