import { readConfig } from '../../shared/config/config.ts'
import { configuredModel, type ModelError, type ModelErrorCode } from '../../shared/models/model.ts'
import { openModels } from '../../shared/models/open-models.ts'
import { type StubReply, type StubRequest, startModelStub } from '../support/model-stub.ts'
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

const said = (message: object, finish_reason: unknown = 'stop') =>
  ({ raw: JSON.stringify({ choices: [{ message, finish_reason }] }) }) satisfies StubReply
const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }

t.test('what a model thinks aloud never becomes its answer', async (t) => {
  const { stub, models } = await start(t)
  const answers: [unknown, string | null][] = [
    ['<think>\nThe user wants a summary.\n</think>\n\nElephants.', 'Elephants.'],
    ['<THINKING budget="low">Hm.</THINKING>\n<reasoning>Hm.</reasoning> Elephants.', 'Elephants.'],
    ['<think></think><answer>Elephants.</answer>', 'Elephants.'],
    ['<think>I must not write </think> here.\n</think>\nElephants.', 'Elephants.'],
    ['Okay, the user wants a summary.\n</think>\n\nElephants.', 'Elephants.'],
    ['[THINK]Hm.[/THINK]Elephants.', 'Elephants.'],
    [
      '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Elephants.<|return|>',
      'Elephants.',
    ],
    ['analysisThe user wants it.assistantfinalElephants.', 'Elephants.'],
    [
      [thought, { type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Ele' }, { type: 'text', text: 'phants.' }],
      'Elephants.',
    ],
    ['<think>\nThe user wants', null],
    ['<|channel|>analysis<|message|>Hm.', null],
    [[thought], null],
    ['Models open with <think> and end with </think>.', 'Models open with <think> and end with </think>.'],
    ['<think> and </think> enclose it.', '<think> and </think> enclose it.'],
    ['Close `</think>`\nfirst.', 'Close `</think>`\nfirst.'],
    ['{"text":"Hm.</think>Ende"}', '{"text":"Hm.</think>Ende"}'],
  ]
  for (const [content, answer] of answers) {
    stub.answerWith(() => said({ content, reasoning_content: 'Hm.' }))
    const text = await models.ask(request).then(
      ({ text }) => text.trim(),
      ({ code }) => code,
    )
    t.equal(text, answer ?? 'model_bad_output', JSON.stringify(content))
  }
  stub.answerWith(() => said({ content: null, reasoning_content: 'Hm.' }))
  await t.rejects(models.ask(request), { code: 'model_bad_output' })
})

t.test('an answer that was cut off is none, and the reason is told', async (t) => {
  const { stub, models } = await start(t)
  for (const reason of ['length', 'content_filter', 'max_tokens', 'tool_calls', 'SAFETY']) {
    stub.answerWith(() => said({ content: 'Elephants drink a lot because they' }, reason))
    const message = `The provider stopped before the answer was complete (${reason}).`
    await t.rejects(models.ask(request), { code: 'model_bad_output', message, transient: false }, reason)
  }
  stub.answerWith(() => said({ content: 'Ele' }, 'insufficient_system_resource'))
  await t.rejects(models.ask(request), { code: 'model_error', transient: true })
  stub.answerWith(() => said({ content: null, refusal: 'I cannot' }))
  await t.rejects(models.ask(request), { code: 'model_bad_output', message: 'The model refused to answer.' })
  for (const reason of ['stop', 'eos', 'STOP', 'end_turn', null, undefined]) {
    stub.answerWith(() => said({ content: 'Elephants.' }, reason))
    t.equal((await models.ask(request)).text, 'Elephants.', `${reason}`)
  }
})

t.test('an error with status 200 is an error like any other', async (t) => {
  const { stub, models } = await start(t)
  const bodies: [object, boolean][] = [
    [{ error: { message: 'Rate limited', code: 429 } }, true],
    [{ error: 'overloaded' }, true],
    [{ object: 'error', message: 'busy', code: 503 }, true],
    [{ choices: [{ error: { code: 502 }, finish_reason: 'error', message: { content: '' } }] }, true],
    [{ error: { message: 'no such key', code: 401 } }, false],
  ]
  for (const [body, passes] of bodies) {
    stub.requests.length = 0
    stub.answerWith((_, index) => (index === 0 ? { raw: JSON.stringify(body) } : { text: 'Done.' }))
    const answer = await models.ask(request).then(
      ({ text }) => text,
      ({ code, transient }) => `${code} ${transient}`,
    )
    t.equal(answer, passes ? 'Done.' : 'model_error false', JSON.stringify(body))
  }
})

t.test('a provider that lacks parameters is asked without them, from then on at once', async (t) => {
  const schema = { name: 'translations', schema: { type: 'object' } }
  const refusals: [(request: StubRequest) => boolean, string, number][] = [
    [({ response_format }) => response_format !== undefined, "'response_format.type' must be 'text'", 3],
    [({ response_format }) => response_format?.type === 'json_schema', 'json_schema is not supported', 2],
    [({ messages }) => messages[0]?.role === 'system', 'System role not supported', 2],
  ]
  for (const [isRefused, message, tries] of refusals) {
    const { stub, models } = await start(t)
    stub.answerWith((asked) =>
      isRefused(asked) ? { status: 400, body: JSON.stringify({ error: { message } }) } : { text: '{}' },
    )
    for (const requests of [tries, tries + 1]) {
      t.equal((await models.ask({ ...request, schema })).text, '{}')
      t.equal(stub.requests.length, requests, message)
    }
    t.match(stub.requests.at(-1)?.messages.at(-1), { role: 'user', content: request.user })
    if (tries === 3) t.match(stub.requests.at(-1)?.messages[0]?.content, '{"type":"object"}', 'the schema is told')
  }
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
