import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeApi } from '../../api/docs/openapi.ts'
import { routes } from '../../api/routes/routes.ts'
import { decideRequest } from '../../shared/auth/device/authorization.ts'
import { workersOf } from '../../workers/types.ts'
import { tellStory } from '../support/api-story.ts'
import { Client } from '../support/client.ts'
import { withExampleValues } from '../support/example-values.ts'
import { startModelStub } from '../support/model-stub.ts'
import { root } from '../support/processes.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { translating } from '../support/translation-stub.ts'
import { startWorkers } from '../support/workers.ts'

/** The command that records the examples again. */
const recording = 'UPDATE_EXAMPLES=1 npm test -- test/repository/openapi-examples.test.ts'
const file = join(root, 'api/docs/openapi/examples.json')

t.test('the examples of the description are what calls really send and get', async (t) => {
  const model = await startModelStub(t)
  const translate = translating(({ text }) => `Traduction : ${text}`)
  model.answerWith((request) =>
    request.response_format === undefined ? { text: 'Elephants drink a hundred litres a day.' } : translate(request),
  )
  const service = await startTestService(t, model.env)
  await startWorkers(t, service, workersOf(['search', 'changes', 'relations', 'events', 'summaries', 'localization']))
  const owner = await service.signUp({ email: 'ada@documents.example', workspace: 'Ada' })
  const context = { db: service.database, config: service.config }
  const approve = (userCode: string) =>
    decideRequest(context, { userCode, userId: owner.user_id, scopes: ['documents:read', 'documents:write'] })
  const calls = await tellStory(owner, { client: new Client({ origin: service.origin }), approve })
  const examples = withExampleValues(calls, service.origin)
  if (process.env['UPDATE_EXAMPLES'] === '1') await writeFile(file, `${JSON.stringify(examples, null, 1)}\n`)
  t.strictSame(examples, JSON.parse(await readFile(file, 'utf8')), `where a call has changed: ${recording}`)
})

// A process that records has read the examples of before.
const skip = process.env['UPDATE_EXAMPLES'] === '1'

t.test('every operation that takes or answers JSON shows an example of it', { skip }, async (t) => {
  const { paths } = describeApi({ routes, origin: 'https://documents.example' }) as Description
  for (const spec of routes.filter(({ listed }) => listed !== 'reference')) {
    const operation = paths[spec.path]?.[spec.method.toLowerCase()]
    const request = operation?.requestBody?.content['application/json']
    const advice = `test/support/api-story.ts: add await call('${spec.operationId}', …), then ${recording}`
    if (request !== undefined) t.ok(request.example, `${spec.operationId}, request; ${advice}`)
    for (const [status, { content }] of Object.entries(operation?.responses ?? {})) {
      const answer = status.startsWith('2') ? content?.['application/json'] : undefined
      if (answer !== undefined) t.ok(answer.example, `${spec.operationId}, ${status}; ${advice}`)
    }
  }
})

type Contents = Record<string, { example?: unknown }>
type Operation = { requestBody?: { content: Contents }; responses: Record<string, { content?: Contents }> }
type Description = { paths: Record<string, Record<string, Operation>> }
