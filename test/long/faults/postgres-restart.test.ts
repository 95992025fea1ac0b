import { setTimeout as sleep } from 'node:timers/promises'
import { queues } from '../../../shared/jobs/queues.ts'
import { createDocument, type Site, search, startSite, until, writeDocument } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('PostgreSQL restarts under load: every process goes on and no acknowledged write is missing', async (t) => {
  const site = await startSite(t)
  const workers = [await site.work('search'), await site.work('events'), await site.work('sweeps')]
  const processes = [site.api, ...workers]
  const dead: number[] = []
  for (const { pid, ended } of processes) void ended.then(() => dead.push(pid))

  const load = startLoad(site)
  await load.reaches(20)
  await site.stopPostgres()
  await load.isRefused()
  await site.startPostgres()
  await load.reaches(load.acknowledged.size + 20)
  await load.stop()
  t.same(dead, [], 'no process has died')
  t.ok(
    [...load.refusals].every((status) => status >= 500),
    `refused with ${[...load.refusals]}`,
  )
  t.comment(`${load.acknowledged.size} documents written`)

  t.same(await lost(site, load.acknowledged), [], 'what was acknowledged is there')
  await until(async () => (await search(site, 'anything')).projection.complete)
  t.same(await unfound(site, load.acknowledged), [], 'and is found')
  await until(async () => (await site.ask('SELECT FROM events WHERE event_id IS NULL')).length === 0)

  const swept = () => (workers[2]?.output().match(/"msg":"swept"/g) ?? []).length
  const sweptBefore = swept()
  await site.send(queues.sweepStale)
  await until(async () => swept() > sweptBefore)
  t.same(dead, [], 'no process has died')
})

async function lost(site: Site, acknowledged: Map<string, string>): Promise<string[]> {
  const missing: string[] = []
  for (const [id, text] of acknowledged) {
    const { body } = await site.client.get(`/documents/${id}/content?format=markdown`)
    if (body.data?.content.trim() !== text) missing.push(text)
  }
  return missing
}

async function unfound(site: Site, acknowledged: Map<string, string>): Promise<string[]> {
  const missing: string[] = []
  for (const [id, text] of acknowledged) {
    const { results } = await search(site, text)
    if (results[0]?.document_id !== id) missing.push(text)
  }
  return missing
}

/** Four clients at once that create documents and replace their bodies, and that record the answers. */
function startLoad(site: Site) {
  const acknowledged = new Map<string, string>()
  const refusals = new Set<number>()
  let refused = 0
  let running = true
  const note = (status: number) => {
    if (status < 300) return
    refused += 1
    refusals.add(status)
  }
  async function writer(name: string): Promise<void> {
    for (let number = 1; running; number += 1) {
      const first = await createDocument(site, `first${name}n${number}`).catch((error: Error) =>
        Number.parseInt(error.message, 10),
      )
      if (typeof first === 'number') {
        note(first)
        await sleep(50)
        continue
      }
      acknowledged.set(first.id, `first${name}n${number}`)
      const reply = await writeDocument(site, first, `second${name}n${number}`)
      note(reply.status)
      if (reply.status === 200) acknowledged.set(first.id, `second${name}n${number}`)
      // A write without an answer may or may not have happened. The service promises nothing about it.
      else acknowledged.delete(first.id)
    }
  }
  const writers = ['a', 'b', 'c', 'd'].map(writer)
  return {
    acknowledged,
    refusals,
    reaches: (count: number) => until(async () => acknowledged.size >= count),
    isRefused: () => until(async () => refused > 3),
    async stop() {
      running = false
      await Promise.all(writers)
    },
  }
}
