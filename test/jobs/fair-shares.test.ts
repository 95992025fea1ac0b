import type { Client } from '../support/client.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'

// Takes a thread some tenths of a second.
const heavy = '- *a* `b` [c](https://d.example)\n\n'.repeat(600)

t.test('a write of another workspace is not behind the twenty that somebody sent from many connections', async (t) => {
  const { service, hostile, other } = await start(t)
  let ended = 0
  const flood = Array.from({ length: 20 }, async (_, n) => {
    const reply = await create(n % 2 === 0 ? hostile : await anotherToken(service, hostile), heavy)
    ended += 1
    return reply.status
  })
  await until(async () => (await waiting(service)) >= 4)
  const before = ended
  t.equal((await create(other, heavy)).status, 201)
  const between = ended - before
  t.ok(between <= 5, `${between} of the flood ended in between`)
  t.strictSame([...new Set(await Promise.all(flood))], [201])
})

t.test('what a client no longer waits for leaves the queue', async (t) => {
  const { service, hostile, other } = await start(t)
  const gone = new AbortController()
  const body = JSON.stringify({ title: 'x', content: { format: 'markdown', content: heavy } })
  const headers = { authorization: `Bearer ${hostile.token}`, 'content-type': 'application/json' }
  const flood = Array.from({ length: 20 }, () =>
    fetch(`${service.origin}/api/v1/documents`, { method: 'POST', body, headers, signal: gone.signal }).catch(() => {}),
  )
  await until(async () => (await waiting(service)) >= 4)
  gone.abort()
  await Promise.all(flood)
  await until(async () => (await waiting(service)) === 0)
  t.equal((await create(other, 'small')).status, 201)
})

t.test('whoever lets a large body be searched for candidates or an answer holds nobody else up', async (t) => {
  const { service, hostile } = await start(t)
  const { body } = await create(hostile, '[a link](https://d.example) to words\n\n'.repeat(1000))
  const { id } = body.data
  const searches = {
    candidates: () => hostile.post('/concept-candidates/extract', { document_id: id }),
    'a summary of a query': () => hostile.get(`/documents/${id}/summary?query=words`),
  }
  for (const [name, search] of Object.entries(searches)) {
    const before = await computed(service)
    const { status } = await search()
    t.ok(status === 200 || status === 201, `${name}: ${status}`)
    t.equal(await computed(service), before + 1, `${name} are worked out in a thread`)
  }
})

async function start(t: Test) {
  const service = await startTestService(t)
  const hostile = await service.signUp({ email: 'hostile@example.test', workspace: 'Hostile' })
  return { service, hostile, other: await service.signUp() }
}

/** A further token of the same user. */
function anotherToken(service: TestService, { email }: { email: string }): Promise<Client> {
  return service.signUp({ email, workspace: 'Hostile' })
}

function create(client: Client, markdown: string) {
  return client.post('/documents', { title: 'x', content: { format: 'markdown', content: markdown } })
}

/** How many heavy pieces of work wait for their turn. */
function waiting(service: TestService): Promise<number> {
  return metric(service, 'svc_computations{state="waiting"}')
}

/** How many heavy pieces of work have been done in a thread. */
function computed(service: TestService): Promise<number> {
  return metric(service, 'svc_computations_ended_total{end="done"}')
}

async function metric({ origin }: TestService, name: string): Promise<number> {
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  const line = metrics.split('\n').find((line) => line.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}
