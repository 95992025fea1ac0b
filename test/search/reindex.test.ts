import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { sql } from '../../shared/database/database.ts'
import { queues, type ReindexJob } from '../../shared/jobs/queues.ts'
import { firstStep, reindexStep } from '../../shared/search/index/reindex.ts'
import { tokeniserEpoch } from '../../shared/search/text/tokenise.ts'
import { searchIndexer } from '../../workers/search.ts'
import { searchReindexer } from '../../workers/sweeps/reindex.ts'
import { root } from '../support/processes.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers, untilFresh, write } from '../support/workers.ts'

t.test('what an older tokeniser indexed is found, and owned up to, until it is indexed again', async (t) => {
  const { service, ada, ids } = await startWithDocuments(t)
  const { projection: before } = await searchV2(ada, { q: 'heron' })
  t.match(before, { complete: true })
  await service.database.query(sql.unsafe`UPDATE search_documents SET epoch = ${tokeniserEpoch - 1}`)
  for (const mode of ['topk', 'exhaustive']) {
    const { results, projection } = await searchV2(ada, { q: 'heron', mode })
    t.equal(results.length, 3, 'their text is current')
    t.match(projection, {
      complete: false,
      freshness: 'stale',
      document_count: 3,
      current_document_count: 0,
      stale_document_count: 3,
      stale_document_ids: ids,
      watermark: before.watermark,
    })
  }
  await startWorkers(t, service, [searchReindexer])
  await service.service.jobs.boss.send(
    queues.searchReindex.name,
    firstStep({ documents: 'outdated', knowledge_base_id: null }),
  )
  await untilFresh(ada)
  const { results, projection } = await searchV2(ada, { q: 'heron' })
  t.equal(results.length, 3)
  t.match(projection, { complete: true, watermark: before.watermark })
})

t.test('an operator has one knowledge base indexed again, down to the last row', async (t) => {
  const { service, ada, base, ids } = await startWithDocuments(t)
  const elsewhere: number = (await ada.post('/knowledge-bases', { name: 'Elsewhere' })).body.data.id
  const other = await write(ada, 'an egret', { knowledge_base_id: elsewhere })
  await untilFresh(ada)
  await service.database.query(sql.unsafe`UPDATE search_blocks SET body = 'damaged', tsv = ''`)
  t.strictSame((await searchV2(ada, { q: 'heron' })).results, [])
  const command = () => reindex(service, '--knowledge-base', String(base))
  t.match(await command(), { documents: 'all', knowledge_base_id: base, running_already: false })
  t.match(await command(), { running_already: true }, 'it is not started twice')
  await startWorkers(t, service, [searchReindexer])
  await until(async () => (await searchV2(ada, { q: 'heron' })).results.length === ids.length)
  t.strictSame((await searchV2(ada, { q: 'egret' })).results, [], 'others are left alone')
  await until(async () => (await reindex(service)).running_already === false)
  await until(async () => (await searchV2(ada, { q: 'egret' })).results[0]?.document_id === other.id)
  await t.rejects(reindex(service, '--knowledge-base', 'x'), /takes an id/)
})

t.test('a reindex goes on where it was, and waits while writes are behind', async (t) => {
  const { service, ids } = await startWithDocuments(t, { workers: false })
  const { database, jobs } = service.service
  const all = firstStep({ documents: 'all', knowledge_base_id: null })
  const one = await reindexStep(database, all)
  t.strictSame(one.documents.map(({ document_id }) => document_id).sort(), ids)
  t.match(one.next, { enqueued: 3, after: one.documents.at(-1) })
  const rest = await reindexStep(database, { ...(one.next as ReindexJob), after: one.documents[0] ?? null })
  t.strictSame(rest.documents, one.documents.slice(1))
  t.strictSame(await reindexStep(database, one.next as ReindexJob), { documents: [], next: null })
  const waiting = Array.from({ length: 500 }, (_, index) => ({ data: {}, singletonKey: `doc ${index}` }))
  await jobs.boss.insert(queues.searchIndex.name, waiting)
  t.strictSame(await reindexStep(database, all), { documents: [], next: all })
})

/** Three documents in one knowledge base, indexed. */
async function startWithDocuments(t: Test, options = { workers: true }) {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const base: number = (await ada.post('/knowledge-bases', { name: 'Birds' })).body.data.id
  const written = [1, 2, 3].map((count) => write(ada, `${count} heron`, { knowledge_base_id: base }))
  const ids = (await Promise.all(written)).map(({ id }) => id).sort()
  if (options.workers) {
    await startWorkers(t, service, [searchIndexer])
    await untilFresh(ada)
  }
  return { service, ada, base, ids }
}

async function reindex({ url, config }: TestService, ...words: string[]) {
  const env = { ...process.env, NODE_OPTIONS: '', DATABASE_URL: url, DATA_DIR: config.DATA_DIR }
  const { stdout } = await promisify(execFile)(process.execPath, ['shared/search/index/reindex-command.ts', ...words], {
    cwd: root,
    env,
  })
  return JSON.parse(stdout)
}
