import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Site, Teardown } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'
import { type ByProcess, processNames, startWholeService, type WholeService } from './whole-service.ts'

const streams = 20
const searchPause = 200
const parts = 10

/**
 * Updates one document `writes` times in turn, while streams and searches follow it. Compares the first tenth of the
 * updates with the last tenth: nothing may queue up, and memory may not grow.
 */
export async function measureFollow(
  _: Site,
  { writes = 10_000, t }: { writes?: number; t: Teardown },
): Promise<Figure[]> {
  const service = await startWholeService(t, { settings: { SSE_MAX_STREAMS_PER_TOKEN: String(streams) }, sockets: 4 })
  const content = { format: 'markdown', content: Array.from({ length: 10 }, (_, n) => `paragraph ${n}`).join('\n\n') }
  const creation = { title: 'Followed', knowledge_base_id: service.knowledgeBase, content }
  const { body } = await service.call('POST', '/documents', creation)
  const read = await service.call('GET', `/documents/${body.data.id}/content`)
  const blocks: string[] = read.body.data.document.content.map((block: { attrs: { id: string } }) => block.attrs.id)
  const followed = await Promise.all(Array.from({ length: streams }, () => follow(service, t)))
  const searches = searchAlways(service)
  const tenths: Part[] = []
  for (let part = 0; part < parts; part += 1) {
    tenths.push(await update(service, { id: body.data.id, blocks, updates: writes / parts, followed, searches }))
  }
  searches.end()
  await service.drained()
  const missed = followed.filter(({ arrivals }) => arrivals.length !== writes).length
  return [
    ...tenths.flatMap((part, index) => (index === 0 || index === parts - 1 ? told(part, index) : [])),
    ...compared(tenths),
    { name: `streams that missed one of ${writes} events`, value: String(missed), bar: 'none', met: missed === 0 },
  ]
}

/** What a tenth of the updates showed: milliseconds, updates per second, and jobs and marks that waited at its end. */
type Part = { rate: number; lags: number[]; searches: number[]; waiting: number; memory: ByProcess }

type Stream = { arrivals: number[] }

async function follow({ origin, token }: WholeService, t: Teardown): Promise<Stream> {
  const stream: Stream = { arrivals: [] }
  const opened = get(`${origin}/api/v1/events`, { headers: { authorization: `Bearer ${token}` } })
  const [response] = (await once(opened, 'response')) as [IncomingMessage]
  t.teardown(() => response.destroy())
  let rest = ''
  response.setEncoding('utf8').on('data', (text: string) => {
    const events = (rest + text).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      if (/^event: document\.content\.updated/m.test(event)) stream.arrivals.push(performance.now())
    }
  })
  response.on('error', () => {})
  return stream
}

function searchAlways({ call }: WholeService) {
  const times: number[] = []
  const state = { over: false }
  const loop = async () => {
    while (!state.over) {
      const started = performance.now()
      await call('GET', '/search/v2?q=paragraph&limit=20')
      times.push(performance.now() - started)
      await sleep(searchPause)
    }
  }
  void loop()
  return {
    take: () => times.splice(0),
    end: () => {
      state.over = true
    },
  }
}

type Updating = {
  id: string
  blocks: readonly string[]
  updates: number
  followed: readonly Stream[]
  searches: { take: () => number[] }
}

async function update(service: WholeService, { id, blocks, updates, followed, searches }: Updating): Promise<Part> {
  const answered: number[] = []
  const seenBefore = followed[0]?.arrivals.length ?? 0
  const begun = performance.now()
  for (let turn = 0; turn < updates; turn += 1) {
    const text = `paragraph in its version ${turn} of ${Math.round(begun)}`
    const path = `/documents/${id}/blocks/${blocks[turn % blocks.length]}`
    await service.call('PATCH', path, { content: [{ type: 'text', text }] }, { 'if-match': '*' })
    answered.push(performance.now())
  }
  const rate = updates / ((performance.now() - begun) / 1000)
  const [{ waiting }] = await service.ask(`
    SELECT (SELECT count(*) FROM stale_projections) +
      (SELECT count(*) FROM pgboss.job WHERE state IN ('created', 'retry', 'active') AND name NOT LIKE '%sweep%')
      + (SELECT count(*) FROM events WHERE event_id IS NULL) AS waiting`)
  await sleep(2000)
  const arrivals = followed[0]?.arrivals.slice(seenBefore) ?? []
  const lags = answered.map((at, index) => Math.max(0, (arrivals[index] ?? Number.NaN) - at))
  return { rate, lags, searches: searches.take(), waiting: Number(waiting), memory: service.memory() }
}

function told({ rate, lags, searches, waiting, memory }: Part, index: number): Figure[] {
  const part = index === 0 ? 'first tenth' : 'last tenth'
  const both = (of: readonly number[]) => `${ms(percentile(of, 50))} / ${ms(percentile(of, 95))}`
  return [
    { name: `updates of one document, ${part}`, value: `${Math.round(rate)}/s` },
    { name: `update answered to event read, p50 / p95, ${part}`, value: both(lags) },
    { name: `search meanwhile, p50 / p95, ${part}`, value: both(searches) },
    { name: `jobs, marks and events that waited at the end of the ${part}`, value: String(waiting) },
    { name: `memory, ${part}`, value: processNames.map((name) => `${name} ${Math.round(memory[name])} MB`).join(', ') },
  ]
}

// The first tenth warms the processes up, so the second tenth is the base.
function compared(tenths: readonly Part[]): Figure[] {
  const [base, last] = [tenths[1] as Part, tenths.at(-1) as Part]
  const ratio = (name: string, value: number, most: number): Figure => ({
    name: `${name}, last tenth to second tenth`,
    value: value.toFixed(2),
    bar: `at most ${most}`,
    met: value <= most,
  })
  const node = ({ memory }: Part) => memory.api + memory.workers
  return [
    ratio('time of an update', base.rate / last.rate, 1.5),
    ratio('lag of events', percentile(last.lags, 95) / percentile(base.lags, 95), 1.5),
    ratio('time of a search', percentile(last.searches, 95) / percentile(base.searches, 95), 1.5),
    ratio('memory of API and workers', node(last) / node(base), 1.2),
  ]
}
