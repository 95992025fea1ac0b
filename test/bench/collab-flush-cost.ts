import type { Settings } from '../support/processes.ts'
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
const warmRounds = 15
const saves = 20

/** The required processor time in milliseconds, by the number of blocks. */
const bars: Record<number, { flush: number; write: number }> = {
  1000: { flush: 2, write: 1 },
  10000: { flush: 12, write: 8 },
}

/** A server with the one browser that has a document open. */
type Side = { server: EditorServer; client: number; document: BenchDocument }

/**
 * Measures the processor time of the server, and of PostgreSQL, for one typed word and for one write of the API that an
 * open document catches up with. The time of a word has two parts. One is receiving it, on a server that does not store
 * meanwhile. The other is the flush, which is what a word costs more on a server that stores each word. All figures
 * contain everything else that the process does in that time.
 */
export async function measureFlushes(site: Site, { t, sizes }: CollabPart): Promise<Figure[]> {
  // Each typed word is stored by itself, a moment later.
  const storing = { COLLAB_DEBOUNCE_MS: '10', COLLAB_MAX_DEBOUNCE_MS: '10' }
  const receiving = { COLLAB_DEBOUNCE_MS: '60000', COLLAB_MAX_DEBOUNCE_MS: '60000' }
  const start = (kind: 'collab' | 'bare', settings: Settings) => startEditorServer(t, { site, kind, settings })
  const servers = {
    save: await start('collab', storing),
    deliver: await start('collab', receiving),
    bareSave: await start('bare', storing),
    bareDeliver: await start('bare', receiving),
  }
  const browsers = startBrowsers(t)
  const figures: Figure[] = []
  for (const size of sizes) {
    const open = (server: EditorServer) => openSide(site, { browsers, server, size })
    const sides = {
      save: await open(servers.save),
      deliver: await open(servers.deliver),
      bareSave: await open(servers.bareSave),
      bareDeliver: await open(servers.bareDeliver),
    }
    const postgres: ByKind<number[]> = { save: [], deliver: [], bareSave: [], bareDeliver: [], write: [] }
    const turn =
      (kind: Kind, { server }: Side, work: () => Promise<unknown>) =>
      async () => {
        const before = { server: server.cpu(), postgres: postgresCpu(site) }
        await work()
        postgres[kind].push((postgresCpu(site) - before.postgres) / saves)
        return (server.cpu() - before.server) / saves
      }
    const measured = {
      save: turn('save', sides.save, () => type(browsers, 'save', sides.save)),
      deliver: turn('deliver', sides.deliver, () => type(browsers, 'deliver', sides.deliver)),
      bareSave: turn('bareSave', sides.bareSave, () => type(browsers, 'save', sides.bareSave)),
      bareDeliver: turn('bareDeliver', sides.bareDeliver, () => type(browsers, 'deliver', sides.bareDeliver)),
      write: turn('write', sides.save, () => write(site, browsers, sides.save)),
    }
    // A server compiles its code while it works.
    await alternate(warmRounds, measured)
    for (const values of Object.values(postgres)) values.length = 0
    const cost = await alternate(rounds, measured)
    figures.push(...told(size, cost, postgres))
    await browsers('close', { clients: Object.values(sides).map(({ client }) => client) })
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

function type(browsers: Browsers, how: 'save' | 'deliver', { client, document }: Side): Promise<unknown> {
  return browsers(how, { client, block: Math.floor(document.blocks.length / 2), times: saves })
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

type Kind = 'save' | 'deliver' | 'bareSave' | 'bareDeliver' | 'write'
type ByKind<Value> = Record<Kind, Value>

function told(size: number, cost: ByKind<number>, postgres: ByKind<number[]>): Figure[] {
  const ofPostgres = (kind: Kind) => percentile(postgres[kind], 50)
  const figure = (what: string, [own, database]: [own: number, database: number], most?: number): Figure => ({
    name: `CPU of ${what}, ${size} blocks: server, PostgreSQL`,
    value: `${ms(own)}, ${ms(database)}`,
    ...(most !== undefined && { bar: `server at most ${most} ms`, met: own <= most }),
  })
  const one = (kind: Kind): [number, number] => [cost[kind], ofPostgres(kind)]
  const difference = (more: Kind, less: Kind): [number, number] => [
    cost[more] - cost[less],
    ofPostgres(more) - ofPostgres(less),
  ]
  return [
    figure('receiving one typed word', one('deliver')),
    figure('the same, bare Hocuspocus', one('bareDeliver')),
    figure('the flush of that word', difference('save', 'deliver'), bars[size]?.flush),
    figure('the same, bare Hocuspocus', difference('bareSave', 'bareDeliver')),
    figure('a write of the API in an open document', one('write'), bars[size]?.write),
  ]
}
