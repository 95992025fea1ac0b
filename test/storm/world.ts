import { setTimeout as sleep } from 'node:timers/promises'
import type { Characters, Ledger } from './ledger.ts'

/** A document of a run. */
export type StormDocument = {
  id: string
  name: string
  /** How many top-level blocks it had at the beginning. */
  size: number
  /** The ids of the top-level blocks that nobody may edit. */
  untouched: ReadonlySet<string>
  ledger: Ledger
}

/** What everybody in a run shares. */
export type World = {
  seed: number
  characters: Characters
  documents: readonly StormDocument[]
  /** Set when nobody shall begin anything new. */
  isOver: boolean
  /** How often something was done, by its name. */
  counts: Map<string, number>
  /** What is wrong, in words. */
  violations: string[]
}

/** Counts that something was done. */
export function count(world: World, name: string): void {
  world.counts.set(name, (world.counts.get(name) ?? 0) + 1)
}

/** Waits as a person or a program that thinks, at most until the run is over. */
export async function pause(world: World, milliseconds: number): Promise<void> {
  const end = Date.now() + milliseconds
  for (let left = milliseconds; !world.isOver && left > 0; left = end - Date.now()) await sleep(Math.min(100, left))
}
