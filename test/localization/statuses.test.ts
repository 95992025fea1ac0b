import fc from 'fast-check'
import { workersOf } from '../../workers/types.ts'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf } from '../support/documents.ts'
import { startModelStub } from '../support/model-stub.ts'
import { runsTimes } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { marked } from '../support/translation-stub.ts'
import { edit, ok, review, translate, type Unit, unitsOf } from '../support/translations.ts'
import { startWorkers } from '../support/workers.ts'
import { newUnit, statusOf, TranslationModel } from './status-model.ts'

// Each run makes some hundred calls.
const runs = runsTimes(1 / 20)

const texts = ['', 'one', 'two', 'three'] as const
const place = fc.nat({ max: 3 })
const text = fc.constantFrom(...texts)
const step = fc.oneof(
  fc.record({ do: fc.constant('source' as const), place, text }),
  fc.record({ do: fc.constant('target' as const), place, text }),
  fc.record({
    do: fc.constant('review' as const),
    place,
    status: fc.constantFrom('current' as const, 'ignored' as const),
    blocks: fc.option(fc.uniqueArray(place, { maxLength: 2 }), { nil: undefined, freq: 4 }),
  }),
  fc.record({ do: fc.constant('job' as const), named: fc.boolean() }),
  fc.record({ do: fc.constant('apply' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

t.test('whatever people and machines do in any order, each unit says what the table of statuses says', async (t) => {
  const stub = await startModelStub(t)
  stub.answerWith(marked)
  const service = await startTestService(t, stub.env)
  const ada = await service.signUp()
  await startWorkers(t, service, workersOf(['localization']))
  const property = fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 30, size: 'max' }), async (steps) => {
    const play = await Play.start(ada)
    for (const [index, next] of steps.entries()) {
      await play.step(next)
      await play.check(`after ${JSON.stringify(steps.slice(0, index + 1))}`)
    }
  })
  await fc.assert(property, { ...runs, endOnFailure: true })
  t.pass()
})

type Job = { id: string; units: Map<string, string>; sourceChanges: number; applied: Set<string> }

/** The service and the model of the test, which get the same commands. */
class Play {
  readonly #client: Client
  readonly #model = new TranslationModel()
  readonly #source: string
  readonly #target: string
  readonly #sourceBlocks: string[]
  #job: Job | undefined

  private constructor(client: Client, ids: { source: string; target: string; sourceBlocks: string[] }) {
    this.#client = client
    this.#source = ids.source
    this.#target = ids.target
    this.#sourceBlocks = ids.sourceBlocks
  }

  static async start(client: Client): Promise<Play> {
    const { source, target } = await translate(client, [p('one'), p('two'), p('three'), p('one')])
    const sourceBlocks = source.blocks.map(({ attrs }) => attrs.id)
    const play = new Play(client, { source: source.id, target, sourceBlocks })
    for (const unit of await unitsOf(client, target)) {
      const [block = ''] = unit.target_block_ids
      play.#model.units.set(unit.source_block_id, { ...newUnit(unit.source_text), blocks: [block] })
      play.#model.target.set(block, '')
    }
    return play
  }

  async step(next: Step): Promise<void> {
    if (next.do === 'source') return this.#editSource(next)
    if (next.do === 'target') return this.#editTarget(next)
    if (next.do === 'review') return this.#review(next)
    if (next.do === 'job') return this.#translate(next.named)
    return this.#apply()
  }

  /** Checks that every unit has the status and the text that the model has. */
  async check(when: string): Promise<void> {
    const units = await unitsOf(this.#client, this.#target)
    const expected = this.#sourceBlocks.flatMap((id) => {
      const unit = this.#model.units.get(id)
      if (unit === undefined) return []
      const target = this.#model.textOf(unit)
      return [{ source: unit.source, target: target === '' ? null : target, status: statusOf(unit, target) }]
    })
    const found = units.map(({ source_text, target_text, status }) => {
      return { source: source_text, target: target_text, status }
    })
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(expected)} ${when}`)
    }
  }

  async #editSource({ place, text }: { place: number; text: string }): Promise<void> {
    const block = this.#sourceBlocks[place] ?? ''
    this.#model.editSource(block, text)
    await edit(this.#client, this.#source, { block, text })
  }

  async #editTarget({ place, text }: { place: number; text: string }): Promise<void> {
    const block = [...this.#model.target.keys()][place]
    if (block === undefined) return
    this.#model.editTarget(block, text)
    await edit(this.#client, this.#target, { block, text })
  }

  async #review(input: { place: number; status: 'current' | 'ignored'; blocks: number[] | undefined }): Promise<void> {
    const block = this.#sourceBlocks[input.place] ?? ''
    const unit = this.#model.units.get(block)
    if (unit === undefined) return
    const known = [...this.#model.target.keys()]
    const blocks = input.blocks?.flatMap((index) => known[index] ?? [])
    this.#model.review(unit, { status: input.status, blocks })
    const { id = '' } = (await this.#unitsByBlock()).get(block) ?? {}
    const target_block_ids = blocks === undefined ? {} : { target_block_ids: blocks }
    ok(await review(this.#client, this.#target, { unit: id, review_status: input.status, ...target_block_ids }))
  }

  async #translate(named: boolean): Promise<void> {
    const units = await unitsOf(this.#client, this.#target)
    const eligible = named ? ['missing', 'source_changed', 'machine_translated'] : ['missing', 'source_changed']
    const expected = units.filter(({ source_block_id: block }) => {
      const unit = this.#model.units.get(block)
      return unit !== undefined && eligible.includes(statusOf(unit, this.#model.textOf(unit)))
    })
    const path = `/documents/${this.#source}/translation-jobs`
    const body = { target_locale: 'fr', ...(named && { unit_ids: units.map(({ id }) => id) }) }
    const reply = await this.#client.post(path, body)
    if (expected.length === 0) {
      if (reply.body.error?.code !== 'nothing_to_translate') throw new Error(reply.text)
      return
    }
    const { id } = ok(reply).data
    const job = await ended(this.#client, id)
    const translated = job.result.units.filter(({ status }: { status: string }) => status === 'translated')
    const ids = translated.map(({ unit_id }: { unit_id: string }) => unit_id)
    if (JSON.stringify(ids) !== JSON.stringify(expected.map((unit) => unit.id))) throw new Error(reply.text)
    this.#job = {
      id,
      units: new Map(expected.map((unit) => [unit.id, unit.source_block_id])),
      sourceChanges: this.#model.sourceChanges,
      applied: new Set(),
    }
  }

  async #apply(): Promise<void> {
    const job = this.#job
    if (job === undefined) return
    const { etag } = await bodyOf(this.#client, this.#target)
    const reply = await this.#client.post(`/translation-jobs/${job.id}/apply`, {}, { 'if-match': etag })
    if (job.sourceChanges !== this.#model.sourceChanges) {
      // A source that is changed back has its former version again, so the candidates are still valid.
      if (reply.body.error?.code === 'translation_source_changed') return
    }
    const ids = new Set((await unitsOf(this.#client, this.#target)).map(({ id }) => id))
    const before = new Map([...job.units].map(([id, block]) => [id, this.#expectedSkip({ id, block, job, ids })]))
    const { applied, skipped } = ok(reply).data
    for (const { unit_id: id, reason } of skipped) {
      if (before.get(id) !== reason) throw new Error(`${id} is skipped as ${reason}, not ${before.get(id)}`)
    }
    for (const { unit_id: id, target_block_ids } of applied) {
      const unit = this.#model.units.get(job.units.get(id) ?? '')
      if (unit === undefined || before.get(id) !== null) throw new Error(`${id} was written over ${before.get(id)}`)
      this.#model.apply(unit, { block: target_block_ids[0], text: `fr ${unit.source}` })
      job.applied.add(id)
    }
    const done = applied.length + skipped.length
    if (done !== job.units.size) throw new Error(`${done} of ${job.units.size} units are answered for`)
  }

  // A text that was deleted in between has a new unit, which is not in the job.
  #expectedSkip(one: { id: string; block: string; job: Job; ids: ReadonlySet<string> }): string | null {
    const unit = this.#model.units.get(one.block)
    if (one.job.applied.has(one.id)) return 'already_applied'
    if (unit === undefined || !one.ids.has(one.id)) return 'not_translated'
    const status = statusOf(unit, this.#model.textOf(unit))
    return ['manually_edited', 'current', 'conflict', 'ignored'].includes(status) ? status : null
  }

  async #unitsByBlock(): Promise<Map<string, Unit>> {
    return new Map((await unitsOf(this.#client, this.#target)).map((unit) => [unit.source_block_id, unit]))
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the tests look into envelopes of every shape
async function ended(client: Client, id: string): Promise<any> {
  let job = ok(await client.get(`/translation-jobs/${id}`)).data
  await until(async () => {
    job = ok(await client.get(`/translation-jobs/${id}`)).data
    return job.status !== 'pending'
  })
  if (job.status !== 'succeeded') throw new Error(JSON.stringify(job))
  return job
}
