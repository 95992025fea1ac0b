import type { Site } from '../support/site.ts'
import {
  type BenchDocument,
  type Browsers,
  type CollabPart,
  createParagraphs,
  type EditorServer,
  patchParagraph,
  postgresCpu,
  startBrowsers,
  startEditorServer,
} from './collab-sides.ts'
import { alternate, type Figure, ms, percentile } from './harness.ts'

const rounds = 5
const warmRounds = 3
const saves = 20

/** The required processor time in milliseconds, by the number of blocks. */
const bars: Record<number, { flush: number; write: number }> = {
  1000: { flush: 2, write: 1 },
  10000: { flush: 12, write: 8 },
}

/** A server with the one browser that has a document open. */
type Side = { server: EditorServer; client: number; document: BenchDocument }

/**
 * Measures the processor time of the server, and of PostgreSQL, for one typed word that is stored, and for one write of
 * the API that an open document catches up with. Both contain all other work of the process in that time.
 */
export async function measureFlushes(site: Site, { t, sizes }: CollabPart): Promise<Figure[]> {
  // Each typed word is stored by itself, a moment later.
  const settings = { COLLAB_DEBOUNCE_MS: '10', COLLAB_MAX_DEBOUNCE_MS: '10' }
  const servers = {
    collab: await startEditorServer(t, { site, kind: 'collab', settings }),
    bare: await startEditorServer(t, { site, kind: 'bare', settings }),
  }
  const browsers = startBrowsers(t)
  const figures: Figure[] = []
  for (const size of sizes) {
    const collab = await openSide(site, { browsers, server: servers.collab, size })
    const bare = await openSide(site, { browsers, server: servers.bare, size })
    const postgres = { flush: [], bare: [], write: [] } as Record<'flush' | 'bare' | 'write', number[]>
    const turn =
      (kind: keyof typeof postgres, { server }: Side, work: () => Promise<unknown>) =>
      async () => {
        const before = { server: server.cpu(), postgres: postgresCpu(site) }
        await work()
        postgres[kind].push((postgresCpu(site) - before.postgres) / saves)
        return (server.cpu() - before.server) / saves
      }
    const measured = {
      flush: turn('flush', collab, () => save(browsers, collab)),
      bare: turn('bare', bare, () => save(browsers, bare)),
      write: turn('write', collab, () => write(site, browsers, collab)),
    }
    // A server compiles its code while it works.
    await alternate(warmRounds, measured)
    for (const values of Object.values(postgres)) values.length = 0
    const cost = await alternate(rounds, measured)
    figures.push(...told(size, cost, postgres))
    await browsers('close', { clients: [collab.client, bare.client] })
  }
  return figures
}

async function openSide(
  site: Site,
  { browsers, server, size }: { browsers: Browsers; server: EditorServer; size: number },
): Promise<Side> {
  const document = await createParagraphs(site, size)
  const addresses = [{ url: server.url, name: document.id, token: site.client.bearer ?? '' }]
  return { server, document, client: await browsers('open', { addresses, together: 1 }) }
}

function save(browsers: Browsers, { client, document }: Side): Promise<unknown> {
  return browsers('save', { client, block: Math.floor(document.blocks.length / 2), times: saves })
}

async function write(site: Site, browsers: Browsers, { client, document }: Side): Promise<void> {
  for (let turn = 0; turn < saves; turn += 1) {
    const word = `w${Math.round(performance.now() * 1000)}w`
    const seen = browsers('watch', { client, text: word })
    const block = document.blocks[(7 * turn) % document.blocks.length] ?? ''
    await patchParagraph(site, { id: document.id, block, text: `a program writes ${word}` })
    await seen
  }
}

type ByKind<Value> = Record<'flush' | 'bare' | 'write', Value>

function told(size: number, cost: ByKind<number>, postgres: ByKind<number[]>): Figure[] {
  const figure = (what: string, kind: keyof typeof cost, most?: number): Figure => ({
    name: `CPU of ${what}, ${size} blocks: server, PostgreSQL`,
    value: `${ms(cost[kind])}, ${ms(percentile(postgres[kind], 50))}`,
    ...(most !== undefined && { bar: `server at most ${most} ms`, met: cost[kind] <= most }),
  })
  return [
    figure('a flush of one typed word', 'flush', bars[size]?.flush),
    figure('the same, bare Hocuspocus', 'bare'),
    figure('a write of the API in an open document', 'write', bars[size]?.write),
  ]
}
