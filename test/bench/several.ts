import { markdownFiles } from '../support/markdown-files.ts'
import type { Site } from '../support/site.ts'
import { copyDocuments } from './copied-documents.ts'
import { alternate, type Figure, ms } from './harness.ts'
import { allProcesses } from './proc.ts'

const rounds = 7
// A hundred bodies of this size would take 400 MB of memory at once.
const largeBody = 4e6

/**
 * Measures one call that reads a hundred documents against a hundred calls that read one each: the time for the client,
 * and the processor time of the API process. Then measures what a call about large documents takes from the process:
 * memory, which must not grow with their number, and the longest block of the event loop.
 */
export async function measureSeveral(site: Site): Promise<Figure[]> {
  const ids = await people(site)
  const times = await alternate(rounds, {
    one: () => elapsed(() => together(site, ids)),
    many: () => elapsed(() => oneByOne(site, ids)),
  })
  const costs = await alternate(rounds, {
    one: () => cost(site, () => together(site, ids)),
    many: () => cost(site, () => oneByOne(site, ids)),
  })
  const gain = (measured: { one: number; many: number }) => measured.many / measured.one
  return [
    { name: '100 documents in one call, for the client', value: ms(times.one) },
    { name: 'in 100 calls, one after the other', value: `${ms(times.many)} (×${gain(times).toFixed(1)})` },
    {
      name: '100 documents in one call, CPU of the API',
      value: ms(costs.one),
      bar: 'less than 100 calls',
      met: gain(costs) > 1,
    },
    { name: 'in 100 calls', value: `${ms(costs.many)} (×${gain(costs).toFixed(1)})` },
    ...(await measureLarge(site)),
  ]
}

async function measureLarge(site: Site): Promise<Figure[]> {
  const html = (n: number) => `<p>${n}</p>`.padEnd(8000, '-')
  const blocks = Array.from({ length: largeBody / 8000 }, (_, n) => ({ type: 'htmlBlock', attrs: { html: html(n) } }))
  const content = { format: 'tiptap-json', document: { type: 'doc', content: blocks } }
  const { body } = await site.client.post('/documents', {
    title: 'Large',
    knowledge_base_id: site.knowledgeBase,
    content,
  })
  await copyDocuments(site, { ids: [body.data.id], times: 100 })
  const ids = Array.from({ length: 100 }, (_, n) => `${body.data.id}_${n + 1}`)
  await metric(site, longestLag)
  const ten = await peak(site, () => together(site, ids.slice(0, 10)))
  const hundred = await peak(site, () => together(site, ids))
  const lag = await metric(site, longestLag)
  return [
    { name: 'resident memory of the API at most, 10 bodies of 4 MB', value: `${ten} MB` },
    { name: '100 bodies of 4 MB', value: `${hundred} MB`, bar: 'with 10 bodies + 25 %', met: hundred <= ten * 1.25 },
    { name: 'longest block of the event loop meanwhile', value: ms(lag * 1000) },
  ]
}

/** Writes a hundred documents as people write them, and returns their ids. */
async function people({ client, knowledgeBase }: Site): Promise<string[]> {
  const files = markdownFiles(600).filter(({ text }) => text.length > 1000 && text.length < 10_000)
  const ids: string[] = []
  for (const { title, text } of files.slice(0, 100)) {
    const content = { format: 'markdown', content: text }
    const document = { title: title.slice(-100), knowledge_base_id: knowledgeBase, content }
    ids.push((await client.post('/documents', document)).body.data.id)
  }
  return ids
}

async function together({ client }: Site, ids: readonly string[]): Promise<void> {
  const { status, text } = await client.post('/documents/read', { ids })
  if (status !== 200) throw new Error(text)
}

async function oneByOne({ client }: Site, ids: readonly string[]): Promise<void> {
  for (const id of ids) await client.get(`/documents/${id}/read`)
}

async function elapsed(work: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function cost(site: Site, work: () => Promise<void>): Promise<number> {
  const before = await metric(site, 'process_cpu_seconds_total')
  await work()
  return ((await metric(site, 'process_cpu_seconds_total')) - before) * 1000
}

/** The most resident memory of the API process during some work, in megabytes. */
async function peak({ api }: Site, work: () => Promise<void>): Promise<number> {
  const samples: number[] = []
  const sample = () =>
    samples.push(...allProcesses().flatMap(({ pid, megabytes }) => (pid === api.pid ? megabytes : [])))
  const sampling = setInterval(sample, 50)
  try {
    await work()
  } finally {
    clearInterval(sampling)
  }
  sample()
  return Math.round(Math.max(...samples))
}

const longestLag = 'nodejs_eventloop_lag_max_seconds'

async function metric({ api }: Site, name: string): Promise<number> {
  const metrics = await (await fetch(`${api.origin}/metrics`)).text()
  const line = metrics.split('\n').find((line) => line.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}
