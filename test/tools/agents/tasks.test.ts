import { workersOf } from '../../../workers/types.ts'
import { startModelStub } from '../../support/model-stub.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { marked } from '../../support/translation-stub.ts'
import { startWorkers } from '../../support/workers.ts'
import { startAgent } from './agent.ts'
import { makeBase } from './base.ts'
import { tasks } from './tasks.ts'

// A base of few documents; `npm run bench -- agents` has a thousand.
const documents = 40

const stub = await startModelStub(t)
stub.answerWith(marked)
const service = await startTestService(t, stub.env)
await startWorkers(t, service, workersOf(['search', 'events', 'changes', 'relations', 'localization']))
const person = await service.signUp()
const base = await makeBase(person, documents)
const agent = await startAgent(t, person)

t.ok(agent.toolTokens <= 6000, `the list of tools takes ${agent.toolTokens} tokens of the context, at most 6000`)

for (const { name, most, run } of tasks) {
  t.test(`an agent can ${name}`, async (t) => {
    await run({ agent, person, base })
    const { calls, tokens } = agent.spent()
    t.ok(calls <= most.calls, `${calls} calls, at most ${most.calls}`)
    t.ok(tokens <= most.tokens, `${tokens} tokens of answers, at most ${most.tokens}`)
  })
}
