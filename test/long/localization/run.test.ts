import { setTimeout as sleep } from 'node:timers/promises'
import type { BodyNode } from '../../../shared/body/document.ts'
import { fromMarkdown } from '../../../shared/body/markdown/from-markdown.ts'
import { sql } from '../../../shared/database/database.ts'
import { structureOf } from '../../../shared/localization/inline/structure.ts'
import { blank, textBlocks } from '../../../shared/localization/units/texts.ts'
import { workersOf } from '../../../workers/types.ts'
import type { Client } from '../../support/client.ts'
import { bodyOf } from '../../support/documents.ts'
import { markdownFiles } from '../../support/markdown-files.ts'
import { startModelStub } from '../../support/model-stub.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'
import { askedOf, marked } from '../../support/translation-stub.ts'
import { edit, ok, statusesOf } from '../../support/translations.ts'
import { startWorkers, write } from '../../support/workers.ts'

// With a higher TRANSLATION_CHARACTERS the run takes longer files, and more time.
const longest = Number(process.env['TRANSLATION_CHARACTERS'] ?? 1200)
const firstText = 'The first of thirty'
const locales = ['de', 'fr', 'ja', 'pt-BR', 'zh-Hant']

t.test('thirty documents that people wrote are translated into five languages while they are edited', async (t) => {
  const stub = await startModelStub(t)
  // The first document always changes while the model translates it; the other documents change by chance.
  const changed = Promise.withResolvers<void>()
  stub.answerWith((request) => {
    const isFirst = askedOf(request).units.some(({ text }) => text === firstText)
    return { release: (isFirst ? changed.promise : sleep(30)).then(() => marked(request)) }
  })
  const service = await startTestService(t, { ...stub.env, TRANSLATION_DAILY_CHARACTERS: '100000000' })
  for (let worker = 0; worker < 2; worker += 1) await startWorkers(t, service, workersOf(['localization']))
  const ada = await service.signUp()
  const sources = await inLanes(chosenFiles(30), ({ text }, index) =>
    activated(ada, index === 0 ? `${firstText}\n\n${text}` : text),
  )
  t.equal(sources.length, 30)

  // Every third source is edited while its jobs run, so their translations become obsolete.
  const edited = new Set(sources.filter((_, index) => index % 3 === 0))
  const first = await inLanes(sources, async (source) => {
    const jobs = await translateAll(ada, source)
    if (edited.has(source)) await edit(ada, source.id, { block: source.block, text: 'changed meanwhile' })
    if (source === sources[0]) changed.resolve()
    return jobs
  })
  const ends = await inLanes(first.flat(), (job) => ended(ada, job))
  for (const { status, obsolete_reason, source_document_id, result } of ends) {
    const isEdited = [...edited].some(({ id }) => id === source_document_id)
    if (status === 'obsolete') t.equal(obsolete_reason, isEdited ? 'source_changed' : 'not at all')
    else if (status !== 'succeeded' || result.failed > 0) t.fail(`${status} ${JSON.stringify(result)}`)
  }
  t.ok(
    ends.some(({ status }) => status === 'obsolete'),
    'edits and jobs did meet',
  )

  await inLanes(ends, async (job) => {
    const reply = await apply(ada, job)
    const isOutdated = ['job_not_succeeded', 'translation_source_changed'].includes(reply.body.error?.code)
    if (reply.status !== 200 && !isOutdated) t.fail(reply.text)
  })
  await inLanes(sources, async (source) => {
    for (const job of await translateAll(ada, source)) ok(await apply(ada, await ended(ada, job)))
    const body = await bodyOf(ada, source.id)
    for (const target of source.targets) {
      const { blocks } = await bodyOf(ada, target)
      if (skeletonOf(blocks) !== skeletonOf(body.blocks)) t.fail(`${target} has another structure`)
      const statuses = new Set(await statusesOf(ada, target))
      if ([...statuses].some((status) => status !== 'machine_translated')) t.fail(`${[...statuses]}`)
    }
  })
  const open = await service.database.any(sql.unsafe`SELECT FROM translation_jobs WHERE finished_at IS NULL`)
  t.equal(open.length, 0, 'no job is stuck')
})

type Source = { id: string; block: string; targets: string[] }

function chosenFiles(count: number) {
  const fitting = markdownFiles(3000).filter(({ text }) => text.length <= longest && /^[A-Za-z]/m.test(text))
  // Takes files from all packages, because neighbouring files resemble each other.
  const step = Math.max(1, Math.floor(fitting.length / (2 * count)))
  const spread = fitting.filter((_, index) => index % step === 0)
  const hasText = (text: string) => textBlocks(fromMarkdown(text).result.content).some(({ hash }) => hash !== blank)
  return spread.filter(({ text }) => hasText(text)).slice(0, count)
}

async function activated(client: Client, markdown: string): Promise<Source> {
  const { id } = await write(client, markdown)
  const activation = { source_locale: 'en', target_locales: locales, create_mode: 'copy_structure' }
  const { variants } = ok(await client.post(`/documents/${id}/localization/activate`, activation)).data
  const targets = variants.slice(1).map((variant: { id: string }) => variant.id)
  const texts = textBlocks((await bodyOf(client, id)).blocks)
  return { id, targets, block: texts.find(({ hash }) => hash !== blank)?.id ?? '' }
}

/** Creates a job for every locale that has open units. */
async function translateAll(client: Client, source: Source): Promise<string[]> {
  const jobs: string[] = []
  for (const target_locale of locales) {
    const reply = await client.post(`/documents/${source.id}/translation-jobs`, { target_locale })
    if (reply.body.error?.code !== 'nothing_to_translate') jobs.push(ok(reply).data.id)
  }
  return jobs
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

async function apply(client: Client, job: { id: string; target_document_id: string }) {
  const { etag } = await bodyOf(client, job.target_document_id)
  return client.post(`/translation-jobs/${job.id}/apply`, {}, { 'if-match': etag })
}

/** Returns a body without ids and words: its blocks, and the marks, links and code of its texts. */
function skeletonOf(blocks: readonly BodyNode[]): string {
  return JSON.stringify(blocks, (name, member) => {
    if (name === 'id') return undefined
    if (member?.type === 'paragraph' || member?.type === 'heading') {
      return [member.type, member.attrs.level, structureOf(member.content ?? [])]
    }
    return member
  })
}

/** Runs four at a time and keeps the order of the results. */
async function inLanes<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const lane = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index] as T, index)
  }
  await Promise.all([lane(), lane(), lane(), lane()])
  return results
}
