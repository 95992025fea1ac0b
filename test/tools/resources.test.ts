import { setTimeout as sleep } from 'node:timers/promises'
import type { Client as Sdk } from '@modelcontextprotocol/client'
import { revokeToken } from '../../shared/auth/queries.ts'
import { workersOf } from '../../workers/types.ts'
import { connectMcp } from '../support/mcp.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { rewrite, startWorkers, write } from '../support/workers.ts'

const service = await startTestService(t, { SSE_HEARTBEAT_SECONDS: '1', SSE_MAX_STREAMS_PER_TOKEN: '2' })
const { origin, signUp } = service
await startWorkers(t, service, workersOf(['events']))

for (const era of ['modern', 'legacy'] as const) {
  t.test(`a client of the ${era} protocol lists the documents that changed last and reads one`, async (t) => {
    const { ada, client } = await start(t, era)
    const old = await write(ada, 'Old.', { title: 'Old' })
    const { id, version } = await write(ada, '# Water\n\nElephants drink.', { title: 'New' })
    const { resources } = await client.listResources()
    t.match(resources, [
      { uri: `svc://doc/${id}`, title: 'New', mimeType: 'text/markdown', annotations: { lastModified: /Z$/ } },
      { uri: `svc://doc/${old.id}` },
    ])
    const { resourceTemplates } = await client.listResourceTemplates()
    t.match(resourceTemplates, [{ uriTemplate: 'svc://doc/{id}' }])
    const { contents } = await client.readResource({ uri: `svc://doc/${id}` })
    t.match(contents, [{ mimeType: 'text/markdown', text: /Elephants drink\./, _meta: { 'svc/version': version } }])
  })
}

t.test('a client that follows pages to their end gets the hundred documents that changed last', async (t) => {
  const { ada, client } = await start(t)
  const ids: string[] = []
  for (let n = 0; n < 102; n += 1) ids.push((await write(ada, 'Text.')).id)
  const { resources, nextCursor } = await client.listResources({})
  t.same(
    resources.map(({ uri }) => uri),
    ids
      .toReversed()
      .slice(0, 100)
      .map((id) => `svc://doc/${id}`),
  )
  t.equal(nextCursor, undefined)
})

t.test('a document of somebody else is as unknown as one that never was', async (t) => {
  const { client } = await start(t)
  const { id } = await write(await signUp(), 'Secret.')
  for (const uri of [`svc://doc/${id}`, 'svc://doc/doc_never', 'svc://else/1', 'https://a.test/'])
    await t.rejects(client.readResource({ uri }), { code: -32602, message: /not found/i, data: { uri } }, uri)
})

t.test('a client hears of changes to the documents it asked for, and of nothing else', async (t) => {
  const { ada, client } = await start(t)
  const [followed, other] = [await write(ada, 'Followed.'), await write(ada, 'Other.')]
  const foreign = await signUp()
  const secret = await write(foreign, 'Secret.')
  const heard = notificationsOf(client)
  const uri = `svc://doc/${followed.id}`
  const subscription = await client.listen({ resourceSubscriptions: [uri, `svc://doc/${secret.id}`] })
  t.match(subscription.honoredFilter, { resourceSubscriptions: [uri, `svc://doc/${secret.id}`] })
  await rewrite(foreign, secret.id, 'Still secret.')
  await rewrite(ada, other.id, 'Changed.')
  await rewrite(ada, followed.id, 'Changed.')
  await until(async () => heard.length > 0)
  await sleep(200)
  t.ok(
    heard.every((item) => item === uri),
    heard.join(),
  )
  heard.length = 0
  await ada.delete(`/documents/${followed.id}`)
  await until(async () => heard.includes(uri))
  await subscription.close()
})

t.test('a client hears that the list has changed when documents come, go or are renamed', async (t) => {
  const { ada, client } = await start(t)
  const heard = notificationsOf(client)
  await client.listen({ resourcesListChanged: true })
  const { id } = await write(ada, 'New.')
  await until(async () => heard.includes('list'))
  heard.length = 0
  await rewrite(ada, id, 'Changed.')
  await ada.patch(`/documents/${id}`, { title: 'Renamed' })
  await until(async () => heard.includes('list'))
  t.notOk(
    heard.some((item) => item.startsWith('svc:')),
    'no document was asked for',
  )
})

t.test('a stream of changes ends when its token is revoked', async (t) => {
  const { client, ada } = await start(t)
  const subscription = await client.listen({ resourcesListChanged: true })
  await revokeToken(service.database, ada.token_id)
  t.equal(await subscription.closed, 'graceful')
  await t.rejects(client.listen({ resourcesListChanged: true }))
})

t.test('a token has a limited number of streams, and gets a place back when one is closed', async (t) => {
  const { client } = await start(t)
  const first = await client.listen({ resourcesListChanged: true })
  await client.listen({ resourcesListChanged: true })
  await t.rejects(client.listen({ resourcesListChanged: true }), { message: /too_many_streams/ })
  await first.close()
  await until(async () => {
    const third = await client.listen({ resourcesListChanged: true }).catch(() => undefined)
    return third !== undefined
  })
})

t.test('a request that asks for nothing that this service tells takes no place', async (t) => {
  const { client } = await start(t)
  for (let n = 0; n < 5; n += 1) await client.listen({ promptsListChanged: true }).catch(() => {})
  await client.listen({ resourcesListChanged: true })
  await client.listen({ resourcesListChanged: true })
  t.pass('both places were free')
})

t.test('a token that may not read documents cannot follow them', async (t) => {
  const ada = await signUp({ scopes: ['knowledge-bases:read'] })
  const { client } = await connectMcp(t, { origin, token: ada.token })
  await t.rejects(client.listen({ resourcesListChanged: true }), { message: /documents:read/ })
  const refused = await client.listResources().catch((error: unknown) => error)
  t.match(refused, { data: { code: 'insufficient_scope', next: /documents:read/ } })
})

async function start(t: Test, era: 'modern' | 'legacy' = 'modern') {
  const ada = await signUp()
  const { client } = await connectMcp(t, { origin, token: ada.token, era })
  return { ada, client }
}

/** What a client is told from now on: the address of a changed document, or `list`. */
function notificationsOf(client: Sdk): string[] {
  const heard: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri))
  client.setNotificationHandler('notifications/resources/list_changed', () => void heard.push('list'))
  return heard
}
