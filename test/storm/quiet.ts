import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import { storedReplica } from './checks/ending.ts'
import type { Seat } from './editors.ts'
import type { StormSite } from './storm-site.ts'

/**
 * Waits until everybody is online and has everything, everything is stored and its authors know it, and the workers
 * have nothing left to do. Returns what is still missing when the patience, in seconds, is over, and what was missing
 * how long after the end.
 */
export async function untilQuiet(
  storm: StormSite,
  seats: readonly Seat[],
  patience: number,
): Promise<{ unrest: string[]; waits: Map<string, number> }> {
  for (const seat of seats) seat.comeBack()
  const began = Date.now()
  const waits = new Map<string, number>()
  for (;;) {
    const unrest = await unrestOf(storm, seats)
    const waited = Date.now() - began
    if (unrest.length === 0 || waited > patience * 1000) return { unrest, waits }
    for (const missing of unrest) waits.set(missing, waited)
    await sleep(200)
  }
}

async function unrestOf(storm: StormSite, seats: readonly Seat[]): Promise<string[]> {
  const tabs = seats.flatMap((seat) => seat.tabs)
  const unconnected = tabs
    .filter((tab) => !tab.isLevel)
    .map((tab) => `${tab.by} is not level with its server: ${tab.state}`)
  const untold = tabs
    .filter((tab) => tab.unsaved.size > 0)
    .map((tab) => `${tab.by} was not told that ${tab.unsaved.size} of its keystrokes are stored: ${tab.state}`)
  if (unconnected.length + untold.length > 0) return [...unconnected, ...untold]
  const apart = (await Promise.all(groups(seats).map((group) => apartOf(storm, group)))).flat()
  return apart.length > 0 ? apart : unfinishedWork(storm)
}

function groups(seats: readonly Seat[]) {
  const byDocument = Map.groupBy(seats, ({ document }) => document)
  return [...byDocument].map(([document, own]) => ({ document, tabs: own.flatMap((seat) => seat.tabs) }))
}

async function apartOf(storm: StormSite, { document, tabs }: ReturnType<typeof groups>[number]): Promise<string[]> {
  const replicas = tabs.map(({ by, doc }) => ({ by, snapshot: Y.snapshot(doc) }))
  const [first] = replicas
  if (first === undefined) return []
  const apart = replicas.filter(({ snapshot }) => !Y.equalSnapshots(snapshot, first.snapshot))
  if (apart.length > 0) return apart.map(({ by }) => `${document.name}: ${by} and ${first.by} have different updates`)
  const stored = await storedReplica(storm, document.id)
  const isStored = stored !== null && Y.equalSnapshots(Y.snapshot(stored), first.snapshot)
  return isStored ? [] : [`${document.name}: the replicas have updates that are not stored`]
}

async function unfinishedWork({ site }: StormSite): Promise<string[]> {
  const stale = await site.ask('SELECT projection, count(*)::int AS count FROM stale_projections GROUP BY 1')
  const [events] = await site.ask('SELECT count(*)::int AS count FROM events WHERE event_id IS NULL')
  return [
    ...stale.map(({ projection, count }) => `${count} documents wait for the projection ${projection}`),
    ...(events.count > 0 ? [`${events.count} events have no number`] : []),
  ]
}
