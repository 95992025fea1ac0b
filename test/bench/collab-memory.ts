import type { Site } from '../support/site.ts'
import type { Address } from './collab-clients.ts'
import { type CollabPart, createParagraphs, startBrowsers, startEditorServer } from './collab-sides.ts'
import type { Figure } from './harness.ts'

const documents = 5
const connections = 40

/**
 * Measures the memory of a server for each open document and for each further connection, after a garbage collection.
 */
export async function measureMemory(site: Site, { t, sizes }: CollabPart): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const size of sizes) {
    for (const kind of ['collab', 'bare'] as const) {
      const { document, connection } = await memoryOf(site, { t, size, kind })
      const whose = kind === 'bare' ? ', bare Hocuspocus' : ''
      figures.push(
        { name: `memory per open document of ${size} blocks${whose}`, value: `${(document / 2 ** 20).toFixed(1)} MB` },
        { name: `memory per connection, ${size} blocks${whose}`, value: `${Math.round(connection / 1024)} kB` },
      )
    }
  }
  return figures
}

async function memoryOf(
  site: Site,
  { t, size, kind }: { t: CollabPart['t']; size: number; kind: 'collab' | 'bare' },
): Promise<{ document: number; connection: number }> {
  const server = await startEditorServer(t, { site, kind })
  const browsers = startBrowsers(t)
  const made = await Promise.all(Array.from({ length: documents + 1 }, () => createParagraphs(site, size)))
  const address = (index: number) => ({ url: server.url, name: made[index]?.id ?? '', token: site.client.bearer ?? '' })
  const open = (addresses: Address[]) => browsers('open', { addresses, together: 1 })
  // What a process needs once is loaded by the first document and its first connections.
  await open([address(0), address(0)])
  const before = (await server.probe()).memory
  await open(made.slice(1).map((_, index) => address(index + 1)))
  const opened = (await server.probe()).memory
  await open(Array.from({ length: connections }, () => address(0)))
  const connected = (await server.probe()).memory
  await server.stop()
  return { document: (opened - before) / documents, connection: (connected - opened) / connections }
}
