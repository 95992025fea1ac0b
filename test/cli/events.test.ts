import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { workersOf } from '../../workers/types.ts'
import { commandLine } from '../support/command-line.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const model = await startModelStub(t)
const service = await startTestService(t, { ...model.env, SSE_HEARTBEAT_SECONDS: '1' })
await startWorkers(t, service, workersOf(['events', 'summaries']))
const ada = await service.signUp()
const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data
const person = commandLine(t, { origin: service.origin, token: ada.token })

t.test('a person follows the changes, and goes on where the last run ended', async (t) => {
  const tail = person.start(['events', '--count', '2'])
  await until(async () => tail.printed().err.includes('following'))
  const { id } = await made('Elephants')
  await ada.patch(`/documents/${id}`, { title: 'Giraffes' })
  const { code, out } = await tail.ended
  t.equal(code, 0)
  t.match(out, new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  created +Elephants  ${id} #\\d+\n`))
  t.match(out, /metadata\.updated {2}Giraffes/)

  const cursor = join(person.directory, 'cursor')
  const words = ['events', '--json', '--cursor', cursor, '--count', '1']
  const first = await person.run([...words, '--since', '0'])
  const event = JSON.parse(first.out)
  t.match(event, { type: 'document.created', document_id: id, event_id: Number, document: { title: 'Elephants' } })
  t.equal(readFileSync(cursor, 'utf8'), `${event.event_id}\n`)
  t.match(JSON.parse((await person.run(words)).out), { type: 'document.metadata.updated' }, 'nothing comes twice')
  writeFileSync(cursor, 'no number')
  t.match(await person.run(words), { code: 1, err: /no number of an event/ })
})

t.test('a follower that is stopped before its first event misses nothing after it', async () => {
  const words = ['events', '--count', '1', '--cursor', join(person.directory, 'quiet')]
  const quiet = person.start(words)
  await until(async () => quiet.printed().err.includes('following'))
  quiet.child.kill('SIGKILL')
  await quiet.ended
  const { id } = await made('Meanwhile')
  t.match((await person.run(words)).out, id)
})

t.test('Ctrl-C ends a tail at once, and a revoked token ends it with a reason', async (t) => {
  const tail = person.start(['events'])
  await until(async () => tail.printed().err.includes('following'))
  tail.child.kill('SIGINT')
  t.match(await tail.ended, { code: 130 })

  const other = await service.signUp()
  const revoked = commandLine(t, { origin: service.origin, token: other.token }).start(['events'])
  await until(async () => revoked.printed().err.includes('following'))
  await other.post('/auth/revoke', { token: other.token })
  const { code, err } = await revoked.ended
  t.equal(code, 4)
  t.match(err, /revoked/)
})

t.test('a person waits for jobs, and learns which have failed', async (t) => {
  const documents = [await made('One'), await made('Two')]
  model.answerWith((request) =>
    JSON.stringify(request).includes('About Two') ? { status: 400 } : { text: 'A summary.' },
  )
  const ids: string[] = []
  for (const { id } of documents) {
    ids.push((await ada.post(`/documents/${id}/summary/rebuild`, { generator: 'model' })).body.data.id)
  }
  const [one = '', two = ''] = ids
  t.match(await person.run(['jobs', 'wait', one]), { code: 0, out: `${one}  succeeded\n` })
  t.strictSame(await person.json(['jobs', 'wait', one]), (await ada.get(`/summary-jobs/${one}`)).body.data)
  const both = await person.run(['jobs', 'wait', one, two])
  t.match(both, { code: 1, err: /1 of 2 jobs did not succeed/ })
  t.match(both.out, `${two}  failed`)
  t.match(await person.run(['jobs', 'wait', 'sjob_01J9Z3V5K8Q2W4E6R7T9Y1P3S5']), { code: 5 })
  t.match(await person.run(['jobs', 'wait', one, '--timeout', 'soon']), { code: 2 })
})

async function made(title: string) {
  const content = { format: 'markdown', content: `About ${title}.` }
  return (await ada.post('/documents', { title, knowledge_base_id: base.id, content })).body.data as { id: string }
}
