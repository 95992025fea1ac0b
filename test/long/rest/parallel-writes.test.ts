import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Reply } from '../../support/client.ts'
import { sharedService, startTestService } from '../../support/service.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

const service = await sharedService()
const text = 'An elephant drinks a hundred litres a day. '.repeat(95)

t.test('a script that creates 200 documents at once gets them all stored', async (t) => {
  const ada = await service.signUp()
  const create = (_: unknown, index: number) =>
    ada.post('/documents', { title: `Document ${index}`, content: { format: 'markdown', content: text } })
  const replies = await Promise.all(Array.from({ length: 200 }, create))
  t.ok(replies.every(({ status }) => status === 201))
})

t.test('surplus writes are told to wait for a second or two, and are all stored then', async (t) => {
  const own = await startTestService(t)
  const ada = await own.signUp()
  const { id: base } = (await ada.post('/knowledge-bases', { name: 'Base' })).body.data
  const create = (_: unknown, index: number) => ada.post('/folders', { name: `${index}`, knowledge_base_id: base })
  const locking = new pg.Client(own.url)
  await locking.connect()
  await locking.query('BEGIN; LOCK TABLE folders')
  const replies = Array.from({ length: 520 }, create)
  const refused: Reply[] = []
  for (const reply of replies) void reply.then((one) => one.status === 429 && refused.push(one))
  await until(async () => refused.length > 0)
  await locking.query('COMMIT')
  await locking.end()
  const statuses = (await Promise.all(replies)).map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 201).length, replies.length - refused.length)
  for (const { headers, body } of refused) {
    const after = Number(headers.get('retry-after'))
    t.ok([1, 2].includes(after) && !headers.has('x-ratelimit-limit'))
    t.match(body.error, { code: 'rate_limited', details: { bucket: 'concurrency', retry_after: after } })
  }
  await sleep(Math.max(...refused.map(({ headers }) => Number(headers.get('retry-after')))) * 1000)
  const again = await Promise.all(Array.from({ length: refused.length }, create))
  t.ok(again.every(({ status }) => status === 201))
})

t.test('the writes of one user make neither another user nor the own reads wait or fail', async (t) => {
  const [ada, grace] = [await service.signUp(), await service.signUp()]
  const create = (title: string) => ({ title, content: { format: 'markdown', content: text } })
  const flood = Array.from({ length: 60 }, (_, index) => ada.post('/documents', create(`Document ${index}`)))
  t.equal((await ada.get('/me')).status, 200)
  const replies = await Promise.all(['1', '2', '3'].map((title) => grace.post('/documents', create(title))))
  t.ok(replies.every(({ status }) => status === 201))
  await Promise.all(flood)
})
