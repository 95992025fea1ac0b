import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { startApi } from '../support/processes.ts'
import { createDocument, type Site, type Teardown } from '../support/site.ts'
import { alternate, type Figure, percentile, rate } from './harness.ts'
import { PlainWriter } from './plain-writer.ts'
import { type ByProcess, installedCommit, processNames, startWholeService, type WholeService } from './whole-service.ts'

const count = 160
const concurrency = 8
const blocks = 10
const secondsAtRest = 10

/** The writes that are measured, each of a document of ten paragraphs. */
const kinds = ['create', 'put', 'patch', 'batch'] as const
type Kind = (typeof kinds)[number]

const titles: Record<Kind, string> = {
  create: 'create of ten blocks',
  put: 'PUT of ten blocks, one changed',
  patch: 'PATCH of one block of ten',
  batch: 'batch of twenty operations on ten blocks',
}

const bars: Partial<Record<Kind, number>> = { create: 17, put: 12, patch: 9 }

/**
 * Measures writes over HTTP against whole services as `npm start` runs them: this tree and, with `against`, a commit
 * beside it, in alternating rounds. A write costs what all processes together need until its projections are current,
 * without what they need at rest. The baseline is one transaction for each write, with the same rows by plain `pg` and
 * the same three jobs by bare pg-boss, on the database of `site`, where no worker runs.
 */
export async function measureWrites(
  site: Site,
  { against, rounds = 5, t }: { against?: string; rounds?: number; t: Teardown },
): Promise<Figure[]> {
  const sides: Record<string, Side> = { now: await openSide(await startWholeService(t)) }
  if (against !== undefined) {
    sides[against] = await openSide(await startWholeService(t, { directory: installedCommit(against) }))
  }
  await createDocument(site, 'the template of the plain documents')
  const plain = await PlainWriter.open(site, { paragraphs: () => paragraphs(blocks), concurrency })
  t.teardown(() => plain.end())
  const unit = fixedLoop()
  const figures: Figure[] = [
    { name: 'unit: the fixed loop of ten million steps', value: `${unit.toFixed(1)} ms CPU` },
    ...Object.entries(sides).map(([name, { rest }]) => ({ name: `at rest, ${name}`, value: perSecond(rest) })),
  ]
  for (const kind of kinds) {
    const runs = Object.entries(sides).map(([name, side]) => [name, () => measured(side, kind)] as const)
    const baseline: Record<string, () => Promise<number>> =
      kind === 'create' || kind === 'put' ? { plain: () => plain.round(kind, count) } : {}
    for (const warm of Object.values({ ...Object.fromEntries(runs), ...baseline })) await warm()
    for (const side of Object.values(sides)) side.rounds = []
    const rates = await alternate(rounds, { ...Object.fromEntries(runs), ...baseline })
    figures.push(...told(kind, { sides, rates, unit, against }), ...(await statementsOf(kind, { site, sides, t })))
  }
  return figures
}

/** One of the compared services, with its documents and what the rounds of the present kind have cost. */
type Side = { service: WholeService; documents: Written[]; rest: ByProcess; rounds: Cost[] }

/** A service to write to, and its documents. */
type Target = { service: Pick<WholeService, 'call' | 'knowledgeBase'>; documents: Written[] }

type Written = { id: string; paragraphs: { attrs: { id: string } }[] }

/** The cost of one write: CPU in milliseconds, WAL in bytes. */
type Cost = { cpu: ByProcess; wal: number }

async function openSide(service: WholeService): Promise<Side> {
  const side: Side = { service, documents: [], rest: { api: 0, workers: 0, postgres: 0, start: 0 }, rounds: [] }
  await rate({ count, concurrency }, async () => {
    side.documents.push(await created(service))
  })
  await service.drained()
  // The processes compile and collect for a while after their first work.
  await sleep(5000)
  const before = service.cpu()
  await sleep(secondsAtRest * 1000)
  const after = service.cpu()
  for (const name of processNames) side.rest[name] = (after[name] - before[name]) / secondsAtRest
  return side
}

async function created(service: Target['service']): Promise<Written> {
  const { body } = await service.call('POST', '/documents', creation(service))
  const content = await service.call('GET', `/documents/${body.data.id}/content`)
  return { id: body.data.id, paragraphs: content.body.data.document.content }
}

// The statements of a write in all processes of this tree, and the round trips of the API for it.
async function statementsOf(
  kind: Kind,
  { site, sides, t }: { site: Site; sides: Record<string, Side>; t: Teardown },
): Promise<Figure[]> {
  const now = sides['now'] as Side
  const statements = await now.service.countStatements(async () => {
    await rate({ count, concurrency }, (index) => write(now, kind, index))
    await now.service.drained()
  })
  const proxy = await startCountingProxy(t, site.url)
  const api = await startApi({ ...site.env, DATABASE_URL: proxy.url })
  const client = new Client({ origin: api.origin, token: site.client.bearer ?? '' })
  const call: WholeService['call'] = (method, path, body, headers = {}) => client.call(method, path, { body, headers })
  const service = { call, knowledgeBase: site.knowledgeBase }
  const target = { service, documents: [await created(service)] }
  // Pools and caches are filled by the first writes.
  for (let turn = 0; turn < 5; turn += 1) await write(target, kind, 0)
  const { statements: own } = await proxy.count(() => write(target, kind, 0))
  await api.stop()
  const value = `${(statements / count).toFixed(1)}, of them ${own.length} by the API`
  return [{ name: `${titles[kind]}: statements`, value }]
}

// One round of a kind. Returns the acknowledged writes per second.
async function measured(side: Side, kind: Kind): Promise<number> {
  const { service, rest } = side
  const [{ wal: walBefore }] = await service.ask(position)
  const before = service.cpu()
  const begun = performance.now()
  const written = await rate({ count, concurrency }, (index) => write(side, kind, index))
  await service.drained()
  const seconds = (performance.now() - begun) / 1000
  const after = service.cpu()
  const [{ wal: walAfter }] = await service.ask(position)
  const perWrite = (name: keyof ByProcess) => (after[name] - before[name] - rest[name] * seconds) / count
  const cpu = Object.fromEntries(processNames.map((name) => [name, perWrite(name)])) as ByProcess
  side.rounds.push({ cpu, wal: (Number(walAfter) - Number(walBefore)) / count })
  return written
}

const position = `SELECT pg_current_wal_lsn() - '0/0' AS wal`

async function write({ service, documents }: Target, kind: Kind, index: number): Promise<void> {
  const document = documents[index] as Written
  const any = { 'if-match': '*' }
  const path = `/documents/${document.id}`
  const changed = document.paragraphs[index % blocks] as Written['paragraphs'][number]
  if (kind === 'create') {
    await service.call('POST', '/documents', creation(service))
  } else if (kind === 'put') {
    Object.assign(changed, paragraph())
    const content = { format: 'tiptap-json', document: { type: 'doc', content: document.paragraphs } }
    await service.call('PUT', `${path}/content`, content, any)
  } else if (kind === 'patch') {
    await service.call('PATCH', `${path}/blocks/${changed.attrs.id}`, { content: paragraph().content }, any)
  } else {
    const operations = Array.from({ length: 20 }, (_, turn) => {
      const { id } = (document.paragraphs[turn % blocks] as typeof changed).attrs
      return { op: 'replace', block_id: id, node: { ...paragraph(), attrs: { id } } }
    })
    await service.call('POST', `${path}/batch`, { operations }, any)
  }
}

function creation({ knowledgeBase }: Pick<WholeService, 'knowledgeBase'>) {
  const document = { type: 'doc', content: paragraphs(blocks) }
  return { title: 'Measured', knowledge_base_id: knowledgeBase, content: { format: 'tiptap-json', document } }
}

const vocabulary =
  'a service keeps knowledge bases of folders and documents that people edit while programs write'.split(' ')
let drawn = 7

// Forty words, of which every second is rare.
function paragraph() {
  const words = Array.from({ length: 40 }, (_, index) => {
    drawn = (drawn * 1_103_515_245 + 12_345) % 2 ** 31
    return `${vocabulary[drawn % vocabulary.length]}${index % 2 === 0 ? '' : drawn % 1000}`
  })
  return { type: 'paragraph', content: [{ type: 'text', text: words.join(' ') }] }
}

function paragraphs(number: number) {
  return Array.from({ length: number }, paragraph)
}

type Rounds = { sides: Record<string, Side>; rates: Record<string, number>; unit: number; against: string | undefined }

function told(kind: Kind, { sides, rates, unit, against }: Rounds): Figure[] {
  const bar = bars[kind]
  const figures = Object.entries(sides).flatMap(([name, { rounds }]): Figure[] => {
    const of = (figure: (cost: Cost) => number) => percentile(rounds.map(figure), 50)
    const parts = processNames.map((part) => `${part} ${of(({ cpu }) => cpu[part]).toFixed(1)}`)
    const all = of(({ cpu }) => processNames.reduce((sum, part) => sum + cpu[part], 0))
    const limit = name === 'now' && bar !== undefined ? { bar: `at most ${bar} ms`, met: all <= bar } : {}
    return [
      {
        name: `${titles[kind]}, ${name}: CPU`,
        value: `${all.toFixed(1)} ms (${parts.join(', ')}), ${(all / unit).toFixed(2)} units`,
        ...limit,
      },
      {
        name: `${titles[kind]}, ${name}: WAL`,
        value: `${(of(({ wal }) => wal) / 1000).toFixed(1)} kB`,
        ...(name === 'now' && kind === 'put' && { bar: 'at most 20 kB', met: of(({ wal }) => wal) <= 20_000 }),
      },
      { name: `${titles[kind]}, ${name}: acknowledged`, value: `${Math.round(rates[name] ?? 0)}/s` },
    ]
  })
  const ours = rates['now'] ?? 0
  const ratio = (name: string, least: number): Figure => ({
    name: `${titles[kind]}: throughput, now to ${name}`,
    value: (ours / (rates[name] ?? 0)).toFixed(2),
    bar: `at least ${least}`,
    met: ours / (rates[name] ?? 0) >= least,
  })
  if (against !== undefined) figures.push(ratio(against, 2.2))
  if (rates['plain'] !== undefined) {
    figures.push({ name: `${titles[kind]}, plain pg and pg-boss`, value: `${Math.round(rates['plain'])}/s` })
    figures.push(ratio('plain', 0.4))
  }
  return figures
}

function perSecond(rest: ByProcess): string {
  return processNames
    .map((name) => `${name} ${rest[name].toFixed(1)}`)
    .join(', ')
    .concat(' ms CPU a second')
}

// The processor time of a loop that no version of the service changes, so that two machines can be compared.
function fixedLoop(): number {
  const times = Array.from({ length: 7 }, () => {
    const before = process.cpuUsage()
    let state = 1
    for (let step = 0; step < 10_000_000; step += 1) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    const { user, system } = process.cpuUsage(before)
    return state === 0 ? Number.NaN : (user + system) / 1000
  })
  return percentile(times, 50)
}
