import { Client } from '../support/client.ts'
import { bootstrapToken, type Site } from '../support/site.ts'
import { alternate, type Figure, ms, percentile } from './harness.ts'

const rounds = 5
const writes = 200
const text = 'An elephant drinks a hundred litres a day. '.repeat(95)

/**
 * Measures what 200 creates at once of one user cost another user: the 95th percentile of that user's own creates
 * meanwhile, beside the same load spread over ten users.
 */
export async function measureParallel(site: Site): Promise<Figure[]> {
  const crowd: Client[] = []
  for (let person = 0; person < 11; person += 1) {
    const token = await bootstrapToken(site.env, `person${person}@example.test`)
    crowd.push(new Client({ origin: site.api.origin, token }))
  }
  const other = crowd.pop() as Client
  const beside = (users: readonly Client[]) => async () => {
    const load = Promise.all(
      Array.from({ length: writes }, (_, index) => create(users[index % users.length] as Client)),
    )
    const times: number[] = []
    let isOver = false
    void load.finally(() => {
      isOver = true
    })
    do {
      const begun = performance.now()
      await create(other)
      times.push(performance.now() - begun)
    } while (!isOver)
    await load
    return percentile(times, 95)
  }
  const p95 = await alternate(rounds, { one: beside(crowd.slice(0, 1)), ten: beside(crowd) })
  const ratio = p95.one / p95.ten
  return [
    { name: 'create beside 200 parallel creates of ten users, p95', value: ms(p95.ten) },
    {
      name: 'beside 200 parallel creates of one user, p95',
      value: `${ms(p95.one)} (×${ratio.toFixed(2)})`,
      bar: '× 2',
      met: ratio <= 2,
    },
  ]
}

async function create(client: Client): Promise<void> {
  const reply = await client.post('/documents', { title: 'Text', content: { format: 'markdown', content: text } })
  if (reply.status !== 201 && reply.status !== 429) throw new Error(`${reply.status} ${reply.text}`)
}
