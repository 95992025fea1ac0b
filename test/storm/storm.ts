import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '../support/client.ts'
import type { Teardown } from '../support/site.ts'
import { keepBodies, keepCommitTimes } from './body-log.ts'
import { checkChanges, checkClaims, checkRebuild, checkSteps } from './checks/derived.ts'
import { type Ending, endingOf } from './checks/ending.ts'
import { checkHistory } from './checks/history.ts'
import { checkKeystrokes } from './checks/keystrokes.ts'
import { checkReplicas } from './checks/replicas.ts'
import { beginnings } from './documents.ts'
import { Seat } from './editors.ts'
import { type FaultPlan, killProcesses, restartPostgres } from './faults.ts'
import { Characters, Ledger } from './ledger.ts'
import { runProgram } from './programs.ts'
import { untilQuiet } from './quiet.ts'
import { type StormSite, startStormSite } from './storm-site.ts'
import { ChangesReader, type Claim, watch } from './watch.ts'
import type { StormDocument, World } from './world.ts'

/** How long a run takes, who takes part, and what fails. */
export type StormPlan = FaultPlan & {
  seed: number
  editors: number
  programs: number
  /** The number of blocks of the largest document. */
  largest: number
  /** The delay of one editor's link in each direction; null without such an editor. */
  linkMs: number | null
  /** The mean pause of an editor and of a program, in milliseconds. */
  restlessness: { editor: number; program: number }
  /** Seconds to wait for the end of everything that was begun. */
  patience: number
}

/** What a run did and found. */
export type StormResult = { world: World; violations: string[]; explained: Map<string, number>; directory: string }

/** Runs a storm on a service of its own and checks what it leaves behind. The artefacts stay in `directory`. */
export async function runStorm(t: Teardown, plan: StormPlan): Promise<StormResult> {
  const directory = await mkdtemp(join(tmpdir(), `documents-storm-${plan.seed}-`))
  const settings = { COLLAB_DEBOUNCE_MS: '300', COLLAB_MAX_DEBOUNCE_MS: '2000', COLLAB_SNAPSHOT_MS: '15000' }
  const postgres = { ...keepCommitTimes, fsync: 'off', max_connections: '200' }
  const storm = await startStormSite(t, { settings, postgres, linkMs: plan.linkMs ?? 0 })
  await keepBodies(storm.site)
  const world = await begin(storm, plan)
  const readers = await Promise.all(world.documents.map((one) => new ChangesReader(one).begin(storm.site.client)))
  const seats = await seatEditors(world, storm, plan)
  t.teardown(() => closeAll(seats))
  const claims: Claim[] = []
  await blow(world, { storm, plan, seats, readers, claims })
  const { unrest, waits } = await untilQuiet(storm, seats, plan.patience)
  await writeFile(join(directory, 'waits.txt'), [...waits].map(([what, ms]) => `${ms} ms: ${what}\n`).join(''))
  world.counts.set('until everybody had everything, ms', Math.max(0, ...waits.values()))
  world.violations.push(...unrest.map((what) => `after ${plan.patience} s of quiet: ${what}`))
  await keep(directory, { world, storm })
  const explained = await check(world, { storm, seats, readers, claims })
  for (const { document, batches } of readers) {
    await writeFile(join(directory, `${document.name}-batches.jsonl`), rows(batches))
  }
  return { world, violations: world.violations, explained, directory }
}

async function begin({ site }: StormSite, { seed, largest }: StormPlan): Promise<World> {
  const documents: StormDocument[] = []
  for (const { name, blocks, untouched } of beginnings(largest)) {
    const content = { format: 'tiptap-json', document: { type: 'doc', content: blocks } }
    const input = { title: name, knowledge_base_id: site.knowledgeBase, content }
    const { status, text, body } = await site.client.post('/documents', input)
    if (status !== 201) throw new Error(`The document ${name} was refused: ${text}`)
    documents.push({ id: body.data.id, name, size: blocks.length, untouched, ledger: new Ledger() })
    await site.client.post(`/documents/${body.data.id}/summary/rebuild`, { generator: 'deterministic' })
  }
  return { seed, documents, characters: new Characters(), isOver: false, counts: new Map(), violations: [] }
}

// Editors take the documents and the collab processes in turn, so that each document is open in both processes.
async function seatEditors(world: World, storm: StormSite, plan: StormPlan): Promise<Seat[]> {
  const seats: Seat[] = []
  for (let number = 0; number < plan.editors; number += 1) {
    const document = world.documents[number % world.documents.length]
    const place = storm.collab[Math.floor(number / world.documents.length) % storm.collab.length]
    if (document === undefined || place === undefined) continue
    const { token } = await storm.clientsOf(`editor${number}@example.test`, 'editor')
    const url = number === 0 && plan.linkMs !== null ? place.slowUrl : place.url
    const options = { url, token, name: `editor${number}`, restlessness: plan.restlessness.editor }
    seats.push(new Seat(world, document, options))
  }
  return seats
}

type Weather = { storm: StormSite; plan: StormPlan; seats: readonly Seat[]; readers: ChangesReader[]; claims: Claim[] }

async function blow(world: World, { storm, plan, seats, readers, claims }: Weather): Promise<void> {
  const programs: Client[][] = []
  for (let number = 0; number < plan.programs; number += 1) {
    programs.push((await storm.clientsOf(`program${number}@example.test`, 'editor')).clients)
  }
  const end = setTimeout(() => {
    world.isOver = true
  }, plan.seconds * 1000)
  const restlessness = plan.restlessness.program
  try {
    await Promise.all([
      ...seats.map((seat) => seat.work()),
      ...programs.map((clients, number) => runProgram(world, { name: `program${number}`, clients, restlessness })),
      watch(world, { client: storm.site.client, readers, claims }),
      killProcesses(world, { storm, seats, plan }),
      restartPostgres(world, storm, plan),
    ])
  } catch (error) {
    world.violations.push(`the run broke off: ${error instanceof Error ? error.stack : error}`)
  } finally {
    clearTimeout(end)
    world.isOver = true
  }
}

type Checked = Pick<Weather, 'storm' | 'seats' | 'readers' | 'claims'>

async function check(world: World, { storm, seats, readers, claims }: Checked): Promise<Map<string, number>> {
  const explained = new Map<string, number>()
  for (const reader of readers) {
    const { document } = reader
    const tabs = seats.filter((seat) => seat.document === document).flatMap((seat) => seat.tabs)
    const ending: Ending = await endingOf(storm, { document, tabs })
    const keystrokes = checkKeystrokes(ending)
    for (const [reason, count] of keystrokes.explained) explained.set(reason, (explained.get(reason) ?? 0) + count)
    const found = [
      ...checkReplicas(ending),
      ...(await checkHistory(storm, ending)),
      ...keystrokes.violations,
      ...checkSteps(ending),
      ...(await checkChanges(storm.site.client, reader, ending)),
      ...checkClaims(claims, ending),
      ...(await checkRebuild(storm, ending)),
    ]
    world.violations.push(...found.map((what) => `${document.name} (${document.id}): ${what}`))
  }
  return explained
}

function closeAll(seats: readonly Seat[]): void {
  for (const tab of seats.flatMap((seat) => seat.tabs)) tab.close()
}

/** Keeps the ledgers and the output of the processes for whoever looks for a cause. */
async function keep(directory: string, { world, storm }: { world: World; storm: StormSite }): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const { id, name, ledger } of world.documents) {
    await writeFile(join(directory, `${name}-keystrokes.jsonl`), rows(ledger.keystrokes.values()))
    await writeFile(join(directory, `${name}-removals.jsonl`), rows(ledger.removals))
    await writeFile(join(directory, `${name}-writes.jsonl`), rows(ledger.writes))
    await writeFile(join(directory, `${name}-messages.jsonl`), rows([...ledger.saves, ...ledger.lost]))
    const bodies = await storm.site.ask('SELECT * FROM storm.bodies WHERE document_id = $1 ORDER BY body_seq', [id])
    await writeFile(join(directory, `${name}-bodies.jsonl`), rows(bodies))
    const steps = await storm.site.ask('SELECT * FROM storm.steps WHERE document_id = $1 ORDER BY body_seq', [id])
    await writeFile(join(directory, `${name}-steps.jsonl`), rows(steps))
  }
  for (const { name, text } of storm.outputs()) await writeFile(join(directory, `${name}.log`), text)
}

// All lines of a long storm together can be longer than a string may be.
function* rows(items: Iterable<unknown>): Generator<string> {
  const asText = (_: string, value: unknown) => (value instanceof Set || value instanceof Map ? [...value] : value)
  for (const item of items) yield `${JSON.stringify(item, asText)}\n`
}
