import { computationLoad } from '../../shared/computations/compute.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { summaryWriter } from '../../workers/summaries.ts'
import { summarySweep } from '../../workers/sweeps/summaries.ts'
import type { Client } from '../support/client.ts'
import { startModelStub } from '../support/model-stub.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers, write } from '../support/workers.ts'

// Each document alone is large enough for a thread.
const large = `# Words\n\n${`${'Some more words. '.repeat(50)}\n\n`.repeat(400)}\n# End\n\nThe end.\n`

t.test('a folder of large documents is prepared for a model in a thread, where it can be ended', async (t) => {
  const { ada, folder, ended, work } = await start(t)
  await work()
  const before = computationLoad().ends.done
  t.match(await ended(await ask(ada, `/folders/${folder}`)), { status: 'succeeded' })
  t.equal(computationLoad().ends.done, before + 1)
})

t.test('the sweep makes the summary of a folder of large documents in a thread', onlyLong, async (t) => {
  const { ada, folder, work } = await start(t, { SUMMARY_AUTO_REFRESH: 'true' })
  const path = `/folders/${folder}/summary`
  t.equal((await ada.post(`${path}/rebuild`, {})).status, 200)
  await write(ada, large, { folder_id: folder })
  const { runtime } = await work()
  const before = computationLoad().ends.done
  await runtime.jobs.boss.send(queues.sweepSummaries.name, {})
  await until(async () => (await ada.get(path)).body.data.freshness === 'current')
  t.match((await ada.get(path)).body.data, { generator: 'deterministic', coverage: { total_documents: 2 } })
  t.equal(computationLoad().ends.done, before + 1)
})

t.test('nobody waits at the lock while a worker looks for a section of a large document', async (t) => {
  const { ada, stub, document, ended, work } = await start(t)
  await work()
  const blocks = (await ada.get(`/documents/${document}/blocks`)).body.data
  const heading = blocks.find((block: { text: string }) => block.text === 'End').block_id
  const release = stub.hold()
  const job = await ask(ada, `/documents/${document}`, `?block_id=${heading}`)
  await until(async () => stub.requests.length === 1)
  // Another section changes, so the section has to be compared, and it is the same.
  const change = { content: [{ type: 'text', text: 'Changed.' }] }
  t.equal((await ada.patch(`/documents/${document}/blocks/${blocks[1].block_id}`, change)).status, 200)
  const before = computationLoad().ends.done
  release({ text: 'The end of the words.' })
  t.match(await ended(job), { status: 'succeeded' })
  t.equal(computationLoad().ends.done, before + 1)
})

t.test('whoever reads or makes the summary of a large document or section holds nobody up', async (t) => {
  const { ada, document } = await start(t)
  const blocks = (await ada.get(`/documents/${document}/blocks`)).body.data
  const heading = blocks.find((block: { text: string }) => block.text === 'Words').block_id
  const path = `/documents/${document}/summary`
  for (const query of ['', `?block_id=${heading}`]) {
    for (const call of [() => ada.get(`${path}${query}`), () => ada.post(`${path}/rebuild${query}`, {})]) {
      const before = computationLoad().ends.done
      const { status, body } = await call()
      t.match({ status, text: body.data.text }, { status: 200, text: /words/ })
      t.ok(computationLoad().ends.done > before)
    }
  }
})

t.test('whoever makes the summary of a folder of large documents holds nobody up', onlyLong, async (t) => {
  const { ada, folder } = await start(t)
  const { id } = await write(ada, large, { folder_id: folder })
  const before = computationLoad().ends.done
  const { status, body } = await ada.post(`/folders/${folder}/summary/rebuild`, {})
  t.match({ status, data: body.data }, { status: 200, data: { text: /words/, coverage: { total_documents: 2 } } })
  t.ok(body.data.source_document_ids.includes(id))
  t.equal(computationLoad().ends.done, before + 1)
  t.equal((await ada.post(`/folders/${folder}/summary/rebuild`, {})).status, 200)
  t.equal(computationLoad().ends.done, before + 1, 'the digests were stored')
})

async function start(t: Test, env: Record<string, string> = {}) {
  const stub = await startModelStub(t)
  const service = await startTestService(t, { ...stub.env, ...env })
  const ada = await service.signUp()
  const base = await ada.post('/knowledge-bases', { name: 'Words' })
  const knowledge_base_id = base.body.data.id
  const made = await ada.post('/folders', { name: 'Large', knowledge_base_id })
  const folder: number = made.body.data.id
  const { id: document } = await write(ada, large, { knowledge_base_id, folder_id: folder })
  return {
    ada,
    stub,
    folder,
    document,
    work: () => startWorkers(t, service, [summaryWriter, summarySweep]),
    async ended(id: string) {
      const read = async () => (await ada.get(`/summary-jobs/${id}`)).body.data
      await until(async () => !['pending', 'running'].includes((await read()).status))
      return read()
    },
  }
}

/** Requests a summary by the model and returns the id of the job. */
async function ask(client: Client, path: string, query = ''): Promise<string> {
  const reply = await client.post(`${path}/summary/rebuild${query}`, { generator: 'model' })
  if (reply.status !== 202) throw new Error(`${reply.status} ${reply.text}`)
  return reply.body.data.id
}
