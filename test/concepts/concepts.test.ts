import { sql } from '../../shared/database/database.ts'
import type { Client, Reply } from '../support/client.ts'
import { refused } from '../support/documents.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { rewrite, write } from '../support/workers.ts'

const shared = await startTestService(t)

t.test('a concept is created with all its names and read back', async (t) => {
  const { ada, base } = await start()
  const created = await ada.post('/concepts', {
    knowledge_base_id: String(base),
    name: '  Kubernetes ',
    description: 'runs containers',
    aliases: ['K8s', 'kube', ' K8S '],
    labels: [
      { locale: 'de-de', name: 'Kubernetes', description: 'betreibt Container' },
      { locale: 'ja', name: 'クバネティス' },
    ],
  })
  t.equal(created.status, 201)
  const { data } = created.body
  t.match(data, {
    id: /^concept_[0-9A-HJKMNP-TV-Z]{26}$/,
    uri: `svc://concept/${data.id}`,
    knowledge_base_id: base,
    name: 'Kubernetes',
    normalized_name: 'kubernetes',
    aliases: ['K8s', 'kube'],
    alias_objects: [{ alias: 'K8s', normalized_alias: 'k8s', origin: 'manual' }, { alias: 'kube' }],
    labels: [
      {
        locale: 'de-DE',
        name: 'Kubernetes',
        description: 'betreibt Container',
        origin: 'manual',
        created_by: ada.user_id,
      },
      { locale: 'ja', description: null },
    ],
    status: 'active',
    version: 'concept:1',
    relations: [],
    merge_history: [],
  })
  t.equal(created.headers.get('etag'), '"concept:1"')
  t.equal(created.headers.get('location'), `/api/v1/concepts/${data.id}`)
  const read = await ada.get(`/concepts/${data.id}`)
  t.strictSame(read.body.data, data)
  t.equal(read.headers.get('etag'), '"concept:1"')
  t.notOk('requested_id' in read.body.data)
})

t.test('what cannot be a concept is refused, and nothing of it is kept', async (t) => {
  const { ada, base } = await start()
  const { id: document } = await write(ada, 'text', { knowledge_base_id: base })
  const wrong: [object, string][] = [
    [{ name: '' }, '/name'],
    [{ name: 'x'.repeat(201) }, '/name'],
    [{ aliases: [' '] }, '/aliases/0'],
    [{ description: 'x'.repeat(10_001) }, '/description'],
    [{ source_document_id: document, source_excerpt: 'x'.repeat(2001) }, '/source_excerpt'],
    [{ source_block_id: `block_${'0'.repeat(26)}` }, '/source_document_id'],
    [{ source_document_id: document, source_block_id: 'block_1' }, '/source_block_id'],
    [{ source_document_id: document, valid_from: 2, valid_to: 2 }, '/valid_to'],
    [{ sources: [{ document_id: document, valid_from: 2, valid_to: 1 }] }, '/sources/0/valid_to'],
    [
      {
        labels: [
          { locale: 'en-us', name: 'a' },
          { locale: 'en-US', name: 'b' },
        ],
      },
      '/labels/1/locale',
    ],
  ]
  for (const [members, path] of wrong) {
    const reply = await ada.post('/concepts', { knowledge_base_id: base, name: 'x', ...members })
    t.match(reply, { status: 400, body: { error: { details: { fields: [{ path }] } } } }, path)
  }
  const post = (members: object) => ada.post('/concepts', { knowledge_base_id: base, name: 'x', ...members })
  const missing = (id: string | number, field: string) => ({ id, field })
  refused(t, await post({ knowledge_base_id: 999_999 }), {
    status: 404,
    code: 'knowledge_base_not_found',
    details: missing(999_999, 'knowledge_base_id'),
  })
  refused(t, await post({ canonical_document_id: 'doc_none' }), {
    status: 404,
    code: 'document_not_found',
    details: missing('doc_none', 'canonical_document_id'),
  })
  refused(t, await post({ sources: [{ document_id: document }, { document_id: 'nothing' }] }), {
    status: 404,
    code: 'document_not_found',
    details: missing('nothing', 'sources/1/document_id'),
  })
  const noBlock = `block_${'0'.repeat(26)}`
  refused(t, await post({ source_document_id: document, source_block_id: noBlock }), {
    status: 404,
    code: 'block_not_found',
    details: missing(noBlock, 'source_block_id'),
  })
  refused(t, await post({ labels: [{ locale: 'en_US', name: 'a' }] }), { status: 422, code: 'invalid_locale' })
  t.strictSame((await ada.get(`/concepts?knowledge_base_id=${base}`)).body.data, [])
})

t.test('two active concepts of a knowledge base never have the same name, however they come by it', async (t) => {
  const { ada, base } = await start()
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const first = await concept(ada, base, 'Ｋubernetes  Cluster')
  const conflict = { status: 409, code: 'concept_name_conflict', details: { concept_id: first } }
  refused(t, await ada.post('/concepts', { knowledge_base_id: base, name: 'kubernetes cluster' }), conflict)
  t.ok(await concept(ada, other, 'Kubernetes cluster'), 'another knowledge base may')
  const second = await concept(ada, base, 'Nomad')
  refused(t, await patch(ada, second, { name: 'KUBERNETES CLUSTER' }), conflict)
  t.equal((await patch(ada, first, { name: 'kubernetes Cluster' })).status, 200, 'it may change its own writing')

  t.equal((await patch(ada, first, { status: 'archived' })).status, 200)
  t.equal((await patch(ada, second, { name: 'Kubernetes cluster' })).status, 200, 'an archived one frees its name')
  refused(t, await patch(ada, first, { status: 'active' }), { ...conflict, details: { concept_id: second } })
  t.equal((await patch(ada, first, { status: 'active', name: 'Old' })).status, 200)
})

t.test('of many who claim one name at once exactly one gets it', async (t) => {
  const { ada, base } = await start()
  for (let round = 0; round < 5; round += 1) {
    const spare = await concept(ada, base, `spare ${round}`)
    const claims = Array.from({ length: 6 }, (_, index) =>
      index === 0
        ? patch(ada, spare, { name: `Name ${round}` })
        : ada.post('/concepts', { knowledge_base_id: base, name: index % 2 ? `name ${round}` : `NAME ${round}` }),
    )
    const replies = await Promise.all(claims)
    const [winner, ...others] = replies.filter(({ status }) => status < 300)
    t.equal(others.length, 0)
    for (const reply of replies.filter((reply) => reply !== winner)) {
      const details = { concept_id: winner?.body.data.id }
      refused(t, reply, { status: 409, code: 'concept_name_conflict', details })
    }
  }
})

t.test('a concept changes under its version only, and only what is given', async (t) => {
  const { ada, base } = await start()
  const id = await concept(ada, base, 'Term', { aliases: ['a', 'b'], labels: [{ locale: 'en', name: 'Term' }] })
  const before = (await ada.get(`/concepts/${id}`)).body.data
  const path = `/concepts/${id}`
  refused(t, await ada.patch(path, { name: 'x' }), {
    status: 428,
    code: 'precondition_required',
    details: { missing: ['If-Match'] },
  })
  const stale = await ada.patch(path, { name: 'x' }, { 'if-match': '"concept:7"' })
  refused(t, stale, {
    status: 409,
    code: 'version_conflict',
    details: { provided: 'concept:7', current_version: 'concept:1' },
  })
  t.equal(stale.headers.get('etag'), '"concept:1"')

  for (const nothing of [{}, { name: 'Term' }, { aliases: ['a', 'b'] }, { status: 'active' }]) {
    t.strictSame((await patch(ada, id, nothing)).body.data, before, 'no change, the same version')
  }
  const changed = await ada.patch(
    path,
    { aliases: ['c', 'b'], labels: [{ locale: 'fr', name: 'Terme' }], description: 'd' },
    { 'if-match': 'concept:1' },
  )
  t.equal(changed.headers.get('etag'), '"concept:2"')
  t.match(changed.body.data, { name: 'Term', aliases: ['c', 'b'], description: 'd', labels: [{ locale: 'fr' }] })
  t.equal(changed.body.data.labels.length, 1)
  t.equal(changed.body.data.alias_objects[1].id, before.alias_objects[1].id, 'an alias that stays keeps its id')
  t.match((await patch(ada, id, { description: null, labels: [] })).body.data, { description: null, labels: [] })
  t.equal((await ada.patch(path, { name: null }, { 'if-match': '*' })).status, 400)
  t.equal((await ada.patch(path, { status: 'merged' }, { 'if-match': '*' })).status, 400)
})

t.test('a concept list is complete or says that it is not, and finds names and aliases', async (t) => {
  const { ada, base } = await start()
  const { id: document } = await write(ada, 'text', { knowledge_base_id: base })
  const long = '漢'.repeat(200)
  const names = ['Beta', 'alpha', long, `${long.slice(1)}字`, 'Alpha']
  const ids = new Map<string, string>()
  for (const name of names) ids.set(name, await concept(ada, base, name === 'Alpha' ? 'Alpha 2' : name))
  await patch(ada, String(ids.get('Beta')), { aliases: ['Second Letter'], canonical_document_id: document })
  await guarded(ada, `/concepts/${ids.get('alpha')}/sources`, { document_id: document })
  const list = async (query: string) => (await ada.get(`/concepts?knowledge_base_id=${base}${query}`)).body
  const whole = await list('')
  const order = whole.data.map(({ name }: { name: string }) => name)
  t.strictSame(order, ['Alpha 2', 'Beta', 'alpha', `${long.slice(1)}字`, long], 'by code point')
  t.equal(whole.complete, true)
  t.notOk('relations' in whole.data[0])

  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const { data, page, complete } = await list(`&limit=1${cursor}`)
    seen.push(...data.map(({ name }: { name: string }) => name))
    t.equal(complete, !page.has_more)
    if (!page.has_more) break
    cursor = `&cursor=${page.next_cursor}`
  }
  t.strictSame(seen, order, 'pages together are the list')

  const found = async (query: string) => (await list(query)).data.map(({ name }: { name: string }) => name)
  t.strictSame(await found('&q=ALPHA'), ['Alpha 2', 'alpha'])
  t.strictSame(await found('&q=second%20%20letter'), ['Beta'])
  t.strictSame(await found(`&document_id=${document}`), ['Beta', 'alpha'])
  t.strictSame(await found('&document_id=doc_none'), [])
  await patch(ada, String(ids.get('Beta')), { status: 'archived' })
  t.strictSame(await found('&status=archived'), ['Beta'])
  t.equal((await found('&status=all')).length, 5)
  t.equal((await found('')).length, 4)
  refused(t, await ada.get('/concepts?knowledge_base_id=999999'), { status: 404, code: 'knowledge_base_not_found' })
  t.equal((await ada.get('/concepts')).status, 400)
  for (const path of ['/concepts', '/concept-candidates']) {
    t.equal(
      (await ada.get(`${path}?knowledge_base_id=0${base}`)).status,
      400,
      'not an id, though it looks like a number',
    )
    const id = '9999999999999999'
    const details = { id, field: 'knowledge_base_id' }
    const missing = { status: 404, code: 'knowledge_base_not_found', details }
    refused(t, await ada.get(`${path}?knowledge_base_id=${id}`), missing)
    if (path === '/concepts') refused(t, await ada.post(path, { name: 'x', knowledge_base_id: id }), missing)
  }
})

t.test('evidence says whether it still stands', async (t) => {
  const { ada, base } = await start()
  const document = await write(ada, 'one\n\ntwo', { knowledge_base_id: base })
  const [one, two] = await blockIds(ada, document.id)
  const created = await ada.post('/concepts', {
    knowledge_base_id: base,
    name: 'Term',
    source_document_id: document.id,
    source_block_id: one,
    source_version: document.version,
    source_excerpt: 'one',
    valid_to: 5,
    sources: [{ document_id: document.id }, { document_id: document.id, excerpt: 'the last one counts' }],
  })
  const { id, relations } = created.body.data
  t.match(relations, [
    {
      predicate: 'evidenced_by',
      object: { kind: 'document', id: document.id, block_id: null, uri: `svc://doc/${document.id}` },
      evidence: { freshness: 'current', excerpt: 'the last one counts' },
      temporal_status: 'current',
    },
    {
      predicate: 'evidenced_by',
      object: { kind: 'block', id: document.id, block_id: one, uri: `svc://doc/${document.id}#block=${one}` },
      evidence: { source_version: document.version, current_version: document.version, excerpt: 'one' },
      valid_from: null,
      valid_to: 5,
      temporal_status: 'expired',
      origin: 'manual',
    },
  ])
  t.equal(relations.length, 2, 'one relation for each source')

  const version = await rewrite(ada, document.id, `<!-- block=${one} -->\none`)
  const freshness = async (concept = id) =>
    (await ada.get(`/concepts/${concept}`)).body.data.relations.map((r: Relation) => r.evidence?.freshness ?? null)
  t.strictSame(await freshness(), ['stale', 'stale'])
  const again = await guarded(ada, `/concepts/${id}/sources`, {
    document_id: document.id,
    block_id: one,
    excerpt: 'new',
  })
  t.equal(again.status, 201)
  t.equal(again.body.data.relation_id, relations[1].id, 'the existing relation takes over the version')
  t.match(again.body.data.relations[1], { evidence: { source_version: version, excerpt: 'new' }, valid_to: 5 })
  t.equal(again.body.data.version, 'concept:2')
  refused(
    t,
    await guarded(ada, `/concepts/${id}/sources`, { document_id: document.id, source_version: document.version }),
    { status: 409, code: 'evidence_changed', details: { provided: document.version, current_version: version } },
  )
  refused(t, await guarded(ada, `/concepts/${id}/sources`, { document_id: document.id, block_id: two }), {
    status: 404,
    code: 'block_not_found',
    details: { id: two, field: 'block_id' },
  })

  const other = await write(ada, 'three', { knowledge_base_id: base })
  const [three] = await blockIds(ada, other.id)
  const related = await concept(ada, base, 'Related')
  const relate = (relation: object) => guarded(ada, `/concepts/${related}/relations`, relation)
  const end = { kind: 'concept', id }
  await relate({ predicate: 'related_to', object: end })
  await relate({ predicate: 'broader_than', object: end, evidence: { document_id: other.id, block_id: three } })
  await relate({ predicate: 'alias_of', object: end, evidence: { document_id: document.id } })
  await relate({ predicate: 'evidenced_by', object: { kind: 'document', id: document.id } })
  await relate({
    predicate: 'related_to',
    object: { kind: 'block', id: document.id, block_id: one },
    evidence: { document_id: other.id },
  })
  t.strictSame(await freshness(related), [null, 'current', 'current', 'unanchored', 'current'])
  await rewrite(ada, other.id, 'four')
  t.strictSame(await freshness(related), [null, 'dangling_evidence_block', 'current', 'unanchored', 'stale'])
  await rewrite(ada, document.id, 'five')
  t.strictSame(await freshness(), ['stale', 'dangling_block'])
  t.strictSame(await freshness(related), [null, 'dangling_evidence_block', 'stale', 'unanchored', 'dangling_block'])
  await ada.delete(`/documents/${other.id}`)
  await ada.delete(`/documents/${document.id}`)
  t.strictSame(await freshness(), ['dangling_document', 'dangling_document'], 'the concept outlives its documents')
  t.strictSame(await freshness(related), [
    null,
    'dangling_evidence_document',
    'dangling_evidence_document',
    'dangling_document',
    'dangling_document',
  ])
  t.match((await ada.get(`/concepts/${id}`)).body.data.relations[0].evidence, { current_version: null })
})

t.test('a relation is refused when it says nothing, the same again, or goes round in a circle', async (t) => {
  const { ada, base } = await start()
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => concept(ada, base, name)))
  const { id: document } = await write(ada, 'text', { knowledge_base_id: base })
  const [block] = await blockIds(ada, document)
  const relate = (from: string | undefined, relation: object) => guarded(ada, `/concepts/${from}/relations`, relation)
  const to = (id: string | undefined) => ({ kind: 'concept', id })

  for (const object of [to(b), { kind: 'block', id: document }, { kind: 'document', id: document, block_id: block }]) {
    t.equal((await relate(a, { predicate: 'evidenced_by', object })).status, 400, JSON.stringify(object))
  }
  for (const predicate of ['alias_of', 'broader_than']) {
    t.equal((await relate(a, { predicate, object: { kind: 'document', id: document } })).status, 400)
  }
  t.equal((await relate(a, { predicate: 'related_to', object: to(b), valid_from: 5, valid_to: 5 })).status, 400)
  t.equal((await relate(a, { predicate: 'part_of', object: to(b) })).status, 400)
  refused(t, await relate(a, { predicate: 'related_to', object: to(a) }), {
    status: 409,
    code: 'concept_self_relation',
  })
  refused(t, await relate(a, { predicate: 'related_to', object: to(`concept_${'0'.repeat(26)}`) }), {
    status: 404,
    code: 'concept_not_found',
    details: { id: `concept_${'0'.repeat(26)}`, field: 'object/id' },
  })
  refused(t, await relate(a, { predicate: 'related_to', object: { kind: 'document', id: 'doc_none' } }), {
    status: 404,
    code: 'document_not_found',
    details: { id: 'doc_none', field: 'object/id' },
  })

  const first = await relate(a, { predicate: 'related_to', object: to(b), valid_from: 10, valid_to: 20 })
  t.equal(first.status, 201)
  const exists = { status: 409, code: 'concept_relation_exists', details: { id: first.body.data.relation_id } }
  refused(t, await relate(a, { predicate: 'related_to', object: to(b) }), exists)
  refused(t, await relate(a, { predicate: 'related_to', object: to(b), valid_from: 19 }), exists)
  t.equal(
    (await relate(a, { predicate: 'related_to', object: to(b), valid_from: 20 })).status,
    201,
    'ends are exclusive',
  )
  t.equal((await relate(a, { predicate: 'related_to', object: to(b), valid_to: 10 })).status, 201)
  t.equal((await relate(a, { predicate: 'alias_of', object: to(b) })).status, 201)

  const circle = { status: 409, code: 'concept_relation_cycle' }
  t.equal((await relate(a, { predicate: 'broader_than', object: to(b), valid_to: 1 })).status, 201)
  t.equal((await relate(b, { predicate: 'broader_than', object: to(c) })).status, 201)
  refused(t, await relate(b, { predicate: 'broader_than', object: to(a), valid_from: 1 }), circle)
  refused(t, await relate(c, { predicate: 'broader_than', object: to(a) }), circle)
  t.equal((await relate(a, { predicate: 'broader_than', object: to(c) })).status, 201, 'two ways down are no circle')
  t.equal((await relate(c, { predicate: 'related_to', object: to(a) })).status, 201)

  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  refused(t, await relate(a, { predicate: 'related_to', object: to(await concept(ada, other, 'elsewhere')) }), {
    status: 422,
    code: 'cross_knowledge_base',
  })
})

t.test('broader_than relations that only together close a circle cannot all win', async (t) => {
  const { ada, base } = await start()
  for (let round = 0; round < 12; round += 1) {
    const size = 2 + (round % 3)
    const ids = await Promise.all(Array.from({ length: size }, (_, index) => concept(ada, base, `${round} ${index}`)))
    const replies = await Promise.all(
      ids.map((id, index) =>
        guarded(ada, `/concepts/${id}/relations`, {
          predicate: 'broader_than',
          object: { kind: 'concept', id: ids[(index + 1) % size] },
        }),
      ),
    )
    const lost = replies.filter(({ status }) => status !== 201)
    t.equal(lost.length, 1)
    for (const reply of lost) refused(t, reply, { status: 409, code: 'concept_relation_cycle' })
  }
})

t.test('traversing shows what is valid at an instant, in both directions', async (t) => {
  const { ada, base } = await start()
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => concept(ada, base, name)))
  const { id: document } = await write(ada, 'text', { knowledge_base_id: base })
  const relate = (from: string | undefined, relation: object) => guarded(ada, `/concepts/${from}/relations`, relation)
  await relate(a, { predicate: 'related_to', object: { kind: 'concept', id: b }, valid_from: 10, valid_to: 20 })
  await relate(c, { predicate: 'broader_than', object: { kind: 'concept', id: a } })
  await relate(a, { predicate: 'evidenced_by', object: { kind: 'document', id: document }, valid_from: 20 })
  const traverse = async (query: string) => (await ada.get(`/concepts/${a}/traverse?${query}`)).body
  const shape = async (query: string) =>
    (await traverse(query)).data.map((r: Relation) => `${r.direction} ${r.predicate} ${r.temporal_status}`)
  t.strictSame(await shape('at=9'), ['incoming broader_than current'])
  t.strictSame(await shape('at=10'), ['outgoing related_to current', 'incoming broader_than current'])
  t.strictSame(await shape('at=20'), ['incoming broader_than current', 'outgoing evidenced_by current'])
  t.strictSame(await shape('at=10&direction=outgoing'), ['outgoing related_to current'])
  t.strictSame(await shape('direction=incoming'), ['incoming broader_than current'])
  t.strictSame(await shape('at=10&predicate=evidenced_by'), [])
  const first = await traverse('at=10&limit=1')
  t.equal(first.page.has_more, true)
  t.match(await traverse(`at=10&limit=1&cursor=${first.page.next_cursor}`), {
    data: [{ predicate: 'broader_than', subject_concept_id: c }],
    page: { has_more: false },
  })
  const statuses = (await ada.get(`/concepts/${a}`)).body.data.relations.map((r: Relation) => r.temporal_status)
  t.strictSame(statuses, ['expired', 'current'])
  t.equal((await ada.get(`/concepts/${a}/traverse?at=x`)).status, 400)
})

t.test('a merged concept lives on in the other: names, evidence, relations, history and its id', async (t) => {
  const { ada, base } = await start()
  const { id: document } = await write(ada, 'text', { knowledge_base_id: base })
  const source = await concept(ada, base, 'K8s', {
    aliases: ['kube', 'Kubernetes'],
    labels: [
      { locale: 'de', name: 'deutsch' },
      { locale: 'fr', name: 'autre' },
    ],
    sources: [{ document_id: document }],
  })
  const target = await concept(ada, base, 'Kubernetes', { aliases: ['KUBE'], labels: [{ locale: 'fr', name: 'nom' }] })
  const third = await concept(ada, base, 'Third')
  const relate = (from: string, predicate: string, id: string, validity = {}) =>
    guarded(ada, `/concepts/${from}/relations`, { predicate, object: { kind: 'concept', id }, ...validity })
  await relate(source, 'alias_of', target)
  await relate(source, 'related_to', third)
  await relate(target, 'related_to', third, { valid_from: 5 })
  await relate(third, 'broader_than', source)
  await relate(third, 'related_to', source, { valid_to: 5 })
  await relate(third, 'related_to', target, { valid_from: 5 })

  const version = async (id: string) => (await ada.get(`/concepts/${id}`)).body.data.version
  const [from, into] = [await version(source), await version(target)]
  const merge = (body: object, ifMatch?: string) =>
    ada.post(`/concepts/${source}/merge`, body, ifMatch === undefined ? {} : { 'if-match': ifMatch })
  const there = { target_concept_id: target }
  const needed = (...missing: string[]) => ({ status: 428, code: 'precondition_required', details: { missing } })
  refused(t, await merge({ ...there, target_version: into }), needed('If-Match'))
  refused(t, await merge(there, from), needed('target_version'))
  refused(t, await merge(there), needed('If-Match', 'target_version'))
  for (const value of ['xx', 'candidate:1', '']) {
    refused(t, await merge({ ...there, target_version: value }, from), {
      status: 400,
      code: 'invalid_request',
      details: { fields: [{ path: '/target_version', message: 'must be a version, quoted or bare' }] },
    })
  }
  refused(t, await merge({ ...there, target_version: 'concept:1' }, from), {
    status: 409,
    code: 'version_conflict',
    details: { provided: 'concept:1', current_version: into, field: 'target_version' },
  })
  refused(t, await merge({ ...there, target_version: into }, 'concept:1'), { status: 409, code: 'version_conflict' })
  refused(t, await merge(there, `"${into}", "${from}"`), { status: 409, code: 'version_conflict' })
  refused(t, await merge({ ...there, target_version: 'concept:9' }, `"${from}", "${into}"`), {
    status: 400,
    code: 'precondition_mismatch',
  })
  refused(t, await merge({ target_concept_id: source, target_version: from }, from), {
    status: 409,
    code: 'concept_self_merge',
  })

  const merged = await merge({ ...there, reason: 'the same' }, `"${from}", "${into}"`)
  t.equal(merged.status, 200, merged.text)
  const { data } = merged.body
  t.equal(merged.headers.get('etag'), `"${data.version}"`)
  t.equal(data.version, `concept:${Number(into.slice(8)) + 1}`, 'one change of the target')
  t.match(data, {
    id: target,
    name: 'Kubernetes',
    aliases: ['KUBE', 'K8s'],
    labels: [{ locale: 'de' }, { name: 'nom' }],
  })
  t.equal(data.alias_objects[1].origin, 'merge')
  t.equal(data.labels[0].origin, 'merge')
  t.match(data.merge_history, [{ concept_id: source, name: 'K8s', merged_by: ada.user_id, reason: 'the same' }])
  const outgoing = data.relations.map((r: Relation) => `${r.predicate} ${r.object.id} ${r.valid_from}`)
  t.strictSame(outgoing, [`evidenced_by ${document} null`, `related_to ${third} 5`], 'duplicates and loops are dropped')
  const others = (await ada.get(`/concepts/${third}`)).body.data.relations
  t.strictSame(
    others.map((r: Relation) => `${r.predicate} ${r.object.id} ${r.valid_from} ${r.valid_to}`),
    [`broader_than ${target} null null`, `related_to ${target} null 5`, `related_to ${target} 5 null`],
  )

  const old = await ada.get(`/concepts/${source}`)
  t.match(old, { status: 200, body: { data: { id: target, requested_id: source } } })
  t.equal(old.headers.get('etag'), `"${data.version}"`)
  t.equal((await ada.get(`/concepts/${source}/traverse`)).body.data.length, 4)
  const gone = { status: 409, code: 'concept_merged', details: { merged_into_concept_id: target } }
  refused(t, await patch(ada, source, { name: 'x' }), gone)
  refused(t, await guarded(ada, `/concepts/${source}/sources`, { document_id: document }), gone)
  refused(t, await relate(source, 'related_to', third), gone)
  refused(t, await merge({ ...there, target_version: '*' }, '*'), gone)
  t.equal(
    (await relate(third, 'alias_of', source)).body.data.relations.at(-1).object.id,
    target,
    'as an object it resolves',
  )

  const last = await concept(ada, base, 'Orchestration')
  t.equal((await mergeInto(ada, target, last)).status, 200)
  t.match((await ada.get(`/concepts/${source}`)).body.data, { id: last, requested_id: source })
  const history = (await ada.get(`/concepts/${last}`)).body.data.merge_history
  t.strictSame(
    history.map(({ concept_id }: { concept_id: string }) => concept_id),
    [source, target],
  )
  const listed = (await ada.get(`/concepts?knowledge_base_id=${base}&status=merged`)).body.data
  t.match(listed, [
    { id: source, merged_into_concept_id: last },
    { id: target, merged_into_concept_id: last },
  ])
})

t.test('only active concepts of one knowledge base merge, and no merge closes a circle', async (t) => {
  const { ada, base } = await start()
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => concept(ada, base, name)))
  const broader = (from = '', id = '') =>
    guarded(ada, `/concepts/${from}/relations`, { predicate: 'broader_than', object: { kind: 'concept', id } })
  await broader(a, b)
  await broader(b, c)
  refused(t, await mergeInto(ada, a, c), { status: 409, code: 'concept_relation_cycle' })
  refused(t, await mergeInto(ada, c, a), { status: 409, code: 'concept_relation_cycle' })
  t.match((await ada.get(`/concepts/${c}`)).body.data, { version: 'concept:1', status: 'active' })
  t.equal((await mergeInto(ada, b, c)).status, 200, 'a direct edge falls away')

  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const elsewhere = await concept(ada, other, 'elsewhere')
  refused(t, await mergeInto(ada, a, elsewhere), { status: 422, code: 'cross_knowledge_base' })
  await patch(ada, a, { status: 'archived' })
  const archived = { status: 409, code: 'concept_not_active', details: { concept_id: a, status: 'archived' } }
  refused(t, await mergeInto(ada, a, c), archived)
  refused(t, await mergeInto(ada, c, a), archived)
  const d = await concept(ada, base, 'd')
  const merged = { status: 409, code: 'concept_not_active', details: { concept_id: b, status: 'merged' } }
  refused(t, await mergeInto(ada, d, b), merged)
})

t.test('merges that run into each other leave every id leading to an active concept', async (t) => {
  const { ada, base } = await start()
  for (let round = 0; round < 8; round += 1) {
    const ids = await Promise.all(Array.from({ length: 4 }, (_, index) => concept(ada, base, `${round} ${index}`)))
    const [a, b, c, d] = ids
    await guarded(ada, `/concepts/${a}/relations`, { predicate: 'broader_than', object: { kind: 'concept', id: b } })
    const replies = await Promise.all([
      mergeInto(ada, a, b),
      mergeInto(ada, b, c),
      mergeInto(ada, c, a),
      mergeInto(ada, d, b),
      guarded(ada, `/concepts/${c}/relations`, { predicate: 'broader_than', object: { kind: 'concept', id: a } }),
    ])
    for (const { status, text } of replies) t.ok([200, 201, 409].includes(status), text)
    for (const id of ids) t.equal((await ada.get(`/concepts/${id}`)).body.data.status, 'active')
  }
})

t.test('checks come in the order of the contract', async (t) => {
  const { ada, base, signUp } = await start({ workspace: 'shared' })
  const viewer = await signUp({ workspace: 'shared', role: 'viewer' })
  const stranger = await signUp()
  const id = await concept(ada, base, 'Term')
  const other = await concept(ada, base, 'Other')
  const nobody = `concept_${'0'.repeat(26)}`
  for (const [path, body, missing] of [
    ['', {}, { canonical_document_id: 'doc_none' }],
    ['/sources', { document_id: (await write(ada, 'x', { knowledge_base_id: base })).id }, { document_id: 'doc_none' }],
    [
      '/relations',
      { predicate: 'alias_of', object: { kind: 'concept', id: other } },
      { object: { kind: 'concept', id: nobody } },
    ],
    ['/merge', { target_concept_id: other }, { target_concept_id: nobody }],
  ] as const) {
    const method = path === '' ? 'PATCH' : 'POST'
    const call = (client: Client, members: object, headers = {}) =>
      client.call(method, `/concepts/${id}${path}`, { body: { ...body, ...members }, headers })
    refused(t, await call(stranger, {}), { status: 404, code: 'concept_not_found', details: { id } })
    t.equal((await call(viewer, missing)).status, 404, 'what is missing comes before the role')
    refused(t, await call(viewer, {}), { status: 403, code: 'forbidden' })
    refused(t, await call(ada, {}), { status: 428, code: 'precondition_required' })
    refused(t, await call(ada, { target_version: 'concept:1' }, { 'if-match': 'concept:9' }), {
      status: 409,
      code: 'version_conflict',
    })
    t.equal((await call(ada, {}, { 'if-match': 'x' })).status, 400)
  }
  const labels = [{ locale: 'no_locale', name: 'x' }]
  refused(t, await ada.patch(`/concepts/${id}`, { labels, name: 'other' }, { 'if-match': 'concept:9' }), {
    status: 409,
    code: 'concept_name_conflict',
  })
  refused(t, await ada.patch(`/concepts/${id}`, { labels }, { 'if-match': 'concept:9' }), {
    status: 409,
    code: 'version_conflict',
  })
  refused(t, await ada.patch(`/concepts/${id}`, { labels }, { 'if-match': '*' }), {
    status: 422,
    code: 'invalid_locale',
  })
  t.equal((await ada.get('/concepts/concept_1')).status, 404)
})

t.test('concepts go with their knowledge base and nothing of them is left', async (t) => {
  const { ada, base, database } = await start({ service: await startTestService(t) })
  const { id: document } = await write(ada, 'text', { knowledge_base_id: base })
  const a = await concept(ada, base, 'a', { aliases: ['x'], labels: [{ locale: 'en', name: 'x' }] })
  const b = await concept(ada, base, 'b', { sources: [{ document_id: document }] })
  await mergeInto(ada, a, b)
  t.equal((await ada.delete(`/knowledge-bases/${base}`, { confirm_id: base })).status, 204)
  t.equal((await ada.get(`/concepts/${b}`)).status, 404)
  for (const table of ['concepts', 'concept_aliases', 'concept_labels', 'concept_relations']) {
    t.equal(await database.oneFirst(sql.unsafe`SELECT count(*) FROM ${sql.identifier([table])}`), 0, table)
  }
})

t.test('a concept that is created while its knowledge base goes never ends in a fault', async (t) => {
  const { ada } = await start()
  for (let round = 0; round < 5; round += 1) {
    const base = (await ada.post('/knowledge-bases', { name: 'x' })).body.data.id
    const replies = await Promise.all([
      ...Array.from({ length: 4 }, (_, index) => ada.post('/concepts', { knowledge_base_id: base, name: `${index}` })),
      ada.delete(`/knowledge-bases/${base}`, { confirm_id: base }),
    ])
    for (const { status, text } of replies) t.ok([201, 204, 404].includes(status), text)
  }
})

type Relation = {
  predicate: string
  direction: string
  temporal_status: string
  object: { id: string }
  evidence: { freshness: string } | null
  valid_from: number | null
  valid_to: number | null
}

async function start(options: { service?: TestService; workspace?: string } = {}) {
  const { service = shared, workspace } = options
  const ada = await service.signUp(workspace === undefined ? {} : { workspace })
  const base: number = (await ada.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  return { ...service, ada, base }
}

async function concept(client: Client, base: number, name: string, members: object = {}): Promise<string> {
  const reply = await client.post('/concepts', { knowledge_base_id: base, name, ...members })
  if (reply.status !== 201) throw new Error(`POST /concepts answered ${reply.status}: ${reply.text}`)
  return reply.body.data.id
}

function patch(client: Client, id = '', update: object = {}): Promise<Reply> {
  return client.patch(`/concepts/${id}`, update, { 'if-match': '*' })
}

function guarded(client: Client, path: string, body: object): Promise<Reply> {
  return client.post(path, body, { 'if-match': '*' })
}

function mergeInto(client: Client, source = '', target = ''): Promise<Reply> {
  const body = { target_concept_id: target, target_version: '*' }
  return guarded(client, `/concepts/${source}/merge`, body)
}

async function blockIds(client: Client, document: string): Promise<string[]> {
  const { body } = await client.get(`/documents/${document}/blocks`)
  return body.data.map(({ block_id }: { block_id: string }) => block_id)
}
