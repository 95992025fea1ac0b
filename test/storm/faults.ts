import { Choices } from './choices.ts'
import type { Seat } from './editors.ts'
import type { StormSite } from './storm-site.ts'
import { count, pause, type World } from './world.ts'

/** When something fails: the seconds between two kills, and the share of the run after which PostgreSQL restarts. */
export type FaultPlan = { seconds: number; killEverySeconds: number | null; restartPostgresAt: number | null }

/**
 * Kills collab processes with SIGKILL again and again, and starts each of them anew. Just before, some editors reload
 * tabs whose text is saved, so that nobody but the database has this text any more. Ends with the run.
 */
export async function killProcesses(
  world: World,
  { storm, seats, plan: { killEverySeconds } }: { storm: StormSite; seats: readonly Seat[]; plan: FaultPlan },
): Promise<void> {
  if (killEverySeconds === null) return
  const choices = new Choices(world.seed, 'faults')
  for (;;) {
    await pause(world, killEverySeconds * 1000)
    const place = choices.pick(storm.collab)
    if (world.isOver || place === undefined) return
    for (const seat of seats) seat.reloadSaved()
    place.process.signal('SIGKILL')
    await place.process.ended
    count(world, 'fault: collab process killed')
    await place.restart()
  }
}

/** Restarts PostgreSQL once. */
export async function restartPostgres(world: World, storm: StormSite, plan: FaultPlan): Promise<void> {
  if (plan.restartPostgresAt === null) return
  await pause(world, plan.seconds * 1000 * plan.restartPostgresAt)
  if (world.isOver) return
  await storm.site.stopPostgres()
  await storm.site.startPostgres()
  count(world, 'fault: PostgreSQL restarted')
}
