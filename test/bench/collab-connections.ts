import type { Site } from '../support/site.ts'
import { type CollabPart, createParagraphs, startBrowsers, startEditorServer } from './collab-sides.ts'
import { type Figure, ms, percentile } from './harness.ts'

const connections = 1000
const documents = 100
// One user may have half of all connections to a process.
const roomForOneUser = String(2 * connections)
const blocks = 50
const words = 20

/**
 * Opens a thousand connections to a hundred documents on one process. Then somebody types a word a second in each
 * document. Measures connecting, memory, the time of a keystroke to another browser, and processor time.
 */
export async function measureConnections(site: Site, { t }: CollabPart): Promise<Figure[]> {
  const ours = await observe(site, { t, kind: 'collab' })
  const bare = await observe(site, { t, kind: 'bare' })
  const figure = (name: string, value: (of: Observed) => string, met?: boolean): Figure[] => [
    { name, value: value(ours), ...(met !== undefined && { bar: 'p95 < 100 ms', met }) },
    { name: 'same, bare Hocuspocus', value: value(bare) },
  ]
  const latency = ({ times }: Observed) => `${ms(percentile(times, 50))} / ${ms(percentile(times, 95))}`
  const fast = ours.times.length === documents * words && percentile(ours.times, 95) < 100
  return [
    ...figure(`${connections} connections to ${documents} documents: time to connect all`, ({ opened }) => ms(opened)),
    ...figure('processor time to connect one', ({ openedCpu }) => ms(openedCpu / connections)),
    ...figure('memory for all', ({ memory }) => `${Math.round(memory / 2 ** 20)} MB`),
    ...figure(`keystroke to another browser, ${documents} words a second, p50 / p95`, latency, fast),
    ...figure('processor time meanwhile', ({ load }) => `${Math.round(100 * load)} %`),
  ]
}

type Observed = { opened: number; openedCpu: number; memory: number; times: number[]; load: number }

async function observe(site: Site, { t, kind }: { t: CollabPart['t']; kind: 'collab' | 'bare' }): Promise<Observed> {
  const server = await startEditorServer(t, { site, kind, settings: { COLLAB_MAX_CONNECTIONS: roomForOneUser } })
  const browsers = startBrowsers(t)
  const token = site.client.bearer ?? ''
  const names: string[] = []
  while (names.length < documents) names.push((await createParagraphs(site, blocks)).id)
  const addresses = Array.from({ length: connections }, (_, index) => ({
    ...{ url: server.url, token },
    name: names[index % documents] ?? '',
  }))
  const { memory: before } = await server.probe()
  const started = { at: performance.now(), cpu: server.cpu() }
  await browsers('open', { addresses, together: 20 })
  const opened = performance.now() - started.at
  const openedCpu = server.cpu() - started.cpu
  const { memory: after } = await server.probe()
  const typing = { at: performance.now(), cpu: server.cpu() }
  const times = await Promise.all(
    names.map((_, index) =>
      browsers('type', { client: index, watcher: documents + index, blocks: [index % blocks], words, pause: 1000 }),
    ),
  )
  const load = (server.cpu() - typing.cpu) / (performance.now() - typing.at)
  await server.stop()
  return { opened, openedCpu, memory: after - before, times: times.flat(), load }
}
