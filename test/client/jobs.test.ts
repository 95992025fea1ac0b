import { KnowledgeBase } from '../../shared/client/client.ts'
import { summaryWriter } from '../../workers/summaries.ts'
import { startFaultyProxy } from '../support/faulty-proxy.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const stub = await startModelStub(t)
const service = await startTestService(t, stub.env)
const { token } = await service.signUp()
const proxy = await startFaultyProxy(t, service.origin)
const kb = new KnowledgeBase({ origin: proxy.origin, token, maxRetryDelay: 20 })

async function summaryJob(): Promise<string> {
  const content = { format: 'markdown' as const, content: 'An elephant drinks a hundred litres a day.' }
  const { data: made } = await kb.api.POST('/documents', { body: { title: 'Elephants', content } })
  const params = { path: { id: made.id } }
  const { data: job } = await kb.api.POST('/documents/{id}/summary/rebuild', { params, body: { generator: 'model' } })
  if (!('finished_at' in job)) throw new Error('the answer is no job')
  return job.id
}

t.test('a program waits for a job over a faulty network, and gives up when it has had enough', async (t) => {
  const id = await summaryJob()
  await t.rejects(kb.waitForJob(id, { timeout: 20 }), { code: 'timeout' })
  await t.rejects(kb.waitForJob(id, { signal: AbortSignal.abort(new Error('enough')) }), { message: 'enough' })
  let asked = 0
  proxy.choose = () => {
    asked += 1
    return asked % 2 === 1 ? { kind: 'cut-after' } : null
  }
  const states: string[] = []
  const ended = kb.waitForJob(id, { onState: ({ status }) => states.push(status) })
  await startWorkers(t, service, [summaryWriter])
  t.match(await ended, { id, status: 'succeeded', error: null })
  t.equal(states.at(-1), 'succeeded')
  stub.answerWith(() => ({ status: 400 }))
  t.match(await kb.waitForJob(await summaryJob()), { status: 'failed', error: { code: 'model_error' } })
  await t.rejects(kb.waitForJob('sjob_01J9Z3V5K8Q2W4E6R7T9Y1P3S5'), { code: 'job_not_found' })
})
