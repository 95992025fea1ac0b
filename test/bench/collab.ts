import { UsageError } from '../../shared/process/command-line.ts'
import type { Site, Teardown } from '../support/site.ts'
import { measureConnections } from './collab-connections.ts'
import { measureEventLoop } from './collab-event-loop.ts'
import { measureCollabFlush } from './collab-flush.ts'
import { measureFlushes } from './collab-flush-cost.ts'
import { measureKeystrokes } from './collab-keystrokes.ts'
import { measureMemory } from './collab-memory.ts'
import { createBareTable } from './collab-sides.ts'
import type { Figure } from './harness.ts'

const parts = {
  latency: measureKeystrokes,
  flush: measureFlushes,
  pure: measureCollabFlush,
  eventloop: measureEventLoop,
  memory: measureMemory,
  connections: measureConnections,
}

const defaultSizes = {
  latency: [200, 1000, 10_000],
  flush: [1000, 10_000],
  eventloop: [10_000],
  memory: [1000, 10_000],
}

/**
 * Measures live editing with stock providers as browsers, in a process of their own. The baseline in the same run is
 * bare Hocuspocus with its extension for databases, on the same PostgreSQL and with the same pauses before it stores.
 * `only` names parts, and `blocks` the sizes of documents, both separated by commas. Throws for other parts.
 */
export async function measureCollab(
  site: Site,
  { only, blocks, t }: { only?: string; blocks?: string; t: Teardown },
): Promise<Figure[]> {
  const named = only?.split(',') ?? Object.keys(parts)
  const unknown = named.filter((name) => !Object.hasOwn(parts, name))
  if (unknown.length > 0) throw new UsageError(`collab has no part ${unknown.join(', ')}`)
  await createBareTable(site)
  const figures: Figure[] = []
  for (const [name, measure] of Object.entries(parts)) {
    if (!named.includes(name)) continue
    const ends: (() => unknown)[] = []
    const own = { teardown: (end: () => unknown) => void ends.unshift(end) }
    t.teardown(() => ends.splice(0).reduce((before, end) => before.then(end), Promise.resolve<unknown>(null)))
    const sizes = blocks?.split(',').map(Number) ?? defaultSizes[name as keyof typeof defaultSizes] ?? []
    figures.push(...(await measure(site, { t: own, sizes })))
    for (const end of ends.splice(0)) await end()
  }
  return figures
}
