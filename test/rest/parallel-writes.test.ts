import { setTimeout as sleep } from 'node:timers/promises'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

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
  const ada = await service.signUp()
  let refused = 0
  const stored = new Set<string>()
  const create = async (title: string): Promise<void> => {
    const reply = await ada.post('/knowledge-bases', { name: title })
    if (reply.status === 201) {
      stored.add(reply.body.data.id)
      return
    }
    refused += 1
    const after = Number(reply.headers.get('retry-after'))
    if (reply.status !== 429 || ![1, 2].includes(after) || reply.headers.has('x-ratelimit-limit')) {
      throw new Error(`${reply.status} ${reply.headers.get('retry-after')} ${reply.text}`)
    }
    t.match(reply.body.error, { code: 'rate_limited', details: { bucket: 'concurrency', retry_after: after } })
    await sleep(after * 1000)
    await create(title)
  }
  await Promise.all(Array.from({ length: 540 }, (_, index) => create(`Base ${index}`)))
  t.ok(refused > 0)
  t.equal(stored.size, 540)
})

t.test('the writes of one user do not make another user wait or fail', async (t) => {
  const [ada, grace] = [await service.signUp(), await service.signUp()]
  const create = (title: string) => ({ title, content: { format: 'markdown', content: text } })
  const flood = Array.from({ length: 150 }, (_, index) => ada.post('/documents', create(`Document ${index}`)))
  const replies = await Promise.all(
    Array.from({ length: 5 }, (_, index) => grace.post('/documents', create(`${index}`))),
  )
  t.strictSame(
    replies.map(({ status }) => status),
    [201, 201, 201, 201, 201],
  )
  await Promise.all(flood)
})

t.test('a read is never refused for the writes of its user', async (t) => {
  const ada = await service.signUp()
  const body = { title: 'Document', content: { format: 'markdown', content: text } }
  const flood = Array.from({ length: 100 }, () => ada.post('/documents', body))
  t.equal((await ada.get('/me')).status, 200)
  await Promise.all(flood)
})
