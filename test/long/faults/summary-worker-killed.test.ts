import pg from 'pg'
import { startModelStub } from '../../support/model-stub.ts'
import { startWorker } from '../../support/processes.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'
import { write } from '../../support/workers.ts'

t.test('the job of a killed worker is done by another one, and what the model said is not paid twice', async (t) => {
  const stub = await startModelStub(t)
  const { url, config, signUp } = await startTestService(t, stub.env)
  const env = { ...stub.env, DATABASE_URL: url, DATA_DIR: config.DATA_DIR }
  const ada = await signUp()
  const { id } = await write(ada, 'Elephants drink.')
  const first = await startWorker(['summaries'], env)
  t.teardown(() => first.signal('SIGKILL'))

  // A lock on the document stops the worker after the answer of the model, before it writes the summary.
  const holder = new pg.Client(url)
  await holder.connect()
  t.teardown(() => holder.end())
  const path = `/documents/${id}/summary`
  const release = stub.hold()
  const job = (await ada.post(`${path}/rebuild`, { generator: 'model' })).body.data.id
  await until(async () => stub.requests.length === 1)
  await holder.query('BEGIN')
  await holder.query('SELECT FROM documents WHERE id = $1 FOR UPDATE', [id])
  release({ text: 'Elephants.' })
  await until(async () => (await holder.query('SELECT FROM model_answers')).rows.length === 1)
  first.signal('SIGKILL')
  await first.ended
  await holder.query('COMMIT')

  const second = await startWorker(['summaries'], env)
  t.teardown(second.stop)
  const read = async () => (await ada.get(`/summary-jobs/${job}`)).body.data
  await until(async () => (await read()).status === 'succeeded')
  t.match(await read(), { usage: { input_tokens: 10, output_tokens: 5 }, result_summary_version: 1 })
  t.match((await ada.get(path)).body.data, { text: 'Elephants.', generator: 'model' })
  t.equal(stub.requests.length, 1, 'the model was asked once')
  // The summary is made by the second attempt of the same job. The log line comes after the commit.
  await until(async () => /"attempt":1/.test(second.output()))
})
