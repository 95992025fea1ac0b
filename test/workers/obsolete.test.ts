import Type from 'typebox'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
import { computeIndex, loadIndexSources, writeIndexes } from '../../shared/search/index/index-document.ts'
import { searchIndexer, searchProjection } from '../../workers/search.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { defineDisturbed, outcomesOf, rewrite, startWorkers, untilFresh, write } from '../support/workers.ts'

t.test('a text that changes while it is indexed is indexed as it is now, never as it was', async (t) => {
  const { ada, id, work, written, outcomes } = await startWithDocument(t)
  const worker = await work(async (round) => {
    if (round === 1) await rewrite(ada, id, 'second')
  })
  await untilFresh(ada)
  await worker.stop()
  t.same(
    written.map(textOf),
    written.map(() => 'second'),
    'the text that was loaded first was never written',
  )
  t.ok(written.length > 0)
  t.equal((await searchV2(ada, { q: 'second' })).results.length, 1)
  t.strictSame((await searchV2(ada, { q: 'first' })).results, [])
  t.match(await outcomes(), { behind: undefined, obsolete: undefined, failed: undefined })
})

t.test('a text that never stands still is indexed as far as it is known, and owned up to as stale', async (t) => {
  const { ada, id, work, written, outcomes } = await startWithDocument(t)
  const seen: unknown[] = []
  const worker = await work(async (round) => {
    if (round <= 3) await rewrite(ada, id, `text${round}`)
    else if (round === 4) seen.push(written.map(textOf), await searchV2(ada, { q: 'text2' }))
  })
  await untilFresh(ada)
  await worker.stop()
  const [before, answer] = seen
  t.strictSame(before, ['text2'], 'after three rounds what is newer than nothing is written')
  t.match(answer, { results: [], projection: { stale_document_ids: [id], complete: false } }, 'but it does not count')
  t.equal(textOf(written.at(-1)), 'text3', 'the job of the last write was waiting')
  t.equal((await searchV2(ada, { q: 'text3' })).results.length, 1)
  t.match(await outcomes(), { behind: 1, failed: undefined })
})

t.test('an older state is never written over a newer one', async (t) => {
  const { ada, id, work, written, outcomes, service } = await startWithDocument(t)
  const first = await startWorkers(t, service, [searchIndexer])
  await untilFresh(ada)
  await first.stop()

  await ada.patch(`/documents/${id}`, { title: 'title0' })
  const before: number[] = []
  const worker = await work(async (round) => {
    if (round <= 3) await ada.patch(`/documents/${id}`, { title: `title${round}` })
    else before.push(written.length)
  })
  await untilFresh(ada)
  await worker.stop()
  t.equal(before[0], 0, 'the same text under an older title was dropped')
  t.same(
    written.map(({ title }) => title),
    written.map(() => 'title3'),
  )
  t.match((await searchV2(ada, { q: 'title3' })).results, [{ matched_in: 'title' }])
  t.match(await outcomes(), { obsolete: 1, failed: undefined })
})

t.test('a document that is deleted while it is indexed leaves nothing behind', async (t) => {
  const { ada, id, work, written, outcomes, service } = await startWithDocument(t)
  const worker = await work(async () => {
    await ada.delete(`/documents/${id}`)
  })
  await until(async () => (await unfinishedJobs(service)) === 0)
  await worker.stop()
  t.strictSame(written, [])
  t.equal(await rowsOf(service, id), 0)
  t.match(await outcomes(), { gone: 1, failed: undefined })
})

t.test('a title that changes while its text is indexed is the one that is found', async (t) => {
  const { ada, id, work, written } = await startWithDocument(t)
  const worker = await work(async (round) => {
    if (round === 1) await ada.patch(`/documents/${id}`, { title: 'Renamed' })
  })
  await untilFresh(ada)
  await worker.stop()
  t.same(
    written.map(({ title }) => title),
    written.map(() => 'Renamed'),
  )
  t.equal((await searchV2(ada, { q: 'renamed' })).results.length, 1)
  t.strictSame((await searchV2(ada, { q: 'untitled' })).results, [])
})

t.test('an index that somebody else brought further meanwhile is started from, not overwritten', async (t) => {
  const { ada, id, work, written, outcomes, service } = await startWithDocument(t)
  const worker = await work(async (round, job) => {
    if (round === 2) await rewrite(ada, id, 'elsewhere')
    if (round <= 2) await indexElsewhere(service, job)
  })
  await untilFresh(ada)
  await worker.stop()
  t.same(
    written.map(textOf),
    written.map(() => 'elsewhere'),
  )
  t.equal((await searchV2(ada, { q: 'elsewhere' })).results.length, 1)
  t.match(await outcomes(), { failed: undefined })
})

t.test('a worker that was thought dead cannot write over the one that took its job', async (t) => {
  const { ada, id, work, service, outcomes } = await startWithDocument(t)
  let reached = 0
  const gate = Promise.withResolvers<void>()
  // The process of the first attempt may claim the job again and finish it.
  const sleeper = await work(async () => {
    reached += 1
    if (reached === 1) await gate.promise
  })
  await until(async () => reached === 1)
  // Supervision does the same to a job whose heartbeat is missing.
  await service.database.query(sql.unsafe`
    UPDATE pgboss.job SET state = 'retry', start_after = now() WHERE name = 'search.index'`)
  const successor = await startWorkers(t, service, [searchIndexer])
  await untilFresh(ada)
  await successor.stop()
  const before = await indexedVersions(service, id)
  gate.resolve()
  await sleeper.stop()
  t.strictSame(await indexedVersions(service, id), before, 'what the sleeper wrote was rolled back')
  t.match(await outcomes(), { fenced: 1, failed: undefined })
  t.equal(await unfinishedJobs(service), 0)
})

type Written = { title: string; body: string }

/** Starts a service with one document that no worker has derived yet. */
async function startWithDocument(t: Test) {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id } = await write(ada, 'first')
  const written: Written[] = []

  /** Starts a search worker that calls `beforeCommit` in every round of every job, counted from 1. */
  function work(beforeCommit: (round: number, job: DocumentJob) => Promise<void>) {
    let round = 0
    const projection: typeof searchProjection = {
      ...searchProjection,
      async write(tx, derived) {
        await searchProjection.write(tx, derived)
        for (const { source } of derived) written.push({ title: source.title, body: source.body })
      },
    }
    const hooks = {
      beforeCommit(job: DocumentJob) {
        round += 1
        return beforeCommit(round, job)
      },
    }
    return startWorkers(t, service, [defineDisturbed(projection, hooks)])
  }

  const outcomes = () => outcomesOf(service, 'search.index')
  return { service, ada, id, work, written, outcomes }
}

function textOf(written: Written | undefined): string | undefined {
  return /"text":"([^"]*)"/.exec(written?.body ?? '')?.[1]
}

/** Brings the index up to date without a job, as another worker with a job of the same document would. */
async function indexElsewhere({ database }: TestService, job: DocumentJob): Promise<void> {
  const source = (await loadIndexSources(database, [job])).get(job.document_id)
  if (source === undefined) throw new Error('The document is gone')
  const result = computeIndex(job, source)
  await inTransaction(database, (tx) => writeIndexes(tx, [{ job, source, result }]))
}

const IndexedRow = row(Type.Object({ source_version: Type.String(), title: Type.String(), xmin: Type.String() }))

function indexedVersions({ database }: TestService, id: string) {
  return database.any(sql.type(IndexedRow)`
    SELECT source_version, title, xmin::text FROM search_documents WHERE document_id = ${id}`)
}

const CountRow = row(Type.Object({ count: Type.Number() }))

function unfinishedJobs({ database }: TestService): Promise<number> {
  return database.oneFirst(sql.type(CountRow)`
    SELECT count(*) AS count FROM pgboss.job WHERE name = 'search.index' AND state <> 'completed'`)
}

function rowsOf({ database }: TestService, id: string): Promise<number> {
  return database.oneFirst(sql.type(CountRow)`
    SELECT (SELECT count(*) FROM search_documents WHERE document_id = ${id})
      + (SELECT count(*) FROM search_blocks WHERE document_id = ${id})
      + (SELECT count(*) FROM stale_projections WHERE document_id = ${id}) AS count`)
}
