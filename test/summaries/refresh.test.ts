import { queues } from '../../shared/jobs/queues.ts'
import { summaryRefresher } from '../../workers/summaries.ts'
import { summarySweep } from '../../workers/sweeps/summaries.ts'
import type { Client } from '../support/client.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { rewrite, startWorkers, write } from '../support/workers.ts'

t.test('deterministic summaries follow their sources where the operator wants it, all others stay', async (t) => {
  const service = await startTestService(t, { SUMMARY_AUTO_REFRESH: 'true' })
  const ada = await service.signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  const machine = await write(ada, '# One\n\nFirst.', { title: 'Machine', knowledge_base_id: base })
  const person = await write(ada, '# One\n\nFirst.', { title: 'Person', knowledge_base_id: base })
  const nobody = await write(ada, '# One\n\nFirst.', { title: 'Nobody', knowledge_base_id: base })
  const [heading] = (await ada.get(`/documents/${machine.id}/content`)).body.data.document.content
  const section = `/documents/${machine.id}/summary?block_id=${heading.attrs.id}`
  for (const path of [`/documents/${machine.id}`, `/knowledge-bases/${base}`]) await ada.post(`${path}/summary/rebuild`)
  await ada.post(section.replace('/summary', '/summary/rebuild'))
  const written = { text: 'By hand.', base_source_version: person.version }
  await ada.put(`/documents/${person.id}/summary`, written, { 'if-match': '*' })

  const { runtime } = await startWorkers(t, service, [summaryRefresher, summarySweep])
  const anchored = (await ada.get(`/documents/${machine.id}/content?format=markdown&annotate=anchors`)).body.data
    .content
  await rewrite(ada, machine.id, anchored.replace('First', 'Second'))
  for (const { id } of [person, nobody]) await rewrite(ada, id, '# One\n\nSecond.')
  await until(async () => (await read(ada, `/documents/${machine.id}/summary`)).freshness === 'current')
  t.match(await read(ada, `/documents/${machine.id}/summary`), {
    text: 'Machine\n\nOne\n\nSecond.',
    status: 'ready',
    generator: 'deterministic',
    summary_version: 2,
    updated_by: null,
  })
  t.match(await read(ada, section), { text: 'One\n\nSecond.', summary_version: 2, freshness: 'current' })
  t.match(await read(ada, `/documents/${nobody.id}/summary`), { status: 'fallback', summary_version: 0 })
  await ada.patch(`/documents/${machine.id}`, { title: 'Renamed' })
  await until(async () => (await read(ada, `/documents/${machine.id}/summary`)).text.startsWith('Renamed'))

  t.match(await read(ada, `/knowledge-bases/${base}/summary`), { freshness: 'stale', summary_version: 1 })
  await runtime.jobs.boss.send(queues.sweepSummaries.name, {})
  await until(async () => (await read(ada, `/knowledge-bases/${base}/summary`)).freshness === 'current')
  t.match(await read(ada, `/knowledge-bases/${base}/summary`), { text: /Renamed: Second/, summary_version: 2 })
  t.match(await read(ada, `/documents/${person.id}/summary`), { text: 'By hand.', freshness: 'stale' })
})

async function read(client: Client, path: string) {
  return (await client.get(path)).body.data
}
