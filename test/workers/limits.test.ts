import Type from 'typebox'
import { computationLoad } from '../../shared/computations/compute.ts'
import { type Queryable, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { laggingDocuments } from '../../shared/jobs/reads.ts'
import { defineProjection } from '../../workers/runtime/projection.ts'
import { searchIndexer, searchProjection } from '../../workers/search.ts'
import { endlessIndexing } from '../support/endless.ts'
import { onlyLong } from '../support/run-options.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { outcomesOf, rewrite, startWorkers, untilFresh, write } from '../support/workers.ts'

const endlessIndexer = defineProjection({ ...searchProjection, compute: endlessIndexing })

t.test('a document whose index never ends is given up alone, and a new write of it is indexed', async (t) => {
  const { service, ada, ids, outcomes } = await startWithEndless(t)
  const [first, endless, last] = ids
  const worker = await startWorkers(t, service, [endlessIndexer])
  await until(async () => (await deadLetters(service)).length === 1)
  t.strictSame(await deadLetters(service), [endless], 'it is with the failed jobs, without its neighbours')
  t.strictSame(await found(ada, 'heron'), [first, last])
  t.strictSame((await searchV2(ada, { q: 'heron' })).projection.stale_document_ids, [endless], 'and honestly stale')
  await worker.stop()
  t.match(await outcomes(), { current: 2, over_limit: 1, failed: undefined }, 'one try, no more')

  await rewrite(ada, endless, 'heron at rest')
  await startWorkers(t, service, [searchIndexer])
  await untilFresh(ada)
  t.strictSame(await found(ada, 'heron'), ids)
})

t.test('one worker with one place goes on with other documents while one never ends', onlyLong, async (t) => {
  const { service, ada, ids } = await startWithEndless(t, { WORKER_COMPUTE_MS: '4000' })
  await startWorkers(t, service, [endlessIndexer])
  const { id } = await write(ada, 'heron that came later')
  await until(async () => (await found(ada, 'heron')).length === 3)
  t.strictSame(await found(ada, 'heron'), [ids[0], ids[2], id].sort())
  t.match(await stateOf(service.database, ids[1]), 'active', 'it is still being computed')
})

t.test('a document that was given up is taken up by the sweep less and less often', onlyLong, async (t) => {
  const { service, ada, ids } = await startWithEndless(t)
  const [, endless] = ids
  await service.database.query(sql.unsafe`
    UPDATE stale_projections SET since = now() - interval '100 days' WHERE document_id = ${endless}`)
  // The job of the write is no longer on its way.
  await service.database.query(sql.unsafe`DELETE FROM pgboss.job`)
  const lagging = async () => {
    const projection = { name: 'search', queue: queues.searchIndex }
    const asked = { projection, seconds: 60, limit: 10 }
    return (await laggingDocuments(service.database, asked)).map(({ document_id }) => document_id)
  }
  for (const [times, pause] of [
    '0',
    '0',
    '15 minutes',
    '75 minutes',
    '315 minutes',
    '1275 minutes',
    '1 day',
  ].entries()) {
    if (times > 0) await bury(service, { workspace_id: ada.workspace_id, document_id: endless })
    await age(service, pause, '-10 seconds')
    if (pause !== '0') t.strictSame(await lagging(), [], `${times} times, a moment before ${pause}`)
    await age(service, pause, '10 seconds')
    t.strictSame(await lagging(), [endless], `${times} times, ${pause} later`)
  }
})

t.test('one document of a workspace is not behind a hundred that another has just imported', async (t) => {
  const service = await startTestService(t, { WORKER_CONCURRENCY: '1' })
  const [importer, bea] = [await service.signUp(), await service.signUp()]
  for (let n = 0; n < 100; n += 1) await write(importer, 'heron')
  const { id } = await write(bea, 'heron')
  const order: string[] = []
  const noting: typeof searchProjection = {
    ...searchProjection,
    // Batches run beside each other and end in any order, so their beginning is noted.
    load(db, jobs) {
      order.push(...jobs.map(({ document_id }) => document_id))
      return searchProjection.load(db, jobs)
    },
  }
  await startWorkers(t, service, [defineProjection(noting)])
  await untilFresh(importer)
  await untilFresh(bea)
  const behind = order.length - 1 - order.indexOf(id)
  t.ok(behind >= 30, `${behind} documents of the import were begun after it`)
})

for (const [kind, text, options] of [
  ['small', 'heron', {}],
  ['large', 'heron LARGE', onlyLong],
] as const) {
  t.test(`a ${kind} document is not behind forty of another workspace that never end`, options, async (t) => {
    const service = await startTestService(t, { WORKER_COMPUTE_MS: '2000' })
    const [hostile, bea] = [await service.signUp(), await service.signUp()]
    for (let n = 0; n < 40; n += 1) await write(hostile, 'ENDLESS')
    await startWorkers(t, service, [endlessIndexer])
    await until(async () => computationLoad().running > 0)
    const { id } = await write(bea, text)
    await until(async () => (await found(bea, 'heron')).includes(id))
    const before = (await deadLetters(service)).length
    t.ok(before <= 1, `${before} computations of the other workspace ended before`)
  })
}

/** Starts a service with three documents that no worker has derived yet. The second is never indexed to the end. */
async function startWithEndless(t: Test, env: Record<string, string> = {}) {
  const service = await startTestService(t, { WORKER_CONCURRENCY: '1', WORKER_COMPUTE_MS: '300', ...env })
  const ada = await service.signUp()
  const ids = ['doc_a', 'doc_b', 'doc_c'] as [string, string, string]
  for (const [n, id] of ids.entries()) await write(ada, n === 1 ? 'heron ENDLESS' : 'heron', { id })
  const outcomes = () => outcomesOf(service, 'search.index')
  return { service, ada, ids, outcomes }
}

async function found(client: Parameters<typeof searchV2>[0], q: string): Promise<string[]> {
  const { results } = await searchV2(client, { q })
  return results.map((hit: { document_id: string }) => hit.document_id).sort()
}

const Text = row(Type.Object({ text: Type.String() }))

function deadLetters({ database }: TestService): Promise<readonly string[]> {
  return database.anyFirst(sql.type(Text)`
    SELECT data ->> 'document_id' AS text FROM pgboss.job WHERE name = 'search.index.dead'`)
}

function stateOf(db: Queryable, id: string): Promise<string> {
  return db.oneFirst(sql.type(Text)`
    SELECT state::text AS text FROM pgboss.job WHERE name IN ('search.index', 'search.index.large') AND data ->> 'document_id' = ${id}`)
}

/** Makes all jobs of the dead-letter queue older. */
async function age({ database }: TestService, pause: string, more: string): Promise<void> {
  await database.query(sql.unsafe`
    UPDATE pgboss.job SET created_on = now() - ${pause}::interval - ${more}::interval WHERE name = 'search.index.dead'`)
}

async function bury({ service }: TestService, data: object): Promise<void> {
  await service.jobs.boss.send('search.index.dead', data)
}
