import Type from 'typebox'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
import { enqueueStep, firstStep } from '../../shared/search/index/reindex.ts'
import { defineProjection } from '../../workers/runtime/projection.ts'
import { searchIndexer, searchProjection } from '../../workers/search.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { defineDisturbed, outcomesOf, rewrite, startWorkers, untilFresh, write } from '../support/workers.ts'

t.test('of documents that are indexed together, one that changes meanwhile is indexed as it is now', async (t) => {
  const { ada, ids, work, batches, outcomes } = await startWithDocuments(t)
  const [first, moving, last] = ids
  let moved = false
  const worker = await work(async ({ document_id }) => {
    if (document_id !== moving || moved) return
    moved = true
    await rewrite(ada, document_id, 'heron second')
  })
  await untilFresh(ada)
  await worker.stop()
  t.strictSame(batches[0], [first, last], 'the others were written together, without it')
  t.strictSame(await found(ada, 'second'), [moving])
  t.strictSame(await found(ada, 'heron'), ids)
  t.strictSame(await found(ada, 'first'), [first, last])
  t.match(await outcomes(), { failed: undefined, behind: undefined, obsolete: undefined })
})

t.test('a document that cannot be indexed spoils no other, and is tried again by itself', async (t) => {
  const { service, ada, ids, outcomes } = await startWithDocuments(t)
  const [first, poisonous, last] = ids
  const failing: typeof searchProjection = {
    ...searchProjection,
    async write(tx, derived) {
      await searchProjection.write(tx, derived)
      if (derived.some(({ job }) => job.document_id === poisonous)) await tx.query(sql.unsafe`SELECT 1 / 0`)
    },
  }
  const broken = await startWorkers(t, service, [defineProjection(failing)])
  await until(async () => (await staleDocuments(service)).length === 1)
  await until(async () => (await retriedJobs(service)).length === 1)
  await broken.stop()
  t.strictSame(await staleDocuments(service), [poisonous])
  t.strictSame(await retriedJobs(service), [poisonous])
  t.strictSame(await found(ada, 'heron'), [first, last])
  const { current, failed = 0 } = await outcomes()
  t.equal(current, 2)
  t.ok(failed > 0)

  await rewrite(ada, poisonous, 'heron harmless')
  await service.database.query(sql.unsafe`UPDATE pgboss.job SET start_after = now() WHERE state < 'active'`)
  await startWorkers(t, service, [searchIndexer])
  await untilFresh(ada)
  t.strictSame(await found(ada, 'heron'), ids)
})

t.test('of documents that are indexed together, only those are written whose jobs nobody took over', async (t) => {
  const { service, ada, ids, work, batches, outcomes } = await startWithDocuments(t)
  const [first, taken, last] = ids
  const worker = await work(async ({ document_id }) => {
    if (document_id !== taken) return
    // Supervision does the same to a job whose heartbeat is missing.
    await service.database.query(sql.unsafe`
      UPDATE pgboss.job SET state = 'retry', start_after = now() + interval '1 hour'
      WHERE state = 'active' AND data ->> 'document_id' = ${taken}`)
  })
  await until(async () => (await staleDocuments(service)).length === 1)
  await worker.stop()
  t.strictSame(batches.flat().sort(), [first, last])
  t.strictSame(await staleDocuments(service), [taken])
  t.strictSame(await found(ada, 'heron'), [first, last])
  t.match(await outcomes(), { current: 2, fenced: 1, failed: undefined })

  await service.database.query(sql.unsafe`UPDATE pgboss.job SET start_after = now() WHERE state = 'retry'`)
  await startWorkers(t, service, [searchIndexer])
  await untilFresh(ada)
  t.strictSame(await found(ada, 'heron'), ids)
})

t.test('a document that is deleted while it is indexed with others is all that is missing', async (t) => {
  const { service, ada, ids, work, outcomes } = await startWithDocuments(t)
  const [first, deleted, last] = ids
  const worker = await work(async ({ document_id }) => {
    if (document_id === deleted) await ada.delete(`/documents/${deleted}`)
  })
  await until(async () => (await unfinishedJobs(service)).length === 0)
  await worker.stop()
  t.strictSame(await found(ada, 'heron'), [first, last])
  t.strictSame(await staleDocuments(service), [])
  t.match(await outcomes(), { current: 2, gone: 1, failed: undefined })
})

t.test('documents are indexed while somebody is still writing one that was fetched with them', async (t) => {
  const { service, ada, ids, work } = await startWithDocuments(t)
  const [first, busy, last] = ids
  const [locked, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = service.database.transaction(async (tx) => {
    await tx.query(sql.unsafe`SELECT FROM documents WHERE id = ${busy} FOR UPDATE`)
    locked.resolve()
    await written.promise
  })
  await locked.promise
  const worker = await work()
  await until(async () => (await staleDocuments(service)).length === 1)
  t.strictSame(await staleDocuments(service), [busy])
  t.strictSame(await found(ada, 'heron'), [first, last])
  written.resolve()
  await writing
  await untilFresh(ada)
  await worker.stop()
  t.strictSame(await found(ada, 'heron'), ids)
})

t.test('several jobs of one document are no reason to fail, nor to index it with itself', async (t) => {
  const { service, ada, ids, work, batches, outcomes } = await startWithDocuments(t)
  const documents = ids.map((document_id) => ({ workspace_id: ada.workspace_id, document_id }))
  const { jobs } = service.service
  for (const kind of ['all', 'outdated'] as const) {
    const job = firstStep({ documents: kind, knowledge_base_id: null })
    await inTransaction(service.database, (tx) => enqueueStep({ tx, jobs }, { job, step: { documents, next: null } }))
  }
  t.equal((await unfinishedJobs(service)).length, 9)
  const worker = await work()
  await until(async () => (await unfinishedJobs(service)).length === 0)
  await worker.stop()
  for (const batch of batches) t.equal(new Set(batch).size, batch.length)
  t.strictSame(await found(ada, 'heron'), ids)
  t.strictSame(await staleDocuments(service), [])
  t.strictSame(await outcomes(), { current: 9 })
})

t.test('a sentence is not indexed behind a book that was fetched with it', async (t) => {
  const { ada, ids, work, batches } = await startWithDocuments(t)
  const book = await write(ada, `heron ${'a long book '.repeat(40_000)}`, { id: 'doc_a_book' })
  const worker = await work()
  await untilFresh(ada)
  await worker.stop()
  t.strictSame(batches, [[...ids], [book.id]])
  t.strictSame(await found(ada, 'heron'), [book.id, ...ids])
})

/** Starts a service with three documents, in the order of their ids, that no worker has derived yet. */
async function startWithDocuments(t: Test) {
  // With two loops it would be chance which loop fetches which jobs.
  const service = await startTestService(t, { WORKER_CONCURRENCY: '1' })
  const ada = await service.signUp()
  const ids = ['doc_b_1', 'doc_b_2', 'doc_b_3'] as const
  for (const id of ids) await write(ada, 'heron first', { id })
  const batches: string[][] = []

  /** Starts a search worker that notes which documents it writes together. */
  function work(beforeCommit: (job: DocumentJob) => Promise<void> = async () => {}) {
    const projection: typeof searchProjection = {
      ...searchProjection,
      async write(tx, derived) {
        await searchProjection.write(tx, derived)
        batches.push(derived.map(({ job }) => job.document_id))
      },
    }
    return startWorkers(t, service, [defineDisturbed(projection, { beforeCommit })])
  }

  const outcomes = () => outcomesOf(service, 'search.index')
  return { service, ada, ids, work, batches, outcomes }
}

/** Searches for a word and returns the documents that are found, in the order of their ids. */
async function found(ada: Awaited<ReturnType<TestService['signUp']>>, q: string): Promise<string[]> {
  const { results } = await searchV2(ada, { q, limit: 50 })
  return results.map(({ document_id }: { document_id: string }) => document_id).sort()
}

const IdRow = row(Type.Object({ document_id: Type.String() }))

function staleDocuments({ database }: TestService) {
  return database.anyFirst(sql.type(IdRow)`
    SELECT document_id FROM stale_projections WHERE projection = 'search' ORDER BY document_id`)
}

function retriedJobs({ database }: TestService) {
  return database.anyFirst(sql.type(IdRow)`
    SELECT data ->> 'document_id' AS document_id FROM pgboss.job
    WHERE name = 'search.index' AND (state = 'retry' OR retry_count > 0)`)
}

function unfinishedJobs({ database }: TestService) {
  return database.anyFirst(sql.type(IdRow)`
    SELECT data ->> 'document_id' AS document_id FROM pgboss.job
    WHERE name = 'search.index' AND state <> 'completed'`)
}
