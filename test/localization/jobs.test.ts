import { inTransaction, sql } from '../../shared/database/database.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { retentionSweep } from '../../workers/sweeps/retention.ts'
import { workersOf } from '../../workers/types.ts'
import { doc, h, p, text, ul } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, eventsOf, make, put, refused, shape } from '../support/documents.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { askedOf, marked, translating } from '../support/translation-stub.ts'
import { edit, ok, review, statusesOf, translate, unitsOf } from '../support/translations.ts'
import { startWorkers } from '../support/workers.ts'

const stub = await startModelStub(t)
const prices = { MODEL_PRICE_INPUT_PER_MCHAR: '10', MODEL_PRICE_OUTPUT_PER_MCHAR: '20' }
const service = await startTestService(t, { ...stub.env, ...prices, TRANSLATION_DAILY_CHARACTERS: '300' })
const { signUp, database } = service
await startWorkers(t, service, workersOf(['localization']))

t.beforeEach(() => {
  stub.answerWith(marked)
  stub.requests.length = 0
})

t.test('a model proposes, and nothing is written until a person applies', async (t) => {
  const ada = await signUp()
  const blocks = [
    h(1, 'Title'),
    p('See ', text('this', { type: 'link', attrs: { href: 'https://a.test' } })),
    ul(p('deep')),
  ]
  const { source, target } = await translate(ada, blocks)
  const before = await bodyOf(ada, target)
  const created = await ada.post(`/documents/${source.id}/translation-jobs`, { target_locale: 'FR' })
  t.equal(created.status, 202)
  t.equal(created.headers.get('location'), `/api/v1/translation-jobs/${created.body.data.id}`)
  const units = await unitsOf(ada, target)
  t.match(created.body.data, {
    status: 'pending',
    source_locale: 'en',
    target_locale: 'fr',
    source_version: source.version,
    target_version: before.version,
    unit_ids: units.map(({ id }) => id),
    unit_count: 3,
    remaining_unit_count: 0,
    result: null,
    error: null,
    obsolete_reason: null,
    applied_at: null,
  })
  const job = await ended(ada, created.body.data.id)
  t.match(job, {
    status: 'succeeded',
    result: { translated: 3, skipped: 0, failed: 0 },
    usage: { input_characters: 35, output_characters: 44, estimated_cost: (35 * 10 + 44 * 20) / 1e6 },
    model: 'stub-translation',
  })
  t.match(job.result.units[1], { target_text: 'fr See [this](https://a.test)', reason: null, applied_at: null })
  t.equal((await bodyOf(ada, target)).version, before.version, 'the target is untouched')
  t.match(stub.requests, [{ response_format: { type: 'json_schema', json_schema: { name: 'translations' } } }])
  t.match(askedOf(stub.requests[0] as never), {
    source_locale: 'en',
    target_locale: 'fr',
    units: [{ text: 'Title' }, {}, {}],
  })

  const applied = await apply(ada, { job: job.id, target })
  t.equal(applied.status, 200)
  const after = await bodyOf(ada, target)
  t.equal(applied.headers.get('etag'), after.etag)
  t.match(applied.body.data, { job_id: job.id, document_id: target, version: after.version, skipped: [] })
  t.strictSame(
    applied.body.data.applied.map((one: { target_block_ids: string[] }) => one.target_block_ids),
    units.map(({ target_block_ids }) => target_block_ids),
  )
  t.strictSame(
    shape(after.blocks),
    shape(
      doc(
        h(1, 'fr Title'),
        p('fr See ', text('this', { type: 'link', attrs: { href: 'https://a.test' } })),
        ul(p('fr deep')),
      ).content,
    ),
  )
  t.strictSame(await statusesOf(ada, target), Array(3).fill('machine_translated'))
  t.equal(ok(await ada.get(`/documents/${target}/versions`)).data.length, 1, 'one snapshot')
  t.strictSame(await eventsOf(database, target), ['document.created', 'document.content.updated'])
  const metadata = ok(await ada.get(`/documents/${target}`)).data
  t.match(metadata, { translation_freshness: 'current', translated_from_version: source.version })

  const again = await apply(ada, { job: job.id, target })
  t.match(again.body.data, {
    applied: [],
    skipped: units.map(({ id }) => ({ unit_id: id, reason: 'already_applied' })),
  })
  t.equal((await bodyOf(ada, target)).version, after.version)
  t.strictSame(await actionsOf(ada, target), ['job.applied', 'job.applied', 'job.succeeded', 'job.created'])
  const read = ok(await ada.get(`/translation-jobs/${job.id}`)).data
  t.ok(read.applied_at > 0 && read.result.units.every((unit: { applied_at: number }) => unit.applied_at > 0))
})

t.test('what a person touched is never written over, and is told why', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(
    ada,
    ['a', 'b', 'c', 'd', 'e', 'f'].map((word) => p(word)),
  )
  const units = await unitsOf(ada, target)
  const id = (index: number) => units[index]?.id ?? ''
  const block = (index: number) => units[index]?.target_block_ids[0] ?? ''
  const job = await translated(ada, source.id)
  await edit(ada, target, { block: block(0), text: 'edited' })
  await edit(ada, target, { block: block(1), text: 'confirmed' })
  ok(await review(ada, target, { unit: id(1), review_status: 'current' }))
  ok(await review(ada, target, { unit: id(2), review_status: 'ignored' }))
  ok(await review(ada, target, { unit: id(3), review_status: 'current' }))
  const { data } = (await apply(ada, { job: job.id, target, units: [0, 1, 2, 3, 4].map(id) })).body
  t.strictSame(data.skipped, [
    { unit_id: id(0), reason: 'manually_edited' },
    { unit_id: id(1), reason: 'current' },
    { unit_id: id(2), reason: 'ignored' },
    { unit_id: id(3), reason: 'current' },
  ])
  t.strictSame(data.applied, [{ unit_id: id(4), target_block_ids: [block(4)] }])
  t.strictSame(textsOf(await bodyOf(ada, target)), ['edited', 'confirmed', '', '', 'fr e', ''])
  refused(t, await apply(ada, { job: job.id, target, units: ['tu_x'] }), { status: 404, code: 'unit_not_found' })

  const path = `/documents/${source.id}/translation-jobs`
  const named = ok(await ada.post(path, { target_locale: 'fr', unit_ids: units.map((unit) => unit.id) })).data
  const second = await ended(ada, named.id)
  t.strictSame(
    second.result.units.map((unit: { status: string; reason: string }) => unit.reason ?? unit.status),
    ['manually_edited', 'current', 'ignored', 'current', 'translated', 'translated'],
  )
  t.match(await apply(ada, { job: second.id, target }), { body: { data: { skipped: [], applied: [{}, {}] } } })
  t.strictSame(await statusesOf(ada, target), [
    ...['manually_edited', 'current', 'ignored', 'current', 'machine_translated', 'machine_translated'],
  ])
  refused(t, await ada.post(path, { target_locale: 'fr' }), { status: 422, code: 'nothing_to_translate' })
  refused(t, await ada.post(path, { target_locale: 'fr', unit_ids: [id(0)] }), {
    status: 422,
    code: 'nothing_to_translate',
  })
})

t.test('an answer that breaks a unit costs that unit alone', async (t) => {
  const ada = await signUp()
  const link = text('link', { type: 'link', attrs: { href: 'https://a.test' } })
  const { source, target } = await translate(ada, [p('good'), p('a ', link), p('gone'), p('empty'), p('twice')])
  stub.answerWith((request) => {
    const { units } = askedOf(request)
    const answers = units.flatMap(({ id, text }) => {
      if (text === 'gone') return []
      if (text === 'empty') return [{ id, text: ' ' }]
      if (text === 'twice')
        return [
          { id, text: 'one' },
          { id, text: 'other' },
        ]
      return [{ id, text: text.replace(/\[(.*)\]\(.*\)/, '$1') }]
    })
    return { text: JSON.stringify({ translations: [...answers, { id: 'tu_unknown', text: 'x' }, null, 7] }) }
  })
  const job = await translated(ada, source.id)
  t.match(job, { status: 'succeeded', result: { translated: 1, failed: 4, skipped: 0 } })
  t.strictSame(
    job.result.units.map((unit: { reason: string | null }) => unit.reason),
    [null, 'structure_changed', 'missing_in_answer', 'empty_text', 'model_bad_output'],
  )
  const all = job.unit_ids
  const { data } = (await apply(ada, { job: job.id, target, units: all })).body
  t.equal(data.applied.length, 1)
  t.same(
    data.skipped.map(({ reason }: { reason: string }) => reason),
    Array(4).fill('not_translated'),
  )
})

t.test('a job of which no unit can be used has failed, and what a person pays for is given back', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one')])
  const used = async () => ok(await ada.get('/me/quota')).data.usage.translation_characters_today
  stub.answerWith(() => ({ text: 'no JSON' }))
  const job = await translated(ada, source.id)
  t.match(job, {
    status: 'failed',
    error: { code: 'model_bad_output' },
    result: { failed: 1 },
    usage: { output_characters: 0 },
  })
  t.equal(await used(), 0)
  refused(t, await apply(ada, { job: job.id, target }), {
    status: 409,
    code: 'job_not_succeeded',
    details: { status: 'failed' },
  })
  stub.answerWith(() => ({ status: 401 }))
  const message = 'The model provider answered 401.'
  t.match(await translated(ada, source.id), { status: 'failed', error: { code: 'model_error', message } })
  stub.answerWith(translating(() => 'x`y`'))
  t.match(await translated(ada, source.id), { status: 'failed', error: { code: 'model_bad_output' } })
  t.equal(await used(), 3, 'what came back was paid for')
  t.strictSame((await actionsOf(ada, target)).slice(0, 2), ['job.failed', 'job.created'])
})

t.test('the characters of a day are reserved exactly, whoever asks at once', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('x'.repeat(100))])
  const path = `/documents/${source.id}/translation-jobs`
  const release = stub.hold()
  const replies = await Promise.all(Array.from({ length: 6 }, () => ada.post(path, { target_locale: 'fr' })))
  const [limited] = replies.filter(({ status }) => status === 429)
  t.equal(replies.filter(({ status }) => status === 202).length, 3)
  const { details } = limited?.body.error ?? {}
  t.match(limited?.body.error, { code: 'translation_quota_exceeded', details: { limit: 300, used: 300 } })
  t.equal(details.resets_at % 86_400_000, 0)
  const seconds = Number(limited?.headers.get('retry-after'))
  t.ok(seconds > 0 && seconds <= 86_400)
  const quota = ok(await ada.get('/me/quota')).data
  t.match(quota, { usage: { translation_characters_today: 300 }, translation_resets_at: details.resets_at })
  await edit(ada, source.id, { block: source.blocks[0]?.attrs.id ?? '', text: 'short' })
  t.equal(ok(await ada.get('/me/quota')).data.usage.translation_characters_today, 0, 'obsolete jobs give it back')
  release({ text: '{"translations":[]}' })
  const jobs = replies.filter(({ status }) => status === 202).map(({ body }) => body.data.id)
  for (const id of jobs)
    t.match(await ended(ada, id), { status: 'obsolete', obsolete_reason: 'source_changed', result: null })
  await until(async () => (await actionsOf(ada, target)).filter((action) => action === 'job.obsolete').length === 3)
  refused(t, await apply(ada, { job: jobs[0], target }), {
    status: 409,
    code: 'job_not_succeeded',
    details: { status: 'obsolete' },
  })
})

t.test('a job is refused before it costs anything', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one')])
  const path = `/documents/${source.id}/translation-jobs`
  refused(t, await ada.post(path), { status: 400, code: 'invalid_request' })
  refused(t, await ada.post(path, { target_locale: 'x_y' }), { status: 422, code: 'invalid_locale' })
  refused(t, await ada.post(path, { target_locale: 'de' }), {
    status: 404,
    code: 'translation_not_found',
    details: { id: 'de', field: 'target_locale' },
  })
  refused(t, await ada.post(path, { target_locale: 'en' }), { status: 404, code: 'translation_not_found' })
  refused(t, await ada.post(path, { target_locale: 'fr', unit_ids: ['tu_x'] }), { status: 404, code: 'unit_not_found' })
  const many = Array.from({ length: 101 }, (_, index) => `tu_${index}`)
  refused(t, await ada.post(path, { target_locale: 'fr', unit_ids: many }), { status: 400, code: 'invalid_request' })
  const single = await make(ada, [p('x')])
  refused(t, await ada.post(`/documents/${single.id}/translation-jobs`, { target_locale: 'fr' }), {
    status: 409,
    code: 'localization_not_active',
  })
  const viewer = await signUp({ role: 'viewer', workspace: ada.email })
  refused(t, await viewer.post(path, { target_locale: 'fr' }), { status: 403, code: 'forbidden' })
  refused(t, await viewer.post(path, { target_locale: 'x_y' }), { status: 403, code: 'forbidden' })
  refused(t, await viewer.post(path, { target_locale: 'de' }), { status: 404, code: 'translation_not_found' })
  refused(t, await viewer.post(path, { target_locale: 'fr', unit_ids: ['tu_x'] }), {
    status: 404,
    code: 'unit_not_found',
    details: { id: 'tu_x', field: 'unit_ids' },
  })
  refused(t, await (await signUp()).post(path, { target_locale: 'fr' }), { status: 404, code: 'document_not_found' })
  t.equal(stub.requests.length, 0)
  t.equal((await ada.post(`/documents/${target}/translation-jobs`)).status, 202, 'a translation needs no locale')

  const without = await startTestService(t)
  const bob = await without.signUp()
  const his = await translate(bob, [p('one')])
  const ofHis = `/documents/${his.source.id}/translation-jobs`
  for (const locale of ['fr', 'x_y']) {
    refused(t, await bob.post(ofHis, { target_locale: locale }), { status: 503, code: 'model_unavailable' })
  }
  refused(t, await bob.post(ofHis, { target_locale: 'de' }), { status: 404, code: 'translation_not_found' })
  ok(await bob.delete(`/documents/${his.source.id}`))
  const orphaned = { target_locale: 'x_y', unit_ids: ['tu_x'] }
  refused(t, await bob.post(`/documents/${his.target}/translation-jobs`, orphaned), {
    status: 409,
    code: 'source_document_missing',
    details: { document_set_id: his.setId },
  })
})

t.test('of more than a hundred open units the rest waits for the next job', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(
    ada,
    Array.from({ length: 103 }, (_, index) => p(String(index % 10))),
  )
  const job = ok(await ada.post(`/documents/${source.id}/translation-jobs`, { target_locale: 'fr' })).data
  t.match(job, { unit_count: 100, remaining_unit_count: 3 })
  t.match(await ended(ada, job.id), { status: 'succeeded', result: { translated: 100 } })
  t.ok(stub.requests.length > 1, 'in several batches')
  ok(await apply(ada, { job: job.id, target }))
  const rest = await translated(ada, source.id)
  t.match(rest, { unit_count: 3, remaining_unit_count: 0 })
})

t.test('applying is held against the translation the person saw, and against the source of the job', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one'), p('two')])
  const job = await translated(ada, source.id)
  const path = `/translation-jobs/${job.id}/apply`
  refused(t, await ada.post(path), { status: 428, code: 'precondition_required', details: { missing: ['If-Match'] } })
  const { etag, version } = await bodyOf(ada, target)
  const [unit] = await unitsOf(ada, target)
  await edit(ada, target, { block: unit?.target_block_ids[0] ?? '', text: 'un' })
  const stale = await ada.post(path, {}, { 'if-match': etag })
  t.match(stale.body.error, { code: 'version_conflict' })
  t.equal(stale.headers.get('etag'), (await bodyOf(ada, target)).etag)
  refused(t, await ada.post(path, { base_target_version: version }, { 'if-match': '"sha256:0"' }), {
    status: 400,
    code: 'precondition_mismatch',
  })
  refused(t, await (await signUp()).post(path, {}, { 'if-match': '*' }), { status: 404, code: 'job_not_found' })
  const viewer = await signUp({ role: 'viewer', workspace: ada.email })
  refused(t, await viewer.post(path), { status: 403, code: 'forbidden' })
  refused(t, await viewer.post(path, { unit_ids: ['tu_x'] }), { status: 404, code: 'unit_not_found' })
  t.equal((await viewer.get(`/translation-jobs/${job.id}`)).status, 200)
  const now = (await bodyOf(ada, target)).version
  ok(await ada.post(path, { base_target_version: `"${now}"` }))
  t.strictSame(textsOf(await bodyOf(ada, target)), ['un', 'fr two'])
  await edit(ada, source.id, { block: source.blocks[0]?.attrs.id ?? '', text: 'one!' })
  const current = (await bodyOf(ada, source.id)).version
  refused(t, await ada.post(path, {}, { 'if-match': etag }), {
    status: 409,
    code: 'translation_source_changed',
    details: { provided: source.version, current_version: current },
  })
  t.match(ok(await ada.get(`/translation-jobs/${job.id}`)).data, { status: 'succeeded' }, 'the job stays what it was')
})

t.test('texts without a place in the target are put after the text before, others stay where they are', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [h(2, 'Title'), ul(p('item')), p('end')], { mode: 'blank' })
  const first = await translated(ada, source.id)
  ok(await apply(ada, { job: first.id, target }))
  t.strictSame(
    shape((await bodyOf(ada, target)).blocks),
    shape(doc(h(2, 'fr Title'), p('fr item'), p('fr end')).content),
  )
  const [title, ...rest] = (await bodyOf(ada, source.id)).blocks
  ok(await put(ada, source.id, [title as never, p('new'), ...rest]))
  const second = await translated(ada, source.id)
  t.equal(second.unit_count, 1)
  ok(await apply(ada, { job: second.id, target }))
  t.strictSame(textsOf(await bodyOf(ada, target)), ['fr Title', 'fr new', 'fr item', 'fr end'])

  const [one, two] = await unitsOf(ada, target)
  const shared = [...(one?.target_block_ids ?? []), ...(two?.target_block_ids ?? [])]
  ok(await review(ada, target, { unit: one?.id ?? '', review_status: 'current', target_block_ids: shared }))
  await edit(ada, source.id, { block: String(two?.source_block_id), text: 'newer' })
  const third = await translated(ada, source.id)
  ok(await apply(ada, { job: third.id, target }))
  const texts = textsOf(await bodyOf(ada, target))
  t.strictSame(texts, ['fr Title', 'fr new', 'fr newer', 'fr item', 'fr end'], 'a confirmed text keeps its blocks')
  t.strictSame((await statusesOf(ada, target)).slice(0, 2), ['current', 'machine_translated'])
})

t.test('a job outlives its documents, and ends with them', async (t) => {
  const ada = await signUp()
  const release = stub.hold()
  const gone = await translate(ada, [p('one')])
  const open = ok(await ada.post(`/documents/${gone.source.id}/translation-jobs`, { target_locale: 'fr' })).data
  ok(await ada.delete(`/documents/${gone.target}`))
  t.match(ok(await ada.get(`/translation-jobs/${open.id}`)).data, {
    status: 'obsolete',
    obsolete_reason: 'document_deleted',
  })
  release({ text: '{"translations":[]}' })
  stub.answerWith(marked)
  const { source, target } = await translate(ada, [p('one')])
  const job = await translated(ada, source.id)
  ok(await ada.delete(`/documents/${source.id}`))
  refused(t, await apply(ada, { job: job.id, target }), { status: 409, code: 'translation_source_changed' })
  ok(await ada.delete(`/documents/${target}`))
  refused(t, await apply(ada, { job: job.id, target }), { status: 404, code: 'document_not_found' })
  t.equal((await ada.get(`/translation-jobs/${job.id}`)).status, 200)
  await inTransaction(database, async (tx) => {
    await tx.query(
      sql.unsafe`UPDATE translation_jobs SET finished_at = now() - interval '31 days' WHERE id = ${job.id}`,
    )
  })
  refused(t, await ada.get(`/translation-jobs/${job.id}`), { status: 404, code: 'job_not_found' })
  const { runtime } = await startWorkers(t, service, [retentionSweep])
  await runtime.jobs.boss.send(queues.sweepRetention.name, {})
  await until(
    async () => (await database.any(sql.unsafe`SELECT FROM translation_jobs WHERE id = ${job.id}`)).length === 0,
  )
})

t.test('who may not write any more gets nothing translated', async (t) => {
  const ada = await signUp()
  const eve = await signUp({ role: 'editor', workspace: ada.email })
  const { source } = await translate(ada, [p('precious')])
  const release = stub.hold()
  const job = ok(await eve.post(`/documents/${source.id}/translation-jobs`, { target_locale: 'fr' })).data
  const asked = () =>
    stub.requests.map((request) => askedOf(request).units[0]).find((unit) => unit?.text === 'precious')
  await until(async () => asked() !== undefined)
  await database.query(
    sql.unsafe`UPDATE memberships SET role = 'viewer' WHERE user_id = ${eve.user_id} AND role = 'editor'`,
  )
  release({ text: JSON.stringify({ translations: [{ id: asked()?.id, text: 'un' }] }) })
  t.match(await ended(ada, job.id), { status: 'failed', error: { code: 'access_revoked' }, result: null })
})

// biome-ignore lint/suspicious/noExplicitAny: the tests look into envelopes of every shape
async function ended(client: Client, id: string): Promise<any> {
  let job = ok(await client.get(`/translation-jobs/${id}`)).data
  await until(async () => {
    job = ok(await client.get(`/translation-jobs/${id}`)).data
    return job.status !== 'pending'
  })
  return job
}

async function translated(client: Client, sourceId: string) {
  const created = ok(await client.post(`/documents/${sourceId}/translation-jobs`, { target_locale: 'fr' }))
  return ended(client, created.data.id)
}

async function apply(client: Client, input: { job: string; target: string; units?: string[] }) {
  const { headers } = await client.get(`/documents/${input.target}/content`)
  const body = input.units === undefined ? {} : { unit_ids: input.units }
  return client.post(`/translation-jobs/${input.job}/apply`, body, { 'if-match': headers.get('etag') ?? '*' })
}

async function actionsOf(client: Client, id: string): Promise<string[]> {
  const { data } = ok(await client.get(`/documents/${id}/translation-audit`))
  const actions: string[] = data.map(({ action }: { action: string }) => action)
  return actions.filter((action) => action.startsWith('job.'))
}

function textsOf({ blocks }: { blocks: { content?: { text?: string }[] }[] }): string[] {
  return blocks.map(({ content }) => String(content?.[0]?.text ?? ''))
}
