import { workersOf } from '../../../workers/types.ts'
import { p } from '../../document/build.ts'
import { WorkCounter } from '../../hostile/work.ts'
import type { Client, Reply } from '../../support/client.ts'
import { bodyOf, put } from '../../support/documents.ts'
import { startModelStub } from '../../support/model-stub.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'
import { marked } from '../../support/translation-stub.ts'
import { ok, review, translate, unitsOf } from '../../support/translations.ts'
import { startWorkers } from '../../support/workers.ts'

const stub = await startModelStub(t)
stub.answerWith(marked)
const service = await startTestService(t, { ...stub.env, TRANSLATION_DAILY_CHARACTERS: '100000000' })
await startWorkers(t, service, workersOf(['localization']))

t.test('a long translation holds nobody up: what reads both bodies runs in a thread', async (t) => {
  const ada = await service.signUp()
  const { source, target } = await translate(ada, paragraphs(500))
  const units = await unitsOf(ada, target)
  const [first] = units
  const job = { id: '' }
  const calls: Record<string, () => Promise<Reply>> = {
    'a list of units': () => ada.get(`/documents/${source.id}/translation-units?locale=fr&limit=1`),
    'a preparation': () => ada.post(`/documents/${source.id}/translations/${target}/prepare`, {}),
    'a review': () =>
      review(ada, target, {
        unit: first?.id ?? '',
        review_status: 'current',
        target_block_ids: first?.target_block_ids,
      }),
    'the request for a job': async () => {
      const unit_ids = [units[1]?.id, units[2]?.id]
      const reply = await ada.post(`/documents/${source.id}/translation-jobs`, { target_locale: 'fr', unit_ids })
      job.id = reply.body.data.id
      return reply
    },
    'the application of a job': async () => {
      const { etag } = await bodyOf(ada, target)
      return ada.post(`/translation-jobs/${job.id}/apply`, {}, { 'if-match': etag })
    },
  }
  for (const [name, call] of Object.entries(calls)) {
    const before = await computed()
    ok(await call())
    t.ok((await computed()) > before, `${name} is computed in a thread`)
    if (job.id !== '')
      await until(async () => ok(await ada.get(`/translation-jobs/${job.id}`)).data.status !== 'pending')
  }
  const [, ...translated] = (await unitsOf(ada, target)).slice(0, 3)
  t.match(translated, [{ status: 'machine_translated' }, { status: 'machine_translated' }])
})

t.test('the event loop does not pay for the number of units that a write or a read is about', async (t) => {
  const ada = await service.signUp()
  const [small, large] = [await workOf(ada, 1000), await workOf(ada, 4000)]
  for (const call of ['creation', 'read', 'edit of the source', 'edit of the translation', 'preparation'] as const) {
    // What handles the units one by one executes dozens of blocks for each of them.
    const each = (large[call] - small[call]) / 3000
    t.ok(each < 10, `${call}: ${small[call]} blocks for 1000 units, ${large[call]} for 4000`)
  }
})

const counter = new WorkCounter()
t.teardown(() => counter.end())

/** Counts the work of this thread, in which the service runs, for calls that are about all units of a translation. */
async function workOf(client: Client, count: number) {
  const { source, target } = await translate(client, paragraphs(count))
  const edit = async (id: string, word: string) => {
    const { blocks } = await bodyOf(client, id)
    const content = [{ type: 'text', text: `${word} ${'x'.repeat(100)}` }]
    const edited = blocks.map((block) => ({ ...block, content }))
    return () => put(client, id, edited)
  }
  const created = (locale: string) => async () => () =>
    client.post(`/documents/${source.id}/translations`, { locale, create_mode: 'copy_structure' })
  const read = () => client.get(`/documents/${source.id}/translation-units?locale=fr&limit=1`)
  const prepare = () => client.post(`/documents/${source.id}/translations/${target}/prepare`, {})
  return {
    creation: await leastWork(['de', 'es', 'it'].map(created)),
    read: await leastWork([1, 2, 3].map(() => async () => read)),
    'edit of the source': await leastWork(['a', 'b', 'c'].map((word) => () => edit(source.id, word))),
    'edit of the translation': await leastWork(['d', 'e', 'f'].map((word) => () => edit(target, word))),
    preparation: await leastWork([1, 2, 3].map(() => async () => prepare)),
  }
}

// Timers of the service and code that runs for the first time add to the work of a call, but not to that of each one.
async function leastWork(calls: readonly (() => Promise<() => Promise<Reply>>)[]): Promise<number> {
  const counts: number[] = []
  for (const prepared of calls) {
    const call = await prepared()
    counter.take()
    ok(await call())
    counts.push(counter.take().total)
  }
  return Math.min(...counts)
}

function paragraphs(count: number) {
  return Array.from({ length: count }, (_, index) => p(`paragraph ${index} ${'word '.repeat(20)}`))
}

/** How many heavy pieces of work have been done in a thread. */
async function computed(): Promise<number> {
  const metrics = await (await fetch(`${service.origin}/metrics`)).text()
  const name = 'svc_computations_ended_total{end="done"} '
  return Number(
    metrics
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.slice(name.length),
  )
}
