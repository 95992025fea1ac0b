import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startApi } from '../support/processes.ts'
import { bootstrapToken, createDocument, type Site } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'
import type { Observed, StreamsRequest } from './stream-clients.ts'

const streams = 1000
// After these streams, the process has everything that it needs once for any number of streams.
const first = 200
const streamsPerToken = 100
const writesPerSecond = 50
const seconds = 20

/**
 * Opens a thousand streams on one API process while another process writes documents. Measures whether each stream gets
 * every event once and in order, the delay after the write, and the memory of a stream. The baseline is `node:http`
 * that sends each event to as many responses, without database, filters and rights.
 */
export async function measureStreams(site: Site): Promise<Figure[]> {
  await site.work('events')
  const api = await startApi({ ...site.env, SSE_MAX_STREAMS_PER_TOKEN: String(streamsPerToken) })
  const tokens: string[] = []
  while (tokens.length * streamsPerToken < streams) tokens.push(await bootstrapToken(site.env))
  const ours = await observe({
    url: `${api.origin}/api/v1/events`,
    tokens,
    pid: api.pid,
    produce: async () => (await createDocument(site, 'text')).id,
  })
  await api.stop()
  const least = await observeBaseline()
  return [
    { name: `streams that saw each of ${ours.produced} events once, in order`, ...all(ours.complete, streams) },
    { name: 'write answered to event read by a client, p50', value: ms(percentile(ours.latencies, 50)) },
    { name: 'write answered to event read by a client, p95', value: ms(percentile(ours.latencies, 95)) },
    { name: 'same, node:http alone, p50 / p95', value: both(least.latencies) },
    { name: 'memory per open stream', value: `${kilobytes(ours)} kB` },
    { name: 'same, node:http alone', value: `${kilobytes(least)} kB` },
    { name: 'processor time of the API process', value: `${Math.round(ours.processor * 100)} %` },
    { name: 'same, node:http alone', value: `${Math.round(least.processor * 100)} %` },
  ]
}

type Observation = Observed & { produced: number; residentBefore: number; residentOpen: number; processor: number }

async function observe(options: {
  url: string
  tokens: string[]
  pid: number
  produce: () => Promise<string>
}): Promise<Observation> {
  const { pid } = options
  const clients = fork(fileURLToPath(new URL('stream-clients.ts', import.meta.url)))
  clients.send({ url: options.url, tokens: options.tokens, streams, first } satisfies StreamsRequest)
  await once(clients, 'message')
  const residentBefore = resident(pid)
  clients.send('rest')
  await once(clients, 'message')
  const residentOpen = resident(pid)
  const answered: Record<string, number> = {}
  const started = performance.now()
  const before = processorSeconds(pid)
  const writes: Promise<void>[] = []
  for (let number = 0; number < writesPerSecond * seconds; number += 1) {
    const due = started + (number * 1000) / writesPerSecond
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    writes.push(
      options.produce().then((id) => {
        answered[id] = Date.now()
      }),
    )
  }
  await Promise.all(writes)
  const processor = (processorSeconds(pid) - before) / ((performance.now() - started) / 1000)
  clients.send({ answered })
  const [observed] = (await once(clients, 'message')) as [Observed]
  clients.disconnect()
  return { ...observed, produced: writes.length, residentBefore, residentOpen, processor }
}

async function observeBaseline(): Promise<Observation> {
  const server = fork(fileURLToPath(new URL('stream-baseline.ts', import.meta.url)))
  const [port] = (await once(server, 'message')) as [number]
  let serial = 0
  const observation = await observe({
    url: `http://127.0.0.1:${port}/`,
    tokens: ['none'],
    pid: server.pid ?? 0,
    produce: async () => {
      serial += 1
      server.send({ serial })
      return `doc_${serial}`
    },
  })
  server.kill()
  return observation
}

function all(count: number, expected: number): Pick<Figure, 'value' | 'bar' | 'met'> {
  return { value: `${count} of ${expected}`, bar: 'all', met: count === expected }
}

function both(latencies: readonly number[]): string {
  return `${ms(percentile(latencies, 50))} / ${ms(percentile(latencies, 95))}`
}

function kilobytes({ residentBefore, residentOpen }: Observation): number {
  return Math.round((residentOpen - residentBefore) / (streams - first))
}

function resident(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
}

// The processor time of the process so far, in whole ticks.
function processorSeconds(pid: number): number {
  const fields =
    execFileSync('cat', [`/proc/${pid}/stat`], { encoding: 'utf8' })
      .split(') ')[1]
      ?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
