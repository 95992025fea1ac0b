import { setTimeout as sleep } from 'node:timers/promises'
import { documentToLines } from '../../shared/body/canonical.ts'
import type { TwoTexts } from '../../shared/body/change.ts'
import type { BlockNode } from '../../shared/body/document.ts'
import { onTheSpot } from '../../shared/computations/ahead.ts'
import { type Database, inTransaction, openDatabase, sql } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { syncUnits } from '../../shared/localization/units/sync.ts'
import { p } from '../document/build.ts'
import { Client } from '../support/client.ts'
import { bodyOf } from '../support/documents.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startApi, startWorker } from '../support/processes.ts'
import type { Site } from '../support/site.ts'
import { until } from '../support/site.ts'
import { marked } from '../support/translation-stub.ts'
import { ok, translate } from '../support/translations.ts'
import { type Figure, ms, percentile } from './harness.ts'

const sizes = [100, 1000, 10_000]
const rounds = 40
const answerMs = 200
const concurrency = 4
const jobs = 12
const unitsPerJob = 100

/** Measures the cost of units in a write to the source or the target, and the use of the model's limit by jobs. */
export async function measureLocalization(site: Site): Promise<Figure[]> {
  const database = await openDatabase({ url: site.url, poolSize: 2 })
  try {
    const recomputed: Figure[] = []
    for (const size of sizes) recomputed.push(...(await measureFollow(site, { database, size })))
    return [...recomputed, ...(await measureThroughput(site))]
  } finally {
    await database.end()
  }
}

/** Updates the units after one edited block, on each side, in a transaction that is rolled back. */
async function measureFollow(site: Site, { database, size }: { database: Database; size: number }): Promise<Figure[]> {
  const { source, target } = await translate(site.client, paragraphs(size))
  await database.query(sql.unsafe`ANALYZE translation_units, translation_unit_blocks`)
  const sides = [
    { name: 'source', id: source.id, variant_role: 'source' as const },
    { name: 'target', id: target, variant_role: 'translation' as const },
  ]
  const figures: Figure[] = []
  for (const { name, id, variant_role } of sides) {
    const texts = oneEdit((await bodyOf(site.client, id)).blocks)
    const workspace_id = await workspaceOf(site, id)
    const taken: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      await rolledBack(database, async (tx) => {
        const started = performance.now()
        await syncUnits({ tx, ahead: onTheSpot }, { document: { workspace_id, id, variant_role }, texts })
        taken.push(performance.now() - started)
      })
    }
    figures.push({
      name: `units of one edited block of the ${name}, ${size} units, p50`,
      value: ms(percentile(taken, 50)),
    })
  }
  return figures
}

function oneEdit(blocks: BlockNode[]): TwoTexts {
  const text = (content: BlockNode[]) => documentToLines({ type: 'doc', content }).join('\n')
  const middle = Math.floor(blocks.length / 2)
  const changed = blocks.map((block, index) =>
    index === middle ? { ...block, content: [{ type: 'text', text: 'edited' }] } : block,
  )
  return { from: text(blocks), to: text(changed) }
}

async function rolledBack(database: Database, work: Parameters<typeof inTransaction<void>>[1]): Promise<void> {
  const attempt = inTransaction(database, async (tx) => {
    await work(tx)
    throw new Refusal('folder_cycle')
  })
  await attempt.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
  })
}

/** Runs jobs of a hundred units with one worker, against a model that answers after 200 ms. */
async function measureThroughput(site: Site): Promise<Figure[]> {
  const ends: (() => unknown)[] = []
  try {
    const stub = await startModelStub({ teardown: (end) => ends.unshift(end) })
    let [first, last] = [Number.NaN, 0]
    stub.answerWith((request) => {
      if (Number.isNaN(first)) first = performance.now()
      const answer = sleep(answerMs).then(() => {
        last = performance.now()
        return marked(request)
      })
      return { release: answer }
    })
    const limits = { TRANSLATION_DAILY_CHARACTERS: '100000000', RATE_JOB_PER_MIN: '0' }
    const env = { ...site.env, ...stub.env, ...limits, MODEL_CONCURRENCY: String(concurrency) }
    const api = await startApi(env)
    ends.unshift(api.stop)
    const client = new Client({ origin: api.origin, token: site.client.bearer ?? '' })
    const ids: string[] = []
    for (let job = 0; job < jobs; job += 1) {
      const { source } = await translate(client, paragraphs(unitsPerJob))
      ids.push(ok(await client.post(`/documents/${source.id}/translation-jobs`, { target_locale: 'fr' })).data.id)
    }
    const worker = await startWorker(['localization'], env)
    ends.unshift(worker.stop)
    await until(async () => {
      const open = await site.ask('SELECT count(*)::int AS open FROM translation_jobs WHERE finished_at IS NULL')
      return open[0].open === 0
    })
    const calls = stub.requests.length
    const ideal = (calls * answerMs) / concurrency
    const share = ideal / (last - first)
    return [
      {
        name: `${jobs} jobs of ${unitsPerJob} units, model of ${answerMs} ms, ${concurrency} calls at a time, one worker`,
        value: `${Math.round((jobs * unitsPerJob * 1000) / (last - first))} units/s in ${calls} calls`,
      },
      {
        name: 'the same, of what the limit of calls allows',
        value: `${Math.round(share * 100)} %`,
        bar: 'over 85 %',
        met: share > 0.85,
      },
    ]
  } finally {
    for (const end of ends) await end()
  }
}

function paragraphs(count: number) {
  return Array.from({ length: count }, (_, index) => p(`Paragraph ${index} of a manual says so.`))
}

async function workspaceOf(site: Site, id: string): Promise<string> {
  const [{ workspace_id }] = await site.ask('SELECT workspace_id FROM documents WHERE id = $1', [id])
  return workspace_id
}
