import { readConfig } from '../../shared/config/config.ts'
import { configuredModel, type ModelError, type ModelErrorCode } from '../../shared/models/model.ts'
import { openModels } from '../../shared/models/open-models.ts'
import { type StubReply, startModelStub } from '../support/model-stub.ts'
import { type Test, t } from '../support/tap.ts'

const request = { model: 'stub-summary', system: 'Summarise.', user: 'secret text of a document' }

t.test('a model is unconfigured without a key or without a name', async (t) => {
  const key = { OPENAI_API_KEY: 'key' }
  const config = (env: Record<string, string>) => readConfig({ ...env, DATA_DIR: t.testdir() })
  t.equal(configuredModel(config({ ...key, SUMMARY_MODEL: 'm' }), 'SUMMARY_MODEL'), 'm')
  t.equal(configuredModel(config({ ...key, SUMMARY_MODEL: 'm' }), 'TRANSLATION_MODEL'), null)
  t.equal(configuredModel(config({ SUMMARY_MODEL: 'm' }), 'SUMMARY_MODEL'), null)
})

t.test('the answer comes back with what it cost, and a schema is passed on', async (t) => {
  const { stub, models } = await start(t)
  t.strictSame(await models.ask(request), { text: 'Summary 1.', usage: { input_tokens: 10, output_tokens: 5 } })
  await models.ask({ ...request, schema: { name: 'translations', schema: { type: 'object' } } })
  t.match(stub.requests[0], {
    model: 'stub-summary',
    authorization: 'Bearer stub-key',
    messages: [
      { role: 'system', content: 'Summarise.' },
      { role: 'user', content: 'secret text of a document' },
    ],
    response_format: undefined,
  })
  t.match(stub.requests[1]?.response_format, { type: 'json_schema', json_schema: { name: 'translations' } })
})

t.test('a provider that is busy or broken for a moment is asked again, when it says', async (t) => {
  const { stub, models } = await start(t)
  const replies: StubReply[] = [
    { status: 429, headers: { 'retry-after': '1' } },
    { status: 503, headers: { 'retry-after': new Date().toUTCString() } },
    { text: 'Done.' },
  ]
  const at: number[] = []
  stub.answerWith((_, index) => {
    at.push(performance.now())
    return replies[index] ?? { status: 500 }
  })
  t.equal((await models.ask(request)).text, 'Done.')
  t.ok((at[1] ?? 0) - (at[0] ?? 0) >= 900, 'not before the second has passed')
})

t.test('what does not pass is told apart from what may pass, and never repeats the document', async (t) => {
  const { stub, models } = await start(t)
  const failing = async (reply: StubReply, code: ModelErrorCode, transient: boolean) => {
    stub.requests.length = 0
    stub.answerWith(() => reply)
    const error = await models.ask(request).catch((reason: unknown) => reason)
    t.match(error, { name: 'ModelError', code, transient }, `${code} for ${JSON.stringify(reply)}`)
    t.notMatch(String((error as ModelError).stack), /secret/)
    return stub.requests.length
  }
  const quoting = JSON.stringify({ error: { message: 'cannot read "secret text of a document"' } })
  const soon = { 'retry-after': '0' }
  t.equal(await failing({ status: 500, headers: soon, body: quoting }, 'model_error', true), 3)
  t.equal(await failing({ status: 429, headers: { 'retry-after': '3600' } }, 'model_error', true), 1)
  t.equal(await failing({ status: 400, body: quoting }, 'model_error', false), 1)
  t.equal(await failing({ status: 401, body: quoting }, 'model_error', false), 1)
  t.equal(await failing({ text: null }, 'model_bad_output', false), 1)
  t.equal(await failing({ text: ' \n' }, 'model_bad_output', false), 1)
  t.equal(await failing({ raw: '{"choices":"none"}' }, 'model_bad_output', false), 1)
  t.equal(await failing({ raw: 'secret text' }, 'model_bad_output', false), 1)
})

t.test('an answer without end is not read to it', async (t) => {
  const { stub, models } = await start(t)
  stub.answerWith(() => ({ text: 'a'.repeat(3_000_000) }))
  const unusable = { name: 'ModelError', code: 'model_bad_output', transient: false }
  await t.rejects(models.ask(request), unusable)
  t.equal(stub.requests.length, 1, 'nor asked for again')
  stub.answerWith(() => ({ text: 'a'.repeat(1_000_000) }))
  t.equal((await models.ask(request)).text.length, 1_000_000)
})

t.test('a call that takes too long is given up, and not repeated, since it may have been paid for', async (t) => {
  const { stub, models } = await start(t, { MODEL_TIMEOUT_MS: '100' })
  stub.hold()
  await t.rejects(models.ask(request), { name: 'ModelError', code: 'model_timeout', transient: true })
  t.ok(stub.requests.length <= 1)
  stub.answerWith(() => ({ begun: '{"choices":' }))
  await t.rejects(models.ask(request), { name: 'ModelError', code: 'model_timeout', transient: true })
})

t.test('a provider that cannot be reached is a failure that may pass', async (t) => {
  const { models } = await start(t, { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' })
  await t.rejects(models.ask(request), { code: 'model_error', transient: true })
})

t.test('a process that ends stops waiting for the model', async (t) => {
  const { stub, models } = await start(t)
  stub.hold()
  const stopping = new AbortController()
  const asking = models.ask(request, stopping.signal)
  while (stub.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  stopping.abort()
  await t.rejects(asking, { name: 'AbortError' })
})

t.test('no more calls run at a time than are allowed', async (t) => {
  const { stub, models } = await start(t, { MODEL_CONCURRENCY: '2' })
  const release = stub.hold()
  const answers = Array.from({ length: 5 }, () => models.ask(request))
  while (stub.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(stub.requests.length, 2)
  release({ text: 'Done.' })
  t.equal((await Promise.all(answers)).length, 5)
})

async function start(t: Test, env: Record<string, string> = {}) {
  const stub = await startModelStub(t)
  return { stub, models: openModels(readConfig({ ...stub.env, ...env, DATA_DIR: t.testdir() })) }
}
