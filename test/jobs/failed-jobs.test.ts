import { freePort } from '../../shared/start/processes.ts'
import type { Client } from '../support/client.ts'
import { type StubReply, startModelStub } from '../support/model-stub.ts'
import { type ServiceProcess, startWorker } from '../support/processes.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { write } from '../support/workers.ts'

// Levels of pino.
const [info, warning, failure] = [30, 40, 50]

t.test('an operator reads in the log why the job that a user names has failed, and sees it counted', async (t) => {
  const { ada, worker, answerWith, host, origin } = await start(t)
  answerWith(() => ({ status: 400, body: '{"error":{"message":"hush"}}' }))
  const id = await ask(ada)
  await until(async () => (await read(ada, id)).status === 'failed')
  await until(async () => linesOf(worker, id).length > 0)
  t.match(linesOf(worker, id), [
    {
      level: failure,
      msg: 'job failed',
      outcome: 'failed',
      reason: 'model_error',
      causes: [/400/, `${host} answered 400`],
    },
  ])
  t.notMatch(worker.output(), 'hush')
  t.match(await (await fetch(`${origin}/metrics`)).text(), 'svc_queue_failed_jobs{queue="summaries.model"} 1')
})

t.test('who waits for a job is told that it failed and when it is tried again', async (t) => {
  const { ada, worker, answerWith, host } = await start(t)
  let down = true
  answerWith(() => (down ? { status: 503 } : { text: 'A summary.' }))
  const id = await ask(ada)
  let waiting = await read(ada, id)
  await until(async () => {
    waiting = await read(ada, id)
    return waiting.next_attempt_at !== null
  })
  down = false
  t.match(waiting, { status: 'running', attempt: 1, error: null, last_error: { code: 'model_error', message: String } })
  t.ok(waiting.next_attempt_at > waiting.started_at)
  await until(async () => linesOf(worker, id).length > 0)
  t.match(linesOf(worker, id)[0], {
    ...{ level: warning, msg: 'job is tried again', reason: 'model_error' },
    causes: [/503/, `${host} answered 503`],
  })
  await until(async () => (await read(ada, id)).status === 'succeeded')
  t.match(await read(ada, id), { attempt: 2, next_attempt_at: null, last_error: null, error: null })
  await until(async () => linesOf(worker, id).length > 1)
  t.match(linesOf(worker, id)[1], { level: info, outcome: 'done' })
})

t.test('a provider that cannot be reached is named with what the system says', async (t) => {
  const host = `127.0.0.1:${await freePort({ host: '127.0.0.1' })}`
  const { ada, worker } = await start(t, { OPENAI_BASE_URL: `http://${host}/v1` })
  const id = await ask(ada)
  await until(async () => linesOf(worker, id).length > 0)
  const [{ causes }] = linesOf(worker, id)
  t.match(causes, ['The model cannot be reached.', `${host} cannot be reached`, 'fetch failed', /ECONNREFUSED/])
})

t.test(
  'an operator sees the calls of models, their outcomes and their cost at the worker, with the token',
  async (t) => {
    const port = String(await freePort({}))
    const prices = { MODEL_PRICE_INPUT_PER_MCHAR: '1', MODEL_PRICE_OUTPUT_PER_MCHAR: '2' }
    const { ada, answerWith } = await start(t, { METRICS_PORT: port, METRICS_TOKEN: 'a-token', ...prices })
    answerWith(() => ({ text: 'Drink.' }))
    const good = await ask(ada)
    await until(async () => (await read(ada, good)).status === 'succeeded')
    answerWith(() => ({ status: 400 }))
    const bad = await ask(ada)
    await until(async () => (await read(ada, bad)).status === 'failed')
    const metrics = (authorization = '') => fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization } })
    t.equal((await metrics()).status, 401)
    t.equal((await metrics('Bearer hush')).status, 401)
    const text = await (await metrics('Bearer a-token')).text()
    t.match(text, /^svc_build_info\{version="[0-9.]+",node="v24[0-9.]+"\} 1$/m)
    t.match(text, 'svc_model_call_duration_seconds_count{model="stub-summary",outcome="done"} 1')
    t.match(text, 'svc_model_call_duration_seconds_count{model="stub-summary",outcome="model_error"} 1')
    t.match(text, 'svc_model_characters_total{model="stub-summary",direction="output"} 6')
    t.match(text, /^svc_model_cost_dollars_total\{model="stub-summary"\} 0\.0\d+$/m)
  },
)

t.test(
  'whoever asks for a summary of what takes too long to read is told so, and nothing is paid',
  onlyLong,
  async (t) => {
    const { ada, worker, origin } = await start(t, { WORKER_COMPUTE_MS: '10' })
    const bold = [{ type: 'bold' }]
    const words = Array.from({ length: 32 }, (_, n) => ({
      type: 'text',
      text: 'a',
      ...(n % 2 === 0 && { marks: bold }),
    }))
    // Reading these blocks takes several times the limit.
    const blocks = Array.from({ length: 3000 }, () => ({ type: 'paragraph', content: words }))
    const { id } = await write(ada, blocks)
    const job = (await ada.post(`/documents/${id}/summary/rebuild`, { generator: 'model' })).body.data.id
    await until(async () => (await read(ada, job)).status === 'failed')
    t.match(await read(ada, job), {
      error: { code: 'document_too_large', message: /make it smaller or summarise its sections/ },
      usage: null,
    })
    await until(async () => linesOf(worker, job).length > 0)
    t.match(linesOf(worker, job), [{ level: failure, outcome: 'failed', reason: 'document_too_large' }])
    t.match(await (await fetch(`${origin}/metrics`)).text(), 'svc_queue_failed_jobs{queue="summaries.model"} 1')
  },
)

async function start(t: Test, env: Record<string, string> = {}) {
  const stub = await startModelStub(t)
  const { host } = new URL(stub.env['OPENAI_BASE_URL'] ?? '')
  const settings = { ...stub.env, ...env }
  const { origin, url, signUp } = await startTestService(t, settings)
  const worker = await startWorker(['summaries'], { ...settings, DATABASE_URL: url })
  t.teardown(worker.stop)
  const answerWith = (decide: () => StubReply) => stub.answerWith(decide)
  return { ada: await signUp(), worker, answerWith, host, origin }
}

async function ask(client: Client): Promise<string> {
  const { id } = await write(client, 'Elephants drink.')
  const reply = await client.post(`/documents/${id}/summary/rebuild`, { generator: 'model' })
  if (reply.status !== 202) throw new Error(`${reply.status} ${reply.text}`)
  return reply.body.data.id
}

async function read(client: Client, id: string) {
  return (await client.get(`/summary-jobs/${id}`)).body.data
}

function linesOf(worker: ServiceProcess, id: string) {
  const lines = worker.output().split('\n').slice(0, -1)
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.requested_job_id === id)
}
