import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { summaryWriter } from '../../workers/summaries.ts'
import { connectMcp } from '../support/mcp.ts'
import { startModelStub } from '../support/model-stub.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { startWorkers, write } from '../support/workers.ts'

const stub = await startModelStub(t)
const service = await startTestService(t, { ...stub.env, RATE_READ_PER_MIN: '1000' })
const { origin, signUp, database } = service

t.test('an agent waits for a job until it ends, and holds no connection while it waits', async (t) => {
  const ada = await signUp()
  const { id } = await write(ada, '# Elephants\n\nThey drink.')
  const asked = await ada.post(`/documents/${id}/summary/rebuild`, { generator: 'model' })
  t.equal(asked.status, 202, asked.text)
  const job_id = asked.body.data.id
  const { call } = await connectMcp(t, { origin, token: ada.token })
  t.match((await call('job', { job_id, wait_seconds: 0 })).structuredContent, { status: 'pending', done: false })
  const waiting = call('job', { job_id, wait_seconds: 50 })
  await sleep(500)
  t.equal(await transactions(), 0, 'no transaction is open while the agent waits')
  stub.answerWith(() => ({ text: 'Elephants drink.' }))
  await startWorkers(t, service, [summaryWriter])
  t.match((await waiting).structuredContent, { status: 'succeeded', done: true, result_summary_version: 1 })
})

t.test('an agent that goes away ends its wait', async (t) => {
  const other = await startTestService(t, { ...stub.env, RATE_READ_PER_MIN: '1000' })
  const ada = await other.signUp()
  const { id } = await write(ada, '# Elephants\n\nThey drink.')
  const job_id = (await ada.post(`/documents/${id}/summary/rebuild`, { generator: 'model' })).body.data.id
  const left = async () => Number((await ada.get('/me')).headers.get('x-ratelimit-remaining'))
  const gone = new AbortController()
  const waiting = fetch(`${other.origin}/mcp`, {
    method: 'POST',
    signal: gone.signal,
    headers: {
      authorization: `Bearer ${ada.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'job', arguments: { job_id, wait_seconds: 50 } },
    }),
  })
  const ended = waiting.then((response) => response.text())
  await sleep(800)
  gone.abort()
  await t.rejects(ended)
  await sleep(200)
  const after = await left()
  await sleep(3000)
  t.equal(await left(), after - 1, 'nobody has looked at the job since')
})

async function transactions(): Promise<number> {
  return database.oneFirst(
    sql.type(row(Type.Object({ open: Type.Integer() })))`
    SELECT count(*)::int AS open FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle' AND backend_type = 'client backend'`,
  )
}
