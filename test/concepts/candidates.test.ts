import { sql } from '../../shared/database/database.ts'
import { candidateRefresher, candidatesProjection } from '../../workers/candidates.ts'
import type { Client, Reply } from '../support/client.ts'
import { refused } from '../support/documents.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { defineDisturbed, rewrite, startWorkers, write } from '../support/workers.ts'

const shared = await startTestService(t)

t.test('title and link texts become candidates, and nothing becomes a concept by itself', async (t) => {
  const { ada, base } = await start()
  const document = await write(
    ada,
    `See the [Event **Loop**](https://a.test) and [event  loop](b.md) or ![pic](c.png).`,
    { knowledge_base_id: base, title: 'Node Handbook' },
  )
  const reply = await extract(ada, document.id)
  t.equal(reply.status, 201)
  const { candidates, ...counts } = reply.body.data
  t.strictSame(counts, {
    document_id: document.id,
    source_version: document.version,
    extractor_version: '1',
    created: 2,
    refreshed: 0,
    skipped_rejected: 0,
    skipped_accepted: 0,
  })
  t.match(candidates, [
    {
      id: /^cand_[0-9A-HJKMNP-TV-Z]{26}$/,
      knowledge_base_id: base,
      name: 'Node Handbook',
      normalized_name: 'node handbook',
      block_id: null,
      extractor: 'title',
      excerpt: 'Node Handbook',
      freshness: 'current',
      review_status: 'pending',
      concept_id: null,
      suggested_concept_id: null,
      version: 'candidate:1',
    },
    {
      name: 'Event Loop',
      extractor: 'link_anchor',
      block_id: /^block_/,
      source_version: document.version,
      current_version: document.version,
      fingerprint: /^sha256:[0-9a-f]{64}$/,
      excerpt: 'See the Event Loop and event loop or pic.',
    },
  ])
  t.strictSame((await ada.get(`/concepts?knowledge_base_id=${base}&status=all`)).body.data, [])
  const again = (await extract(ada, document.id)).body.data
  t.match(again, { created: 0, refreshed: 2 })
  t.strictSame(again.candidates, candidates, 'the same source gives the same candidates')
})

t.test('addresses, numbers and endless texts are no candidates', async (t) => {
  const { ada, base } = await start()
  const links = [
    ...['[https://a.test/x](https://a.test/x)', '<https://b.test>', 'www.c.test', '[www.d.test/y](e.md)'],
    ...['mail@f.test', '[notes/g.md](notes/g.md)', '[42](h.md)', `[${'x'.repeat(201)}](i.md)`],
    ...[`[${'漢'.repeat(200)}](j.md)`, '[![badge](k.svg)](l.md)', '[Version 2](m.md)'],
  ]
  const { id } = await write(ada, links.join('\n\n'), { knowledge_base_id: base, title: 'T'.repeat(201) })
  const { candidates } = (await extract(ada, id)).body.data
  t.strictSame(
    candidates.map(({ name }: Candidate) => name),
    ['漢'.repeat(200), 'Version 2'],
  )
})

t.test('an accepted candidate becomes a concept with its evidence, once', async (t) => {
  const { ada, base } = await start()
  const { id: document } = await write(ada, '[Event Loop](a.md)', { knowledge_base_id: base, title: 'Handbook' })
  const [, link] = (await extract(ada, document)).body.data.candidates
  const path = `/concept-candidates/${link.id}/accept`
  refused(t, await ada.post(path), { status: 428, code: 'precondition_required', details: { missing: ['If-Match'] } })
  const stale = await ada.post(path, {}, { 'if-match': '"candidate:2"' })
  refused(t, stale, {
    status: 409,
    code: 'version_conflict',
    details: { provided: 'candidate:2', current_version: 'candidate:1' },
  })
  t.equal(stale.headers.get('etag'), '"candidate:1"')
  const accepted = await ada.post(path, { reason: 'yes' }, { 'if-match': '"candidate:1"' })
  t.equal(accepted.status, 200, accepted.text)
  t.equal(accepted.headers.get('etag'), '"candidate:2"')
  const { candidate, concept } = accepted.body.data
  t.match(candidate, {
    review_status: 'accepted',
    reviewed_by: ada.user_id,
    reviewed_at: Number,
    review_reason: 'yes',
    concept_id: concept.id,
    version: 'candidate:2',
  })
  t.match(concept, {
    name: 'Event Loop',
    knowledge_base_id: base,
    status: 'active',
    version: 'concept:1',
    relations: [
      {
        predicate: 'evidenced_by',
        origin: 'candidate',
        object: { kind: 'block', id: document, block_id: link.block_id },
        evidence: { freshness: 'current', source_version: link.source_version, excerpt: 'Event Loop' },
      },
    ],
  })
  const reviewed = {
    status: 409,
    code: 'candidate_already_reviewed',
    details: { review_status: 'accepted', concept_id: concept.id },
  }
  refused(t, await ada.post(path, {}, { 'if-match': '"candidate:1"' }), reviewed)
  refused(t, await ada.post(`/concept-candidates/${link.id}/reject`, {}, any), reviewed)
  t.match((await extract(ada, document)).body.data, { created: 0, refreshed: 1, skipped_accepted: 1 })
})

t.test('a candidate that is folded gives a concept an alias and evidence', async (t) => {
  const { ada, base } = await start()
  const concept = await create(ada, base, 'Event loop', { aliases: ['reactor'] })
  const body = 'the [event LOOP](a.md), the [Reactor](b.md) and the [Loop](c.md)'
  const { id: document } = await write(ada, body, { knowledge_base_id: base })
  const [, same, alias, loop] = (await extract(ada, document)).body.data.candidates
  t.equal(same.suggested_concept_id, concept)
  t.equal(alias.suggested_concept_id, concept)
  t.equal(loop.suggested_concept_id, null)
  refused(t, await accept(ada, same), { status: 409, code: 'concept_name_conflict', details: { concept_id: concept } })
  const folded = await accept(ada, loop, { concept_id: concept })
  t.match(folded.body.data.concept, {
    id: concept,
    version: 'concept:2',
    aliases: ['reactor', 'Loop'],
    alias_objects: [{ origin: 'manual' }, { origin: 'candidate' }],
  })
  t.equal((await accept(ada, same, { concept_id: concept })).status, 200)
  const last = await accept(ada, alias, { concept_id: concept })
  t.strictSame(last.body.data.concept.aliases, ['reactor', 'Loop'], 'no name twice')
  t.equal(last.body.data.concept.relations.length, 1, 'one relation for each source')

  const rest = (await write(ada, '[one](a.md)', { knowledge_base_id: base, title: 'two' })).id
  const [two, one] = (await extract(ada, rest)).body.data.candidates
  const nobody = `concept_${'0'.repeat(26)}`
  refused(t, await accept(ada, one, { concept_id: nobody }), {
    status: 404,
    code: 'concept_not_found',
    details: { id: nobody, field: 'concept_id' },
  })
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const elsewhere = await create(ada, other, 'elsewhere')
  refused(t, await accept(ada, one, { concept_id: elsewhere }), { status: 422, code: 'cross_knowledge_base' })
  await ada.patch(`/concepts/${concept}`, { status: 'archived' }, any)
  refused(t, await accept(ada, two, { concept_id: concept }), {
    status: 409,
    code: 'concept_not_active',
    details: { concept_id: concept, status: 'archived' },
  })
})

t.test('what was rejected is never proposed again', async (t) => {
  const { ada, base } = await start()
  const { id: document } = await write(ada, '[Foo](a.md)', { knowledge_base_id: base, title: 'Bar' })
  const [title, link] = (await extract(ada, document)).body.data.candidates
  const rejected = await reject(ada, link, { reason: 'no term' })
  t.match(rejected.body.data, { review_status: 'rejected', review_reason: 'no term', version: 'candidate:2' })
  t.equal(rejected.headers.get('etag'), '"candidate:2"')
  t.match((await extract(ada, document)).body.data, {
    created: 0,
    refreshed: 1,
    skipped_rejected: 1,
    candidates: [{ id: title.id }],
  })
  const list = async (query: string) =>
    (await ada.get(`/concept-candidates?knowledge_base_id=${base}${query}`)).body.data.map(({ id }: Candidate) => id)
  t.strictSame(await list(''), [title.id])
  t.strictSame(await list('&review_status=rejected'), [link.id])
  t.strictSame(await list('&review_status=accepted'), [])
  t.strictSame(await list('&review_status=all'), [title.id, link.id])
  t.strictSame(await list(`&document_id=${document}`), [title.id])
  t.strictSame(await list('&document_id=doc_none'), [])

  const exact = await ada.get(`/concept-candidates?knowledge_base_id=${base}&candidate_id=${link.id}`)
  t.match(exact, { status: 200, body: { data: [{ id: link.id }], page: { has_more: false } } })
  t.equal(exact.headers.get('etag'), '"candidate:2"')
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  for (const query of [
    `knowledge_base_id=${other}&candidate_id=${link.id}`,
    `knowledge_base_id=${base}&candidate_id=x`,
  ]) {
    refused(t, await ada.get(`/concept-candidates?${query}`), { status: 404, code: 'candidate_not_found' })
  }
  refused(t, await ada.get('/concept-candidates?knowledge_base_id=999999'), {
    status: 404,
    code: 'knowledge_base_not_found',
  })
  t.equal((await ada.get('/concept-candidates')).status, 400)
  refused(t, await extract(ada, 'doc_none'), {
    status: 404,
    code: 'document_not_found',
    details: { id: 'doc_none', field: 'document_id' },
  })
})

t.test('candidate pages together are the list, whatever their status', async (t) => {
  const { ada, base } = await start()
  for (const title of ['a', 'b', 'c']) {
    const { id } = await write(ada, '[one](a.md) [two](b.md)', { knowledge_base_id: base, title })
    const [first] = (await extract(ada, id)).body.data.candidates
    if (title !== 'c') await reject(ada, first)
  }
  const path = `/concept-candidates?knowledge_base_id=${base}&review_status=all`
  const whole = (await ada.get(path)).body.data.map(({ id }: Candidate) => id)
  t.equal(whole.length, 9)
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const { data, page } = (await ada.get(`${path}&limit=2${cursor}`)).body
    seen.push(...data.map(({ id }: Candidate) => id))
    if (!page.has_more) break
    cursor = `&cursor=${page.next_cursor}`
  }
  t.strictSame(seen, whole)
})

t.test('a candidate whose source has changed cannot be accepted until it was refreshed', async (t) => {
  const service = await start({ service: await startTestService(t) })
  const { ada, base } = service
  const markdown = 'a [Foo](a.md)\n\na [Bar](b.md)'
  const document = await write(ada, markdown, { knowledge_base_id: base, title: 'Title' })
  const [title, foo, bar] = (await extract(ada, document.id)).body.data.candidates
  const version = await rewrite(ada, document.id, `<!-- block=${foo.block_id} -->\na [Foo](a.md) and [Baz](c.md)`)
  const shown = async (id: string): Promise<Candidate> =>
    (await ada.get(`/concept-candidates?knowledge_base_id=${base}&candidate_id=${id}`)).body.data[0]
  t.match(await shown(foo.id), { freshness: 'stale', current_version: version, source_version: document.version })
  t.match(await shown(bar.id), { freshness: 'dangling_block' })
  const changed = {
    status: 409,
    code: 'candidate_source_changed',
    details: { provided: document.version, current_version: version },
  }
  for (const candidate of [title, foo, bar]) refused(t, await accept(ada, candidate), changed)

  const { stop } = await startWorkers(t, service, [candidateRefresher])
  await until(async () => (await shown(foo.id)).freshness === 'current')
  t.match(await shown(foo.id), { version: 'candidate:2', excerpt: 'a Foo and Baz' })
  refused(t, await accept(ada, bar), changed)
  const list = (await ada.get(`/concept-candidates?knowledge_base_id=${base}`)).body.data
  t.strictSame(
    list.map(({ name, freshness }: Candidate) => `${name} ${freshness}`),
    ['Title current', 'Foo current', 'Bar dangling_block', 'Baz current'],
  )
  await stop()

  await ada.patch(`/documents/${document.id}`, { title: 'Other title' })
  t.match(await shown(title.id), { freshness: 'stale' })
  t.match(await shown(foo.id), { freshness: 'current' }, 'a title says nothing about links')
  refused(t, await accept(ada, title), { status: 409, code: 'candidate_source_changed' })
  await startWorkers(t, service, [candidateRefresher])
  await until(async () => (await ada.get(`/concept-candidates?knowledge_base_id=${base}`)).body.data.length === 5)
  t.match(await shown(title.id), { freshness: 'stale', version: 'candidate:2' })
  t.equal((await accept(ada, await shown(foo.id))).status, 200)
  t.equal((await reject(ada, await shown(bar.id))).status, 200, 'a stale one can still be rejected')
})

t.test('only documents that were extracted are extracted again', async (t) => {
  const { ada, base, database } = await start({ service: await startTestService(t) })
  const [never, once] = [
    await write(ada, 'a', { knowledge_base_id: base }),
    await write(ada, 'b', { knowledge_base_id: base }),
  ]
  await extract(ada, once.id)
  for (const { id } of [never, once]) {
    await rewrite(ada, id, 'c')
    await ada.patch(`/documents/${id}`, { title: 'New title' })
  }
  const marked = await database.anyFirst(sql.unsafe`
    SELECT document_id FROM stale_projections WHERE projection = 'candidates'`)
  t.strictSame(marked, [once.id])
  const jobs = await database.anyFirst(sql.unsafe`
    SELECT DISTINCT data ->> 'document_id' FROM pgboss.job WHERE name = 'candidates.refresh'`)
  t.strictSame(jobs, [once.id])
  await extract(ada, once.id)
  t.equal(
    await database.oneFirst(sql.unsafe`SELECT count(*) FROM stale_projections WHERE projection = 'candidates'`),
    0,
  )
})

t.test('a refresh whose document moves under it writes nothing of the old one', async (t) => {
  const service = await start({ service: await startTestService(t) })
  const { ada, base } = service
  const document = await write(ada, '[First](a.md)', { knowledge_base_id: base, title: 'Title' })
  await extract(ada, document.id)
  let moves = 0
  const refresher = defineDisturbed(candidatesProjection, {
    async beforeCommit() {
      moves += 1
      if (moves === 1) await rewrite(ada, document.id, '[Third](a.md)')
      if (moves === 2) await ada.patch(`/documents/${document.id}`, { title: 'Last title' })
    },
  })
  await rewrite(ada, document.id, '[Second](a.md)')
  await startWorkers(t, service, [refresher])
  const names = async () =>
    (await ada.get(`/concept-candidates?knowledge_base_id=${base}`)).body.data.map(
      ({ name, freshness }: Candidate) => `${name} ${freshness}`,
    )
  await until(async () => (await names()).includes('Last title current'))
  t.strictSame((await names()).sort(), ['First dangling_block', 'Last title current', 'Third current', 'Title stale'])
})

t.test('a candidate that is missing for long is dropped, and comes back when its text does', async (t) => {
  const { ada, base, database } = await start({ service: await startTestService(t) })
  const document = await write(ada, '[Foo](a.md)', { knowledge_base_id: base, title: 'Title' })
  const [, foo] = (await extract(ada, document.id)).body.data.candidates
  await rewrite(ada, document.id, `<!-- block=${foo.block_id} -->\nnothing`)
  await extract(ada, document.id)
  await rewrite(ada, document.id, `<!-- block=${foo.block_id} -->\n[Foo](a.md)`)
  t.match((await extract(ada, document.id)).body.data, { created: 0, refreshed: 2 })
  await rewrite(ada, document.id, 'nothing')
  await extract(ada, document.id)
  await database.query(sql.unsafe`UPDATE concept_candidates SET missing_since = missing_since - interval '25 hours'`)
  await extract(ada, document.id)
  const { data } = (await ada.get(`/concept-candidates?knowledge_base_id=${base}`)).body
  t.strictSame(
    data.map(({ name }: Candidate) => name),
    ['Title'],
  )
  refused(t, await accept(ada, foo), { status: 404, code: 'candidate_not_found' })
})

t.test('of reviews that arrive together one takes effect and the others are told so', async (t) => {
  const { ada, base } = await start()
  for (let round = 0; round < 6; round += 1) {
    const { id } = await write(ada, 'text', { knowledge_base_id: base, title: `Title ${round}` })
    const [candidate] = (await extract(ada, id)).body.data.candidates
    const concept = await create(ada, base, `Concept ${round}`)
    const replies = await Promise.all([
      accept(ada, candidate),
      reject(ada, candidate),
      accept(ada, candidate, { concept_id: concept }),
      reject(ada, candidate),
      extract(ada, id),
    ])
    const reviews = replies.slice(0, 4)
    t.equal(reviews.filter(({ status }) => status === 200).length, 1)
    t.equal(replies[4]?.status, 201)
    for (const reply of reviews.filter(({ status }) => status !== 200)) {
      refused(t, reply, { status: 409, code: 'candidate_already_reviewed', details: reply.body.error.details })
    }
  }
})

t.test('reviews, writes and deletions that run into each other end in an answer, never in a fault', async (t) => {
  const { ada, base } = await start()
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  for (let round = 0; round < 6; round += 1) {
    const { id } = await write(ada, '[link](a.md)', { knowledge_base_id: base, title: `Title ${round}` })
    const [title, link] = (await extract(ada, id)).body.data.candidates
    const replies = await Promise.all([
      accept(ada, title),
      ada.patch(`/documents/${id}`, { knowledge_base_id: other }),
      reject(ada, link),
      ada.put(`/documents/${id}/content`, { format: 'markdown', content: '[link](a.md) x' }, any),
      extract(ada, id),
      ...(round % 2 === 0 ? [ada.delete(`/documents/${id}`)] : []),
    ])
    for (const { status, text } of replies) t.ok(status < 500, text)
  }
})

t.test('pending candidates follow and leave with their document, reviewed ones stay', async (t) => {
  const { ada, base, database } = await start({ service: await startTestService(t) })
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const { id: document } = await write(ada, '[Foo](a.md) [Bar](b.md)', { knowledge_base_id: base, title: 'Title' })
  const [title, foo, bar] = (await extract(ada, document)).body.data.candidates
  const concept = (await accept(ada, foo)).body.data.concept
  await ada.patch(`/documents/${document}`, { knowledge_base_id: other })
  const list = async (id: number) =>
    (await ada.get(`/concept-candidates?knowledge_base_id=${id}&review_status=all`)).body.data.map(
      (one: Candidate) => one.id,
    )
  t.strictSame(await list(base), [foo.id])
  t.strictSame(await list(other), [title.id, bar.id])
  t.match((await ada.get(`/concepts/${concept.id}`)).body.data, { knowledge_base_id: base }, 'concepts stay')
  await reject(ada, bar)

  t.equal((await ada.delete(`/documents/${document}`)).status, 204)
  t.strictSame(await list(base), [foo.id])
  t.strictSame(await list(other), [bar.id])
  t.match((await ada.get(`/concept-candidates?knowledge_base_id=${base}&candidate_id=${foo.id}`)).body.data, [
    { freshness: 'dangling_document', current_version: null, review_status: 'accepted' },
  ])
  t.match((await ada.get(`/concepts/${concept.id}`)).body.data.relations, [
    { evidence: { freshness: 'dangling_document' } },
  ])
  for (const id of [base, other]) await ada.delete(`/knowledge-bases/${id}`, { confirm_id: id })
  t.equal(await database.oneFirst(sql.unsafe`SELECT count(*) FROM concept_candidates`), 0)
})

t.test('viewers see candidates and review none', async (t) => {
  const { ada, base, signUp } = await start({ workspace: 'shared' })
  const viewer = await signUp({ workspace: 'shared', role: 'viewer' })
  const stranger = await signUp()
  const { id } = await write(ada, 'text', { knowledge_base_id: base, title: 'Title' })
  const [candidate] = (await extract(ada, id)).body.data.candidates
  t.equal((await viewer.get(`/concept-candidates?knowledge_base_id=${base}`)).body.data.length, 1)
  for (const reply of [await extract(viewer, id), await accept(viewer, candidate), await reject(viewer, candidate)]) {
    refused(t, reply, { status: 403, code: 'forbidden' })
  }
  refused(t, await accept(stranger, candidate), {
    status: 404,
    code: 'candidate_not_found',
    details: { id: candidate.id },
  })
  refused(t, await extract(stranger, id), { status: 404, code: 'document_not_found' })
})

type Candidate = { id: string; name: string; freshness: string; version: string }

const any = { 'if-match': '*' }

async function start(options: { service?: TestService; workspace?: string } = {}) {
  const { service = shared, workspace } = options
  const ada = await service.signUp(workspace === undefined ? {} : { workspace })
  const base: number = (await ada.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  return { ...service, ada, base }
}

async function create(client: Client, base: number, name: string, members: object = {}): Promise<string> {
  return (await client.post('/concepts', { knowledge_base_id: base, name, ...members })).body.data.id
}

function extract(client: Client, documentId: string): Promise<Reply> {
  return client.post('/concept-candidates/extract', { document_id: documentId })
}

function accept(client: Client, candidate: Candidate, body: object = {}): Promise<Reply> {
  return client.post(`/concept-candidates/${candidate.id}/accept`, body, any)
}

function reject(client: Client, candidate: Candidate, body: object = {}): Promise<Reply> {
  return client.post(`/concept-candidates/${candidate.id}/reject`, body, any)
}
