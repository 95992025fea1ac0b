import Type from 'typebox'
import type { BlockNode, BodyNode } from '../../shared/body/document.ts'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { workersOf } from '../../workers/types.ts'
import { p, text, ul } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { type Made, make, put, refused } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

t.test('links between documents are found in a body, each block and address once, and kept up with', async (t) => {
  const { ada, work, extracted } = await start(t)
  await work()
  const target = await make(ada, [p('target')])
  const uri = `svc://doc/${target.id}`
  const block = `${uri}#block=${blockId(target)}`
  const others = ['https://x.org', 'svc://concept/concept_1', 'svc://doc/doc_1?q', 'SVC://doc/doc_1', 'svc://doc/d%20x']
  const source = await make(ada, [
    p(link(uri, 'the '), link(uri, 'target', 'bold'), ' and ', link(uri, 'again'), link(block, 'its block')),
    ul(p('deep ', link(uri, 'in a list'))),
    p(...others.map((href) => link(href, 'no relation'))),
    p(link('svc://doc/doc_never_made', 'not there yet')),
  ])
  const [paragraph, list] = source.blocks as [BlockNode, BlockNode]
  const inner = list.content?.[0]?.content?.[0]?.attrs?.id
  const found = await extracted(ada, source)
  t.match(found, [
    {
      predicate: 'refers_to',
      origin: 'inline',
      source: {
        uri: `svc://doc/${source.id}#block=${paragraph.attrs.id}`,
        document_id: source.id,
        block_id: paragraph.attrs.id,
        document: { id: source.id, title: 'Document' },
      },
      target: { uri, document_id: target.id, block_id: null, document: { id: target.id, title: 'Document' } },
      anchor_text: 'the target',
      source_version: source.version,
      evidence_freshness: 'current',
      projection_freshness: 'current',
      status: 'valid',
      created_by: null,
    },
    { source: { block_id: paragraph.attrs.id }, target: { uri: block, block_id: blockId(target) }, status: 'valid' },
    { source: { block_id: inner }, target: { uri }, anchor_text: 'in a list', status: 'valid' },
    { target: { uri: 'svc://doc/doc_never_made', document: null }, status: 'dangling_target_document' },
  ])
  t.equal(found.length, 4)

  const first = { ...paragraph, content: p('now ', link(uri, 'reworded')).content ?? [] }
  await put(ada, source.id, [p('a new block before'), first])
  const left = await extracted(ada, source)
  t.match(left, [{ id: found[0].id, created_at: found[0].created_at, anchor_text: 'reworded', status: 'valid' }])
  t.equal(left.length, 1)
  t.not(left[0].source_version, source.version)
  await make(ada, [p('there')], { id: 'doc_never_made' })
  t.strictSame(await extracted(ada, source), left)
})

t.test('a link whose body has moved on is owned up to as stale until it is read again', async (t) => {
  const { ada, work, extracted } = await start(t)
  const stop = await work()
  const target = await make(ada, [p('target')])
  const source = await make(ada, [p(link(`svc://doc/${target.id}`, 'one')), p('other')])
  await extracted(ada, source)
  await stop()
  await put(ada, source.id, [source.blocks[0] as BlockNode])
  t.match(await relations(ada, target), [
    { evidence_freshness: 'stale', projection_freshness: 'stale', status: 'valid', source_version: source.version },
  ])
  await put(ada, source.id, [source.blocks[1] as BlockNode])
  t.match(await relations(ada, target), [{ projection_freshness: 'stale', status: 'dangling_source_block' }])
  await work()
  t.strictSame(await extracted(ada, target), [])
})

t.test('a relation made by hand says which of its ends are still there', async (t) => {
  const { ada } = await start(t)
  const [source, target, asker] = [await make(ada, [p('s'), p('rest')]), await make(ada, [p('t'), p('rest')]), ada]
  const uri = `svc://doc/${target.id}#block=${blockId(target)}`
  const made = await relate(ada, source, { target_uri: uri, predicate: 'supports', anchor_text: 'because' })
  t.equal(made.status, 201, made.text)
  const { data } = made.body
  t.equal(made.headers.get('location'), `/api/v1/relations/${data.id}`)
  t.match(data, {
    predicate: 'supports',
    origin: 'manual',
    anchor_text: 'because',
    status: 'valid',
    source_version: source.version,
    evidence_freshness: 'current',
    projection_freshness: 'current',
    created_by: ada.user_id,
  })
  t.strictSame(await relations(asker, source), [data])
  t.strictSame(await relations(asker, target), [data])
  const status = async (end: Made) => (await relations(asker, end))[0]

  await put(ada, target.id, [target.blocks[1] as BlockNode])
  t.match(await status(source), { status: 'dangling_target_block', evidence_freshness: 'current' })
  await put(ada, source.id, [source.blocks[1] as BlockNode])
  t.match(await status(source), { status: 'dangling_source_block', evidence_freshness: 'stale' })
  await put(ada, source.id, source.blocks)
  t.match(await status(source), { status: 'dangling_target_block', evidence_freshness: 'current' }, 'and is back')
  await ada.delete(`/documents/${target.id}`)
  t.match(await status(source), { status: 'dangling_target_document', target: { uri, document: null } })
  const other = await make(ada, [p('other')])
  const kept = (await relate(ada, source, { target_uri: `svc://doc/${other.id}` })).body.data
  await ada.delete(`/documents/${source.id}`)
  t.match(await relations(asker, other), [
    { id: kept.id, status: 'dangling_source_document', source: { document: null }, evidence_freshness: 'stale' },
  ])
})

t.test('a relation is made once, of ends that exist, by somebody who may', async (t) => {
  const { service, ada } = await start(t)
  const [source, target] = [await make(ada, [p('s')]), await make(ada, [p('t')])]
  const uri = `svc://doc/${target.id}`
  const nowhere = 'block_00000000000000000000000000'
  const missing = [
    [{ source_document_id: 'doc_x' }, 'document_not_found', { id: 'doc_x', field: 'source_document_id' }],
    [{ source_document_id: 'nope' }, 'document_not_found', { id: 'nope', field: 'source_document_id' }],
    [{ source_block_id: nowhere }, 'block_not_found', { id: nowhere, field: 'source_block_id' }],
    [{ target_uri: 'svc://doc/doc_x' }, 'document_not_found', { id: 'doc_x', field: 'target_uri' }],
    [{ target_uri: `${uri}#block=${nowhere}` }, 'block_not_found', { id: nowhere, field: 'target_uri' }],
  ] as const
  for (const [members, code, details] of missing) {
    refused(t, await relate(ada, source, { target_uri: uri, ...members }), { status: 404, code, details })
  }
  const invalid = [
    { target_uri: 'svc://docset/docset_1' },
    { target_uri: `${uri}?x` },
    { target_uri: uri.replace('svc', 'SVC') },
    { target_uri: `${uri}#block=1` },
    { predicate: 'likes' },
    { source_document_id: 'doc_\u0000' },
    { source_block_id: 'block_1' },
    { anchor_text: 'x'.repeat(501) },
  ]
  for (const members of invalid) {
    const reply = await relate(ada, source, { target_uri: uri, ...members })
    refused(t, reply, { status: 400, code: 'invalid_request', details: reply.body.error.details })
  }
  const self = { target_uri: `svc://doc/${source.id}#block=${blockId(source)}` }
  refused(t, await relate(ada, source, self), { status: 422, code: 'self_relation' })

  const viewer = await service.signUp({ workspace: ada.workspace, role: 'viewer' })
  refused(t, await relate(viewer, source, { target_uri: uri }), { status: 403, code: 'forbidden' })
  const replies = await Promise.all([1, 2, 3, 4].map(() => relate(ada, source, { target_uri: uri })))
  const winner = replies.find(({ status }) => status === 201)?.body.data
  for (const reply of replies.filter(({ status }) => status !== 201)) {
    refused(t, reply, { status: 409, code: 'relation_exists', details: { id: winner.id } })
  }
  t.equal(replies.filter(({ status }) => status === 201).length, 1)
  t.equal((await relate(ada, source, { target_uri: uri, predicate: 'contradicts' })).status, 201)
})

t.test('nobody learns through a relation of a document that is not theirs to see', async (t) => {
  const { service, ada } = await start(t)
  const bob = await service.signUp()
  const both = await service.signUp({ email: bob.email, workspace: ada.workspace, role: 'editor' })
  const [hers, his] = [await make(ada, [p('hers')]), await make(bob, [p('his')])]
  refused(t, await relate(ada, hers, { target_uri: `svc://doc/${his.id}` }), {
    status: 404,
    code: 'document_not_found',
    details: { id: his.id, field: 'target_uri' },
  })
  const made = await relate(both, his, { target_uri: `svc://doc/${hers.id}` })
  t.match(made.body.data, { status: 'valid', target: { document: { id: hers.id } } })
  t.strictSame(await relations(ada, hers), [], 'the source is invisible to her')
  t.match(await relations(both, hers), [{ id: made.body.data.id }])
  const reverse = (await relate(both, hers, { target_uri: `svc://doc/${his.id}` })).body.data
  t.match(await relations(ada, hers), [
    { id: reverse.id, status: 'dangling_target_document', target: { document: null } },
  ])
  const gone = { status: 404, code: 'relation_not_found', details: { id: made.body.data.id } }
  refused(t, await ada.delete(`/relations/${made.body.data.id}`), gone)
  t.equal((await both.delete(`/relations/${made.body.data.id}`)).status, 204)
  refused(t, await both.delete(`/relations/${made.body.data.id}`), gone)
})

t.test('an inline relation is deleted by removing its link, not otherwise', async (t) => {
  const { service, ada, work, extracted } = await start(t)
  await work()
  const target = await make(ada, [p('target')])
  const source = await make(ada, [p(link(`svc://doc/${target.id}`, 'link'))])
  const [inline] = await extracted(ada, source)
  const viewer = await service.signUp({ workspace: ada.workspace, role: 'viewer' })
  refused(t, await viewer.delete(`/relations/${inline.id}`), { status: 403, code: 'forbidden' })
  const details = { document_id: source.id, block_id: blockId(source) }
  refused(t, await ada.delete(`/relations/${inline.id}`), { status: 409, code: 'inline_relation', details })
  const manual = await relate(ada, source, { target_uri: `svc://doc/${target.id}` })
  t.equal(manual.status, 201, 'the same may be said by hand as well')
  await ada.delete(`/documents/${source.id}`)
  t.match(await relations(ada, target), [{ id: manual.body.data.id, status: 'dangling_source_document' }])
  t.equal((await relations(ada, target)).length, 1, 'the link went with its document')
})

t.test('a list of relations is in order, without repetition, in pages and by predicate and direction', async (t) => {
  const { ada } = await start(t)
  const [hub, spoke] = [await make(ada, [p('hub'), p('second')]), await make(ada, [p('spoke')])]
  const ids: string[] = []
  for (const predicate of ['supports', 'refers_to', 'depends_on']) {
    ids.push((await relate(ada, hub, { target_uri: `svc://doc/${spoke.id}`, predicate })).body.data.id)
    ids.push((await relate(ada, spoke, { target_uri: `svc://doc/${hub.id}`, predicate })).body.data.id)
  }
  const within = `svc://doc/${hub.id}#block=${hub.blocks[1]?.attrs.id}`
  ids.push((await relate(ada, hub, { target_uri: within })).body.data.id)
  const idsOf = async (query: string) => (await relations(ada, hub, query)).map(({ id }) => id)
  t.strictSame(await idsOf(''), ids)
  t.strictSame(await idsOf('?direction=outgoing'), [ids[0], ids[2], ids[4], ids[6]])
  t.strictSame(await idsOf('?direction=incoming'), [ids[1], ids[3], ids[5], ids[6]])
  t.strictSame(await idsOf('?predicate=refers_to'), [ids[2], ids[3], ids[6]])
  t.strictSame(await idsOf('?predicate=contradicts'), [])
  const paged: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await ada.get(`/documents/${hub.id}/relations?limit=2${cursor}`)
    paged.push(...body.data.map(({ id }: { id: string }) => id))
    if (!body.page.has_more) break
    cursor = `&cursor=${body.page.next_cursor}`
  }
  t.strictSame(paged, ids)
  t.equal((await ada.get(`/documents/${hub.id}/relations?predicate=likes`)).status, 400)
  t.match((await ada.get('/relation-types')).body, {
    data: [
      { predicate: 'refers_to', origins: ['inline', 'manual'], description: String, inverse_label: String },
      { predicate: 'supports', origins: ['manual'] },
      { predicate: 'depends_on', origins: ['manual'] },
      { predicate: 'contradicts', origins: ['manual'] },
    ],
    page: { has_more: false },
  })
})

t.test('with a knowledge base go the relations of which no end is left, and no others', async (t) => {
  const { service, ada } = await start(t)
  const [doomed, safe] = [await base(ada, 'doomed'), await base(ada, 'safe')]
  const [one, two] = [await make(ada, [p('one')], doomed), await make(ada, [p('two')], doomed)]
  const three = await make(ada, [p('three')], safe)
  await relate(ada, one, { target_uri: `svc://doc/${two.id}` })
  const outward = (await relate(ada, one, { target_uri: `svc://doc/${three.id}` })).body.data.id
  const inward = (await relate(ada, three, { target_uri: `svc://doc/${two.id}` })).body.data.id
  const id = doomed.knowledge_base_id
  t.equal((await ada.delete(`/knowledge-bases/${id}`, { confirm_id: String(id) })).status, 204)
  t.match(await relations(ada, three), [
    { id: outward, status: 'dangling_source_document' },
    { id: inward, status: 'dangling_target_document' },
  ])
  const left =
    await service.database.anyFirst(sql.type(row(Type.Object({ id: Type.String() })))`SELECT id FROM relations`)
  t.strictSame([...left].sort(), [outward, inward].sort())
})

async function start(t: Test) {
  const service = await startTestService(t)
  const workspace = `workspace ${Math.random()}`
  const ada = Object.assign(await service.signUp({ workspace }), { workspace })
  const work = async () => (await startWorkers(t, service, workersOf(['relations']))).stop
  /** The relations of a document once the links of every body are read. */
  const extracted = async (client: Client, document: { id: string }) => {
    const lagging = sql.type(row(Type.Object({ document_id: Type.String() })))`
      SELECT document_id FROM stale_projections WHERE projection = 'relations'`
    await until(async () => (await service.database.any(lagging)).length === 0)
    return relations(client, document)
  }
  return { service, ada, work, extracted }
}

async function base(client: Client, name: string): Promise<{ knowledge_base_id: number }> {
  return { knowledge_base_id: (await client.post('/knowledge-bases', { name })).body.data.id }
}

function link(href: string, value: string, ...marks: string[]): BodyNode {
  return text(value, ...marks, { type: 'link', attrs: { href } })
}

function blockId(document: Made): string {
  return document.blocks[0]?.attrs.id ?? ''
}

function relate(client: Client, source: Made, members: object) {
  return client.post('/relations', { source_document_id: source.id, source_block_id: blockId(source), ...members })
}

async function relations(client: Client, document: { id: string }, query = '') {
  const { status, text: answer, body } = await client.get(`/documents/${document.id}/relations${query}`)
  if (status !== 200) throw new Error(`${status} ${answer}`)
  // biome-ignore lint/suspicious/noExplicitAny: relations as any client reads them
  return body.data as any[]
}
