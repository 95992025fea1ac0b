import { workersOf } from '../../workers/types.ts'
import { h, p } from '../document/build.ts'
import { bodyOf, make } from '../support/documents.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { marked, translating } from '../support/translation-stub.ts'
import { edit, ok, statusesOf, translate, unitsOf } from '../support/translations.ts'
import { hiddenFields, signedInVisitor, type Visitor } from '../support/visitor.ts'
import { startWorkers } from '../support/workers.ts'

const stub = await startModelStub(t)
const service = await startTestService(t, stub.env)
const workers = await startWorkers(t, service, workersOf(['localization']))
const hostile = '<b>"&\u202eevil'

t.beforeEach(() => stub.answerWith(marked))

t.test('a person gives a document its languages, and sees the state of each', async (t) => {
  const { ada, visitor } = await start()
  const { id } = await make(ada, [h(1, 'Food'), p('Grass')], { title: hostile })
  const page = `/d/${id}/translations`
  t.match((await visitor.get(page)).html, 'This document is in one language')
  const fields = { operation: 'activate', mode: 'copy_structure' }
  const wrong = await visitor.send(page, { ...fields, locale: 'germanish', targets: 'de' })
  t.match(wrong, { status: 422, html: 'not the code of a language' })
  t.match(wrong.html, 'value="germanish"', 'what was typed is still there')
  t.match(await visitor.send(page, { ...fields, locale: 'en', targets: 'de, EN' }), { status: 422, html: 'named once' })
  t.match(await visitor.send(page, { ...fields, locale: 'English', targets: 'German, ar' }), { status: 303 })
  const { html } = await visitor.get(`${page}?done=activate`)
  t.match(html, /English \(en\), the source/)
  t.match(html, /German \(de\): has texts that are missing, outdated or in conflict, 2 texts are open/s)
  t.match(html, 'lang="ar"')
  t.match(html, '<bdi>&lt;b&gt;&quot;&amp;\u202eevil</bdi>')
  t.notMatch(html, '<b>')
  t.match(await visitor.send(page, { ...fields, locale: 'en', targets: 'fr' }), { status: 409, html: 'meanwhile' })
  const added = await visitor.send(page, { operation: 'add', locale: 'pt-br', mode: 'blank' })
  t.match(added, { status: 303, location: `${page}?translation=pt-BR&done=add` })
  t.match((await visitor.get(added.location ?? '')).html, 'English and Brazilian Portuguese')
  const extended = await visitor.send(page, { operation: 'add', locale: 'nl-u-co-phonebk' })
  t.match(await visitor.get(extended.location ?? ''), { status: 200, html: 'English and Dutch' })
  t.match(await visitor.send(page, { operation: 'add', locale: 'de' }), { status: 409, html: 'already' })
  t.match((await ada.get(`/documents/${id}/translation-audit`)).body.data, [
    { action: 'translation.added', actor: { user_id: ada.user_id, token_id: null } },
  ])
})

t.test('the model translates, and a person reads, confirms and applies its texts side by side', async (t) => {
  const { ada, visitor } = await start()
  const { source, target } = await translate(ada, [h(1, 'Food'), p('Grass & <hay>'), p('Water')])
  const page = `/d/${source.id}/translations`
  const shown = `${page}?translation=fr`
  const asked = await sendForm(visitor, { page: shown, operation: 'translate' })
  t.match(asked.location, /\?translation=fr&job=tjob_\w+&done=translate/)
  const jobPage = asked.location ?? ''
  await untilEnded(visitor, jobPage)
  const { html } = await visitor.get(jobPage)
  t.match(html, 'The model has translated 3 texts.')
  t.match(html, 'fr Grass &amp; \\&lt;hay')
  t.strictSame(await statusesOf(ada, target), ['missing', 'missing', 'missing'], 'nothing is written')

  const [, , water] = await unitsOf(ada, target)
  await edit(ada, target, { block: water?.target_block_ids[0] ?? '', text: 'Eau' })
  const stale = await visitor.post(page, formWith(html, { page, operation: 'apply' }))
  t.match(stale, { status: 409, html: 'Somebody has changed the translation since you loaded this page' })
  const others = [(await make(ada, [p('Else')])).id, (await translate(ada, [p('Mice')])).source.id]
  for (const id of others) {
    const foreign = await visitor.post(`/d/${id}/translations`, formWith(stale.html, { page, operation: 'apply' }))
    t.match(foreign, { status: 404, html: 'no longer kept' }, 'a page applies no job of another document')
  }
  const applied = await visitor.post(page, formWith(stale.html, { page, operation: 'apply' }))
  t.match(applied.location, 'done=apply')
  const after = await visitor.get(applied.location ?? '')
  t.match(after.html, '2 texts were written. 1 text was left as a person has it.')
  t.strictSame(await statusesOf(ada, target), ['machine_translated', 'machine_translated', 'manually_edited'])

  const confirmed = await visitor.post(page, formWith(after.html, { page, operation: 'confirm' }))
  t.match(confirmed, { status: 303 })
  const ignored = formWith((await visitor.get(`${shown}&status=manually_edited`)).html, { page, operation: 'ignore' })
  t.match(await visitor.post(page, ignored), { location: /status=manually_edited&done=ignore/ })
  t.strictSame(await statusesOf(ada, target), ['current', 'machine_translated', 'ignored'])
  t.match(await sendForm(visitor, { page: shown, operation: 'workflow', fields: { workflow: 'published' } }), {
    status: 303,
  })
  t.match((await visitor.get(shown)).html, 'Published')
  const late = { workflow: 'in_review', was: 'draft' }
  const refused = await sendForm(visitor, { page: shown, operation: 'workflow', fields: late })
  t.match(refused, { status: 409, html: 'Somebody has changed the state' })
  t.match((await visitor.get(shown)).html, 'value="published" selected')
  t.match(await sendForm(visitor, { page: shown, operation: 'prepare' }), { status: 303 })

  await edit(ada, source.id, { block: source.blocks[1]?.attrs.id ?? '', text: 'Leaves' })
  const outdated = await visitor.get(shown)
  t.match(outdated.html, 'The source has changed since it was translated')
  t.match(outdated.html, /Outdated<\/span> This translation has texts/)
  const { data } = (await ada.get(`/audit?document_id=${target}`)).body
  t.match(
    new Set(data.map(({ action }: { action: string }) => action)),
    new Set(['prepareTranslation', 'updateTranslation', 'reviewTranslationUnit', 'applyTranslationJob']),
  )
})

t.test('jobs that wait, fail, become obsolete or come too late are told in words', async (t) => {
  const { ada, visitor } = await start()
  const { source } = await translate(ada, [p('Grass')])
  const page = `/d/${source.id}/translations`
  const shown = `${page}?translation=fr`
  const ask = () => sendForm(visitor, { page: shown, operation: 'translate' })
  const release = stub.hold()
  const { location: first } = await ask()
  const waiting = await visitor.get(first ?? '')
  t.match(waiting.html, /The job waits for its turn|The model is being asked/)
  t.match(waiting.html, 'data-pending')
  await until(async () => stub.requests.length > 0)
  await edit(ada, source.id, { block: source.blocks[0]?.attrs.id ?? '', text: 'Leaves' })
  t.match((await visitor.get(first ?? '')).html, 'The source was changed meanwhile')
  t.notMatch((await visitor.get(first ?? '')).html, 'value="apply"')
  release({ text: '{}' })

  stub.answerWith(() => ({ status: 400 }))
  const { location: second } = await ask()
  await untilEnded(visitor, second ?? '')
  t.match((await visitor.get(second ?? '')).html, 'Nothing was written. You can ask again.')

  stub.answerWith(() => ({ status: 503 }))
  const { location: again } = await ask()
  await until(async () => (await visitor.get(again ?? '')).html.includes('It is tried again at'))
  t.match((await visitor.get(again ?? '')).html, 'The model provider failed')

  stub.answerWith(translating(() => 'Feuilles'))
  const { location: third } = await ask()
  await untilEnded(visitor, third ?? '')
  const ready = await visitor.get(third ?? '')
  await edit(ada, source.id, { block: source.blocks[0]?.attrs.id ?? '', text: 'Twigs' })
  t.match((await visitor.get(third ?? '')).html, 'so the result cannot be applied')
  const late = await visitor.post(page, formWith(ready.html, { page, operation: 'apply' }))
  t.match(late, { status: 409, html: 'The source has changed since the model translated it' })
  const jobs = await visitor.get(shown)
  t.match(jobs.html, /Obsolete<\/span>.*/s)
  t.match(jobs.html, /Failed<\/span>/)

  const { job: _, ...others } = formWith(ready.html, { page, operation: 'apply' })
  t.match(await visitor.post(page, { ...others, job: 'tjob_x' }), { status: 404, html: 'no longer kept' })
  ok(await ada.delete(`/documents/${source.id}`))
  const { target_document_id } = (await ada.get(`/translation-jobs/${/tjob_\w+/.exec(third ?? '')}`)).body.data
  const orphan = await visitor.get(`/d/${target_document_id}/translations`)
  t.match(orphan.html, 'The source was deleted')
  t.notMatch(orphan.html, 'value="translate"')
})

t.test('a viewer sees translations and cannot write them, and nobody else learns of them', async (t) => {
  const { ada, visitor, workspace } = await start()
  const { source, target } = await translate(ada, [p('Grass')])
  const page = `/d/${source.id}/translations`
  const viewer = await service.signUp({ workspace, role: 'viewer' })
  const reader = await signedInVisitor(service, { userId: viewer.user_id })
  const seen = await reader.get(`/d/${target}/translations`)
  t.match(seen, { status: 200, html: 'English and French' })
  t.notMatch(seen.html, 'name="operation"')
  const [unit] = await unitsOf(ada, target)
  const version = (await bodyOf(ada, target)).version
  const fields = { translation: 'fr', target, version, unit: unit?.id ?? '', locale: 'de', workflow: 'published' }
  for (const operation of ['add', 'translate', 'confirm', 'ignore', 'prepare', 'workflow']) {
    t.match(await reader.send(page, { ...fields, operation }), { status: 403, html: 'lets you read only' }, operation)
  }
  const stranger = await service.signUp()
  const other = await signedInVisitor(service, { userId: stranger.user_id })
  t.equal((await other.get(page)).status, 404)
  t.equal((await other.send(page, { ...fields, operation: 'confirm' })).status, 404)
  t.equal((await visitor.post(page, { ...fields, operation: 'confirm' })).status, 403, 'without the token of the form')
  t.match(await visitor.send(page, { ...fields, operation: 'constructor' }), { status: 400 })
  t.match(await visitor.send(page, { ...fields, operation: 'confirm', version: 'old' }), { status: 409 })
  t.strictSame(await statusesOf(ada, target), ['missing'])
})

t.test('thousands of texts are shown in pages', async (t) => {
  const { ada, visitor } = await start()
  const { source } = await translate(
    ada,
    Array.from({ length: 2000 }, (_, index) => p(`Text ${index}.`)),
  )
  const shown = `/d/${source.id}/translations?translation=fr`
  const first = await visitor.get(shown)
  t.match(first.html, 'the first 100 of 2000 texts')
  t.equal(textsIn(first.html).length, 25)
  const next = (/href="([^"]+units=[^"]+)"/.exec(first.html)?.[1] ?? '').replaceAll('&amp;', '&')
  t.strictSame(textsIn((await visitor.get(next)).html)[0], 'Text 25.')
})

t.test('without a model the page says so', async (t) => {
  const plain = await startTestService(t)
  const ada = await plain.signUp()
  const visitor = await signedInVisitor(plain, { userId: ada.user_id })
  const { source } = await translate(ada, [p('Grass')])
  const page = `/d/${source.id}/translations`
  const { html } = await visitor.get(`${page}?translation=fr`)
  t.match(html, 'No model is configured for translations')
  t.notMatch(html, 'value="translate"')
  const asked = await visitor.send(page, { operation: 'translate', translation: 'fr' })
  t.match(asked, { status: 503, html: 'No model is configured for translations' })
})

t.teardown(() => workers.stop())

async function start() {
  const workspace = `Zoo ${Math.random()}`
  const ada = await service.signUp({ workspace })
  return { ada, workspace, visitor: await signedInVisitor(service, { userId: ada.user_id }) }
}

// The fields of the first form of a page that has a button for the operation.
function formWith(html: string, { page, operation }: { page: string; operation: string }): Record<string, string> {
  const form = html.split('<form').find((text) => text.split('</form>')[0]?.includes(`value="${operation}"`)) ?? ''
  return { ...hiddenFields(`<form${form.replace(/class="[^"]*" /, '')}`, page), operation }
}

async function sendForm(
  visitor: Visitor,
  { page, operation, fields = {} }: { page: string; operation: string; fields?: Record<string, string> },
) {
  const { html } = await visitor.get(page)
  const [path = ''] = page.split('?')
  return visitor.post(path, { ...formWith(html, { page: path, operation }), ...fields })
}

async function untilEnded(visitor: Visitor, page: string): Promise<void> {
  await until(async () => !(await visitor.get(page)).html.includes('data-pending'))
}

function textsIn(html: string): string[] {
  return [...html.matchAll(/<p class="side" lang="en" dir="auto">([^<]*)</g)].map(([, text = '']) => text)
}
