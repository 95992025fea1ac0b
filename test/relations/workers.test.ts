import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { changesProjection } from '../../workers/changes.ts'
import { relationExtractor, relationsProjection } from '../../workers/relations.ts'
import { defineProjection } from '../../workers/runtime/projection.ts'
import type { Worker } from '../../workers/runtime/runtime.ts'
import { Follower } from '../changes/follower.ts'
import { p, text } from '../document/build.ts'
import { make, put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { defineDisturbed, startWorkers } from '../support/workers.ts'

t.test('links that change while they are read are read again, and no outdated one is ever stored', async (t) => {
  const { ada, hub, run, stored } = await start(t)
  let rounds = 0
  const moving = defineDisturbed(relationsProjection, {
    beforeCommit: async ({ document_id }) => {
      if (document_id !== 'doc_source') return
      rounds += 1
      if (rounds === 1) await put(ada, document_id, [linkTo(hub.id, 'second')])
    },
  })
  await make(ada, [linkTo(hub.id, 'first')], { id: 'doc_source' })
  await run(moving)
  t.strictSame(await stored(), ['second'])
})

t.test('links that never stand still are stored as far as they are known, and owned up to as stale', async (t) => {
  const { ada, hub, run, stored } = await start(t)
  const seen: unknown[] = []
  let rounds = 0
  const moving = defineDisturbed(relationsProjection, {
    beforeCommit: async ({ document_id }) => {
      if (document_id !== 'doc_source') return
      rounds += 1
      if (rounds <= 3) await put(ada, document_id, [linkTo(hub.id, `round ${rounds}`)])
      if (rounds === 4) seen.push((await ada.get(`/documents/${hub.id}/relations`)).body.data)
    },
  })
  await make(ada, [linkTo(hub.id, 'first')], { id: 'doc_source' })
  await run(moving)
  t.match(seen, [[{ anchor_text: 'round 2', projection_freshness: 'stale', status: 'dangling_source_block' }]])
  t.strictSame(await stored(), ['round 3'])
})

t.test('a document that is deleted while its links are read leaves none', async (t) => {
  const { ada, hub, run, stored } = await start(t)
  const moving = defineDisturbed(relationsProjection, {
    beforeCommit: async ({ document_id }) => {
      if (document_id === 'doc_source') await ada.delete(`/documents/${document_id}`)
    },
  })
  await make(ada, [linkTo(hub.id, 'first')], { id: 'doc_source' })
  await run(moving)
  t.strictSame(await stored(), [])
})

t.test('links are the same after their document was read twice', async (t) => {
  const { ada, hub, run, again } = await start(t)
  await make(ada, [linkTo(hub.id, 'one')], { id: 'doc_source' })
  await run(relationExtractor)
  const { data } = (await ada.get(`/documents/${hub.id}/relations`)).body
  await again('doc_source')
  await run(relationExtractor)
  t.equal(data.length, 1)
  t.strictSame((await ada.get(`/documents/${hub.id}/relations`)).body.data, data)
})

t.test('the chain has no gap when the document is written while the chain grows', async (t) => {
  const { service, ada, run, again } = await start(t, { CHANGES_WAIT_MS: '0' })
  const made = await make(ada, [p('first')], { id: 'doc_source' })
  const follower = await new Follower(ada, made.id).begin()
  let rounds = 0
  const moving = defineDisturbed(changesProjection(service.config), {
    beforeCommit: async ({ document_id }) => {
      if (document_id !== 'doc_source') return
      rounds += 1
      if (rounds <= 7) await put(ada, document_id, [p(`round ${rounds}`)])
    },
  })
  await put(ada, made.id, [p('second')])
  await run(moving)
  t.ok(rounds > 3, 'it was written in every round of the first job')
  t.equal(await follower.follow(), 16, 'eight writes, each with a block that went and one that came')
  t.strictSame(follower.manifest, (await new Follower(ada, made.id).begin()).manifest)

  await again('doc_source')
  await run(defineProjection(changesProjection(service.config)))
  t.equal(await follower.follow(), 0, 'a job that comes twice adds nothing')
  await put(ada, made.id, [p('last')])
  await run(defineProjection(changesProjection(service.config)))
  t.equal(await follower.follow(), 2)
})

t.test('a chain that lacks large changes grows part by part, and a client gets all of them in order', async (t) => {
  const { service, ada, run } = await start(t, { CHANGES_WAIT_MS: '0' })
  const made = await make(ada, [p('first')], { id: 'doc_source' })
  const follower = await new Follower(ada, made.id).begin()
  // The hashes of a write keep a manifest from being compressed to nothing.
  for (let write = 0; write < 6; write += 1) {
    const blocks = Array.from({ length: 1500 }, (_, index) => p(`write ${write} of block ${index}`))
    await put(ada, made.id, blocks)
  }
  const projection = changesProjection(service.config)
  const lengths: number[] = []
  const load: typeof projection.load = async (db, jobs) => {
    const sources = await projection.load(db, jobs)
    const source = sources.get('doc_source')
    if (source !== undefined) lengths.push(source.manifests.length)
    return sources
  }
  await run(defineProjection({ ...projection, load }))
  t.ok(lengths.length > 2, `${lengths.length} loads`)
  t.ok(Math.max(...lengths) < 4, `at most ${Math.max(...lengths)} manifests at a time`)
  await follower.follow()
  t.strictSame(follower.manifest, (await new Follower(ada, made.id).begin()).manifest)
  t.strictSame(
    await service.database.any(sql.type(StaleRow)`
    SELECT document_id FROM stale_projections WHERE projection = 'changes'`),
    [],
  )
})

const StaleRow = row(Type.Object({ document_id: Type.String() }))

async function start(t: Test, env: Record<string, string> = {}) {
  const service = await startTestService(t, env)
  const ada = await service.signUp()
  const hub = await make(ada, [p('hub')], { id: 'doc_hub' })
  return {
    service,
    ada,
    hub,
    /** Runs a worker until it has nothing left to do. */
    async run(worker: Worker) {
      const { stop } = await startWorkers(t, service, [worker])
      await until(async () => (await service.database.any(openJobs(worker.name))).length === 0)
      await stop()
    },
    /** Enqueues the jobs of a document once more. */
    async again(documentId: string) {
      const data = { workspace_id: ada.workspace_id, document_id: documentId }
      for (const queue of [queues.changesDiff, queues.relationsExtract]) {
        await service.service.jobs.boss.send(queue.name, data, { singletonKey: documentId })
      }
    },
    /** Returns the texts of the stored inline relations. */
    stored: () =>
      service.database.anyFirst(sql.type(row(Type.Object({ anchor_text: Type.String() })))`
        SELECT anchor_text FROM relations ORDER BY created_at`),
  }
}

function openJobs(name: string) {
  return sql.type(row(Type.Object({ id: Type.String() })))`
    SELECT id::text FROM pgboss.job WHERE name IN (${name}, ${`${name}.large`}) AND state IN ('created', 'retry', 'active')`
}

function linkTo(documentId: string, value: string) {
  return p(text(value, { type: 'link', attrs: { href: `svc://doc/${documentId}` } }))
}
