import { workersOf } from '../../workers/types.ts'
import { p } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, put } from '../support/documents.ts'
import { startModelStub } from '../support/model-stub.ts'
import { raceRounds } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { marked } from '../support/translation-stub.ts'
import { ok, type Translated, translate, unitsOf } from '../support/translations.ts'
import { startWorkers } from '../support/workers.ts'

const stub = await startModelStub(t)
stub.answerWith(marked)
const service = await startTestService(t, stub.env)
const { signUp } = service
await startWorkers(t, service, workersOf(['localization']))
const words = ['one', 'two', 'three', 'four']

t.test('applying while the source is written is before it or not at all', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const { made, job } = await translated(ada)
    const [applied, written] = await Promise.all([
      ada.post(`/translation-jobs/${job}/apply`, {}, { 'if-match': '*' }),
      put(
        ada,
        made.source.id,
        words.map((word) => p(`${word} ${round}`)),
      ),
    ])
    t.equal(written.status, 200)
    expect(t, applied, [200, 409])
    if (applied.status === 409) t.equal(applied.body.error.code, 'translation_source_changed')
    const units = await unitsOf(ada, made.target)
    t.equal(units.length, words.length, 'the new texts have units')
    t.ok(
      units.every(({ status }) => status === 'missing'),
      'of which none is translated',
    )
    const texts = textsOf(await bodyOf(ada, made.target))
    t.strictSame(
      texts,
      words.map((word) => (applied.status === 200 ? `fr ${word}` : '')),
    )
  }
})

t.test('a text that a person writes while a job is applied is kept, whoever is first', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const { made, job } = await translated(ada)
    const unit = (await unitsOf(ada, made.target))[round % words.length]
    const block = unit?.target_block_ids[0] ?? ''
    const [applied, edited] = await Promise.all([
      ada.post(`/translation-jobs/${job}/apply`, {}, { 'if-match': '*' }),
      ada.patch(`/documents/${made.target}/blocks/${block}`, { content: [{ type: 'text', text: 'by hand' }] }),
    ])
    expect(t, applied, [200])
    expect(t, edited, [200])
    const after = (await unitsOf(ada, made.target)).find(({ id }) => id === unit?.id)
    t.match(after, { target_text: 'by hand', status: 'manually_edited', origin: 'manual' })
    const reasons = applied.body.data.skipped.map(({ reason }: { reason: string }) => reason)
    t.ok(reasons.length === 0 || reasons[0] === 'manually_edited')
  }
})

t.test('of two who apply the same job one writes, and the other finds it applied', async (t) => {
  const ada = await signUp()
  for (const _ of raceRounds) {
    const { made, job } = await translated(ada)
    const replies = await Promise.all(
      [1, 2, 3].map(() => ada.post(`/translation-jobs/${job}/apply`, {}, { 'if-match': '*' })),
    )
    for (const reply of replies) expect(t, reply, [200])
    const counts = replies.map(({ body }) => body.data.applied.length).sort()
    t.strictSame(counts, [0, 0, words.length])
    t.strictSame(
      textsOf(await bodyOf(ada, made.target)),
      words.map((word) => `fr ${word}`),
    )
  }
})

t.test('a job never succeeds for a source that has changed before it ended', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const made = await translate(
      ada,
      words.map((word) => p(word)),
    )
    const path = `/documents/${made.source.id}/translation-jobs`
    const replies = await Promise.all([
      ada.post(path, { target_locale: 'fr' }),
      put(
        ada,
        made.source.id,
        words.map((word) => p(`${word} ${round}`)),
      ),
      ada.post(path, { target_locale: 'fr' }),
    ])
    const { version } = await bodyOf(ada, made.source.id)
    for (const created of [replies[0], replies[2]]) {
      if (created === undefined) continue
      expect(t, created, [202])
      const job = await ended(ada, created.body.data.id)
      if (job.status === 'obsolete') t.equal(job.obsolete_reason, 'source_changed')
      else t.equal(job.status, 'succeeded')
      const applied = await ada.post(`/translation-jobs/${job.id}/apply`, {}, { 'if-match': '*' })
      t.equal(applied.status === 200, job.status === 'succeeded' && job.source_version === version)
    }
  }
})

t.test('writers of a source and of its translations do not stop each other', async (t) => {
  const ada = await signUp()
  const made = await translate(
    ada,
    words.map((word) => p(word)),
  )
  ok(await ada.post(`/documents/${made.source.id}/translations`, { locale: 'de', create_mode: 'copy_structure' }))
  const { variants } = ok(await ada.get(`/documents/${made.source.id}/translations`)).data
  const members: string[] = variants.map(({ id }: { id: string }) => id)
  const bodies = await Promise.all(members.map((id) => bodyOf(ada, id)))
  const writes = raceRounds.flatMap((round) =>
    bodies.flatMap(({ id, blocks }) =>
      blocks.map(({ attrs }) => () => {
        const content = [{ type: 'text', text: `${id} ${round}` }]
        return ada.patch(`/documents/${id}/blocks/${attrs.id}`, { content })
      }),
    ),
  )
  const reviews = raceRounds.flatMap(() =>
    members.slice(1).map((target) => async () => {
      const [unit] = await unitsOf(ada, target)
      const body = { target_document_id: target, review_status: 'current' }
      return ada.patch(`/documents/${target}/translation-units/${unit?.id}`, body, { 'if-match': '*' })
    }),
  )
  const replies = await Promise.all([...writes, ...reviews].map((call) => call()))
  for (const reply of replies) expect(t, reply, [200])
  for (const target of members.slice(1)) {
    const units = await unitsOf(ada, target)
    const texts = textsOf(await bodyOf(ada, target))
    t.strictSame(
      units.map(({ target_text }) => target_text),
      texts,
    )
    const sources = textsOf(await bodyOf(ada, made.source.id))
    t.strictSame(
      units.map(({ source_text }) => source_text?.replaceAll('\\', '')),
      sources,
    )
  }
})

async function translated(client: Client): Promise<{ made: Translated; job: string }> {
  const made = await translate(
    client,
    words.map((word) => p(word)),
  )
  const { data } = ok(await client.post(`/documents/${made.source.id}/translation-jobs`, { target_locale: 'fr' }))
  const job = await ended(client, data.id)
  if (job.status !== 'succeeded') throw new Error(JSON.stringify(job))
  return { made, job: data.id }
}

// biome-ignore lint/suspicious/noExplicitAny: the tests look into envelopes of every shape
async function ended(client: Client, id: string): Promise<any> {
  let job = ok(await client.get(`/translation-jobs/${id}`)).data
  await until(async () => {
    job = ok(await client.get(`/translation-jobs/${id}`)).data
    return job.status !== 'pending'
  })
  return job
}

function expect(t: { ok: (value: unknown, message: string) => unknown }, reply: Reply, statuses: number[]): void {
  t.ok(statuses.includes(reply.status), `${reply.status} ${reply.text.slice(0, 300)}`)
}

function textsOf({ blocks }: { blocks: { content?: { text?: string }[] }[] }): string[] {
  return blocks.map(({ content }) => String(content?.[0]?.text ?? ''))
}
