import pg from 'pg'
import { p } from '../../document/build.ts'
import { startModelStub } from '../../support/model-stub.ts'
import { startWorker } from '../../support/processes.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'
import { askedOf } from '../../support/translation-stub.ts'
import { ok, statusesOf, translate } from '../../support/translations.ts'

t.test('a translation job survives its worker, is not paid twice and never touches the target', async (t) => {
  const stub = await startModelStub(t)
  const { url, config, signUp } = await startTestService(t, stub.env)
  const env = { ...stub.env, DATABASE_URL: url, DATA_DIR: config.DATA_DIR }
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one'), p('two')])
  const first = await startWorker(['localization'], env)
  t.teardown(() => first.signal('SIGKILL'))

  // A lock on the source stops the worker after the answer of the model, before it stores the candidates.
  const holder = new pg.Client(url)
  await holder.connect()
  t.teardown(() => holder.end())
  const release = stub.hold()
  const { id } = ok(await ada.post(`/documents/${source.id}/translation-jobs`, { target_locale: 'fr' })).data
  await until(async () => stub.requests.length === 1)
  await holder.query('BEGIN')
  await holder.query('SELECT FROM documents WHERE id = $1 FOR UPDATE', [source.id])
  const [request] = stub.requests
  const units = request === undefined ? [] : askedOf(request).units
  release({ text: JSON.stringify({ translations: units.map((unit) => ({ ...unit, text: `fr ${unit.text}` })) }) })
  await until(async () => (await holder.query('SELECT FROM model_answers')).rows.length === 1)
  first.signal('SIGKILL')
  await first.ended
  await holder.query('COMMIT')

  const second = await startWorker(['localization'], env)
  t.teardown(second.stop)
  const read = async () => ok(await ada.get(`/translation-jobs/${id}`)).data
  await until(async () => (await read()).status === 'succeeded')
  t.match(await read(), { result: { translated: 2, failed: 0 }, applied_at: null })
  t.equal(stub.requests.length, 1, 'the model was asked once')
  t.strictSame(await statusesOf(ada, target), ['missing', 'missing'])
  const audit = ok(await ada.get(`/documents/${target}/translation-audit`)).data
  const ends = audit.filter(({ action }: { action: string }) => action === 'job.succeeded')
  t.equal(ends.length, 1, 'it is recorded once')
})
