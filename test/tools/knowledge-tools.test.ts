import { workersOf } from '../../workers/types.ts'
import { connectMcp, textOf } from '../support/mcp.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { marked } from '../support/translation-stub.ts'
import { startWorkers, write } from '../support/workers.ts'

const stub = await startModelStub(t)
const service = await startTestService(t, stub.env)
await startWorkers(t, service, workersOf(['relations', 'summaries', 'localization', 'candidates']))

t.test('an agent learns what links to a document, and relates a block to another document', async (t) => {
  const { ada, call } = await start(t)
  const target = await write(ada, 'Target.', { title: 'Target `x`' })
  const source = await write(ada, `See [the\ntarget](svc://doc/${target.id}).`, { title: 'Source' })
  const incoming = { document_id: target.id, direction: 'incoming' }
  await until(async () => structured(await call('relations', incoming)).relations.length === 1)
  const [link] = structured(await call('relations', incoming)).relations
  const block = link.from.split('#block=')[1]
  t.match(link, {
    predicate: 'refers_to',
    from: `svc://doc/${source.id}#block=${block}`,
    from_title: 'Source',
    to: `svc://doc/${target.id}`,
    anchor_text: /^the\starget$/,
    source_version: source.version,
    status: 'valid',
    freshness: 'current',
  })
  t.match(textOf(await call('relations', incoming)), /Source <svc:.*> refers_to Target .x. <svc:.*> by "the target"/)
  const relation = { action: 'add', document_id: source.id, block_id: block, target_document_id: target.id }
  const added = structured(await call('relations', { ...relation, predicate: 'supports' }))
  t.match(added.relations, [{ predicate: 'supports', status: 'valid' }])
  const again = await call('relations', { ...relation, predicate: 'supports' })
  t.match(structured(again).error, { code: 'relation_exists', next: /Nothing to do/ })
  const removed = await call('relations', { action: 'remove', relation_id: added.relations[0].id })
  t.match(removed.structuredContent, { removed_relation_id: added.relations[0].id })
  const inline = await call('relations', { action: 'remove', relation_id: link.id })
  t.match(structured(inline).error, { code: 'inline_relation', next: /edit/ })
})

t.test('an agent proposes terms of a document, accepts one and relates it', async (t) => {
  const { ada, call, base } = await start(t)
  const { id } = await write(ada, 'Text.', { title: 'African Elephant', knowledge_base_id: base })
  const proposed = structured(await call('concepts', { action: 'propose', document_id: id }))
  const [candidate] = proposed.candidates
  t.match(candidate, { name: 'African Elephant', version: /^candidate:/, document_id: id, freshness: 'current' })
  const listed = structured(await call('concepts', { action: 'propose', knowledge_base_id: base }))
  t.match(listed.candidates, [{ id: candidate.id }])
  const acceptance = { action: 'accept', candidate_id: candidate.id, version: candidate.version }
  const [elephant] = structured(await call('concepts', acceptance)).concepts
  t.match(elephant, { name: 'African Elephant', version: /^concept:/ })
  t.match(structured(await call('concepts', acceptance)).error, { code: 'candidate_already_reviewed' })
  const animal = (await ada.post('/concepts', { knowledge_base_id: base, name: 'Animal' })).body.data
  const relation = { action: 'relate', concept_id: animal.id, predicate: 'broader_than', other_concept_id: elephant.id }
  const stale = structured(await call('concepts', { ...relation, version: 'concept:99' }))
  t.match(stale.error, { code: 'version_conflict' })
  const related = structured(await call('concepts', { ...relation, version: animal.version }))
  t.match(related.relations, [{ predicate: 'broader_than', object: `svc://concept/${elephant.id}` }])
  const found = structured(await call('concepts', { action: 'find', knowledge_base_id: base, query: 'eleph' }))
  t.match(found.concepts, [{ id: elephant.id }])
  const one = await call('concepts', { action: 'find', concept_id: animal.id })
  t.match(structured(one).relations, [{ predicate: 'broader_than' }])
})

t.test('an agent reads a summary, stores its own text, and does not write over what it has not seen', async (t) => {
  const { ada, call, base } = await start(t)
  const folder = (await ada.post('/folders', { name: 'Animals', knowledge_base_id: base })).body.data.id
  const { id } = await write(ada, '# Elephants\n\nThey drink a hundred litres a day.', { folder_id: folder })
  const read = structured(await call('summarise', { folder_id: folder }))
  t.match(read, { status: 'fallback', freshness: 'current', summary_version: 0, text: /hundred litres/ })
  const guard = { source_version: read.current_source_version, summary_version: read.summary_version }
  const stored = await call('summarise', { folder_id: folder, text: 'About thirst.', ...guard })
  t.match(stored.structuredContent, { text: 'About thirst.', generator: 'manual', status: 'ready', summary_version: 1 })
  const unseen = await call('summarise', { folder_id: folder, text: 'Again.', ...guard })
  t.match(structured(unseen).error, { code: 'version_conflict', next: String })
  const passages = structured(await call('summarise', { document_id: id, query: 'litres' }))
  t.match(passages, { status: 'query', text: /litres/ })
  const asked = structured(await call('summarise', { document_id: id, rebuild: 'model' }))
  t.match(asked, { generator: 'model', job_id: /^sjob_/ })
  await until(async () => structured(await call('summarise', { document_id: id })).generator === 'model')
})

t.test('an agent has a document translated into a language that it has not yet, and applies it', async (t) => {
  stub.answerWith(marked)
  const { ada, call } = await start(t)
  const { id } = await write(ada, '# Water\n\nElephants drink.')
  const unknown = await call('translate', { action: 'status', document_id: id })
  t.match(structured(unknown).error, { code: 'not_localized', next: /request/ })
  const request = { action: 'request', document_id: id, locale: 'de' }
  t.match(structured(await call('translate', request)).error.details.fields, [{ path: '/source_locale' }])
  const { job } = structured(await call('translate', { ...request, source_locale: 'en' }))
  t.match(job, { id: /^tjob_/, unit_count: 2, remaining_unit_count: 0 })
  await until(async () => (await ada.get(`/translation-jobs/${job.id}`)).body.data.status === 'succeeded')
  const { applied } = structured(await call('translate', { action: 'apply', job_id: job.id }))
  t.match(applied, { document_id: job.target_document_id, written: 2, skipped: [] })
  const { body } = await ada.get(`/documents/${applied.document_id}/content?format=markdown`)
  t.match(body.data.content, /de Elephants drink\./)
  const status = structured(await call('translate', { action: 'status', document_id: id }))
  t.match(status, {
    source_document_id: id,
    source_locale: 'en',
    translations: [{ id: applied.document_id, locale: 'de', freshness: 'current', open_texts: 0 }],
  })
  const second = structured(await call('translate', { action: 'request', document_id: id, locale: 'fr' }))
  t.match(second.job, { unit_count: 2 })
  const nothing = await call('translate', request)
  t.match(structured(nothing).error, { code: 'nothing_to_translate', next: /Nothing to do/ })
})

t.test('an agent learns of the document that a request made, when no model can translate it', async (t) => {
  const { ada, call } = await start(t, await startTestService(t))
  const { id } = await write(ada, '# Water')
  for (const [locale, source] of [
    ['de', { source_locale: 'en' }],
    ['fr', {}],
  ] as const) {
    const answer = await call('translate', { action: 'request', document_id: id, locale, ...source })
    t.notOk(answer.isError, textOf(answer))
    const { translations, note } = structured(answer)
    t.match(note, /no job could be started \(model_unavailable\)/)
    const { variants } = (await ada.get(`/documents/${id}/translations`)).body.data
    const made = variants.find((variant: { locale: string }) => variant.locale === locale)
    t.match(translations, [{ id: made.id, locale }])
    t.match(textOf(answer), made.id)
  }
})

async function start(t: Test, { origin, signUp }: Pick<TestService, 'origin' | 'signUp'> = service) {
  const ada = await signUp()
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id as number
  return { ada, call, base }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
function structured(result: { structuredContent?: unknown }): any {
  return result.structuredContent
}
