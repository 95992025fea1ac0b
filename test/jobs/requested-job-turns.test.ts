import { workersOf } from '../../workers/types.ts'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { type StubReply, startModelStub } from '../support/model-stub.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { askedOf, marked } from '../support/translation-stub.ts'
import { ok, translate } from '../support/translations.ts'
import { startWorkers } from '../support/workers.ts'

t.test('a workspace that asks for many translations makes no other workspace wait for them', async (t) => {
  const { ask, asked, next } = await start(t)
  for (let number = 0; number < 20; number += 1) await ask('flood', number)
  await until(async () => asked().length === 1)
  await ask('other', 0)
  await ask('third', 0)
  for (let ended = 0; ended < 3; ended += 1) await next()
  t.strictSame(new Set(asked().slice(1, 3)), new Set(['other 0', 'third 0']), 'right behind the job that ran')
})

t.test('the jobs of a workspace keep their order, and those of two workspaces alternate', async (t) => {
  const { ask, asked, next } = await start(t)
  for (let number = 0; number < 6; number += 1) await ask('first', number)
  await until(async () => asked().length === 1)
  await next()
  await next()
  for (let number = 0; number < 3; number += 1) await ask('second', number)
  // A job that comes late has to wait for those of its workspace that came before.
  await ask('first', 6)
  while (asked().length < 10) await next()
  const of = (workspace: string) => asked().filter((name) => name.startsWith(workspace))
  t.strictSame(
    of('first'),
    Array.from({ length: 7 }, (_, number) => `first ${number}`),
  )
  t.strictSame(
    of('second'),
    Array.from({ length: 3 }, (_, number) => `second ${number}`),
  )
  t.ok(asked().indexOf('second 2') <= 8, asked().join(', '))
})

/** A worker that runs one job at a time, and workspaces that ask for jobs. Each job asks the model once. */
async function start(t: Test) {
  const stub = await startModelStub(t)
  const waiting: PromiseWithResolvers<StubReply>[] = []
  const names: string[] = []
  stub.answerWith((request) => {
    names.push(askedOf(request).units[0]?.text ?? '')
    const reply = Promise.withResolvers<StubReply>()
    waiting.push(reply)
    return { release: reply.promise.then(() => marked(request)) }
  })
  const service = await startTestService(t, { ...stub.env, WORKER_CONCURRENCY: '1' })
  const clients = new Map<string, Client>()
  await startWorkers(t, service, workersOf(['localization']))
  t.teardown(() => {
    for (const { resolve } of waiting) resolve({ text: null })
  })
  return {
    /** The texts that the model was asked about so far. */
    asked: () => names,
    /** Asks for the translation of a document of a workspace. Its text is the name of the workspace and a number. */
    async ask(workspace: string, number: number): Promise<void> {
      const client = clients.get(workspace) ?? (await service.signUp({ workspace }))
      clients.set(workspace, client)
      const { source } = await translate(client, [p(`${workspace} ${number}`)])
      ok(await client.post(`/documents/${source.id}/translation-jobs`, { target_locale: 'fr' }))
    },
    /** Lets the running job end, and waits until the next job runs. */
    async next(): Promise<void> {
      const before = names.length
      waiting[before - 1]?.resolve({ text: null })
      await until(async () => names.length > before)
    },
  }
}
