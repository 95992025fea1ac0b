import type { Site, Teardown } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'
import { type ByProcess, processNames, startWholeService, type WholeService } from './whole-service.ts'

const clients = [1, 8, 32, 128]
const documents = 500
const cores = 2

/** What a client does, and how often of twenty calls. */
const shares = { 'read a document': 3, 'read a body': 6, 'read Markdown': 2, 'list documents': 1, write: 5, search: 3 }
type Call = keyof typeof shares
const order = shuffled(
  Object.entries(shares).flatMap(([call, times]) => Array.from({ length: times }, () => call as Call)),
)

/**
 * Measures a mix of 60 % reads, 25 % writes and 15 % searches by 1 to 128 clients. The service runs as a whole, as
 * `npm start` runs it. The knee is the number of clients from which more clients add less than a
 * tenth of the throughput.
 */
export async function measureMix(_: Site, { seconds = 15, t }: { seconds?: number; t: Teardown }): Promise<Figure[]> {
  const service = await startWholeService(t, { sockets: Math.max(...clients) })
  const made = await Promise.all(Array.from({ length: documents / 10 }, () => tenDocuments(service)))
  await service.drained()
  const figures: Figure[] = []
  const levels: Level[] = []
  for (const number of clients) {
    const level = await load(service, { ids: made.flat(), clients: number, seconds })
    levels.push(level)
    figures.push(...told(level))
  }
  return [...figures, knee(levels)]
}

type Level = { clients: number; seconds: number; times: Record<Call, number[]>; cpu: ByProcess }

// Creates ten documents in turn, so that no more calls wait than the service admits.
async function tenDocuments(service: WholeService): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < 10) {
    const content = { format: 'markdown', content: text(ids.length) }
    const creation = { title: `Mix ${ids.length}`, knowledge_base_id: service.knowledgeBase, content }
    ids.push((await service.call('POST', '/documents', creation)).body.data.id)
  }
  return ids
}

async function load(
  service: WholeService,
  { ids, clients: number, seconds }: { ids: readonly string[]; clients: number; seconds: number },
): Promise<Level> {
  const times = Object.fromEntries(Object.keys(shares).map((call) => [call, [] as number[]])) as Level['times']
  const before = service.cpu()
  const begun = performance.now()
  const end = begun + seconds * 1000
  let turn = 0
  const client = async () => {
    while (performance.now() < end) {
      turn += 1
      const call = order[turn % order.length] as Call
      const started = performance.now()
      await calls[call](service, { id: ids[(turn * 7919) % ids.length] ?? '', turn })
      times[call].push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: number }, client))
  const passed = (performance.now() - begun) / 1000
  const after = service.cpu()
  const cpu = Object.fromEntries(processNames.map((name) => [name, after[name] - before[name]])) as ByProcess
  await service.drained()
  return { clients: number, seconds: passed, times, cpu }
}

const calls: Record<Call, (service: WholeService, of: { id: string; turn: number }) => Promise<unknown>> = {
  'read a document': ({ call }, { id }) => call('GET', `/documents/${id}`),
  'read a body': ({ call }, { id }) => call('GET', `/documents/${id}/content`),
  'read Markdown': ({ call }, { id }) => call('GET', `/documents/${id}/content?format=markdown`),
  'list documents': ({ call, knowledgeBase }) => call('GET', `/documents?knowledge_base_id=${knowledgeBase}&limit=50`),
  write: ({ call }, { id, turn }) =>
    call('PUT', `/documents/${id}/content`, { format: 'markdown', content: text(turn) }, { 'if-match': '*' }),
  search: ({ call }, { turn }) => call('GET', `/search/v2?q=${words[turn % words.length]}%20${turn % 100}&limit=20`),
}

const words = 'water garden harvest kitchen letter market mountain river season teacher village window'.split(' ')

// Ten paragraphs, of which a write changes all: Markdown without annotations names no block.
function text(turn: number): string {
  return Array.from({ length: 10 }, (_, index) => {
    const subject = words[(turn + index) % words.length]
    return `The ${subject} of paragraph ${index} was ${words[(turn * 3 + index) % words.length]} number ${turn % 100}, `
      .repeat(4)
      .trim()
  }).join('\n\n')
}

// Calls of one kind must not come in a row. 7 has no common divisor with 20.
function shuffled<T>(all: T[]): T[] {
  return all.map((_, index) => all[(index * 7) % all.length] as T)
}

function told({ clients: number, seconds, times, cpu }: Level): Figure[] {
  const all = Object.values(times).flat()
  const thousands = all.length / 1000
  const by = `${number} client${number === 1 ? '' : 's'}`
  const spread = (of: readonly number[]) => [50, 95, 99].map((percent) => ms(percentile(of, percent))).join(' / ')
  const used = processNames.map((name) => `${name} ${Math.round(cpu[name] / thousands)}`).join(', ')
  return [
    { name: `mix by ${by}`, value: `${Math.round(all.length / seconds)} requests/s, ${busiest({ cpu, seconds })}` },
    { name: `mix by ${by}: CPU per 1,000 requests`, value: `${used} ms` },
    ...Object.entries(times).map(([call, of]) => ({ name: `${call} by ${by}, p50 / p95 / p99`, value: spread(of) })),
  ]
}

// How much of a core each process used.
function busiest({ cpu, seconds }: { cpu: ByProcess; seconds: number }): string {
  return processNames.map((name) => `${name} ${Math.round(cpu[name] / seconds / 10)} %`).join(', ')
}

function knee(levels: readonly Level[]): Figure {
  const rateOf = ({ times, seconds }: Level) => Object.values(times).flat().length / seconds
  const found = levels.find((level, index) => {
    const next = levels[index + 1]
    return next === undefined || rateOf(next) < 1.1 * rateOf(level)
  }) as Level
  const used = Object.values(found.cpu).reduce((sum, one) => sum + one, 0) / found.seconds / 1000
  const api = found.cpu.api / found.seconds / 1000
  const limit = api > 0.85 ? "the API's event loop" : used > 0.7 * cores ? 'the processors of the machine' : 'waiting'
  return { name: 'the knee', value: `${found.clients} clients, where ${limit} limits (${used.toFixed(2)} cores busy)` }
}
