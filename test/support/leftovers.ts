import { setTimeout as sleep } from 'node:timers/promises'

// Kinds of resources that keep a process alive until something ends them. Sockets are left out, because pools and
// keep-alive connections come and go.
const kinds = new Set(['FSEventWrap', 'MessagePort', 'ProcessWrap', 'StatWatcher', 'TCPServerWrap', 'Timeout'])

const kept = new Map<string, number>()

/** Starts what stays until the end of the lane. It does not count as left behind by the file that needs it first. */
export async function keptForLane<T>(start: () => Promise<T>): Promise<T> {
  const before = counted()
  const started = await start()
  for (const [name, count] of counted()) {
    const more = count - (before.get(name) ?? 0)
    if (more > 0) kept.set(name, (kept.get(name) ?? 0) + more)
  }
  return started
}

// tap listens for the other events of the process.
const events = ['unhandledRejection', 'warning']

/** What a test file leaves in its process: child processes, servers, threads, watchers, timers and listeners. */
export class Leftovers {
  readonly #before = counted()
  readonly #kept = new Map(kept)

  /** What there is more than at the beginning. What is about to end has a few seconds to do so. */
  async found(): Promise<string[]> {
    for (const pauseMs of [0, 20, 100, 500, 1000, 2000, 5000]) {
      await sleep(pauseMs)
      if (this.#more().length === 0) break
    }
    return this.#more()
  }

  #more(): string[] {
    const now = counted()
    return [...now].flatMap(([name, count]) => {
      const keptSince = (kept.get(name) ?? 0) - (this.#kept.get(name) ?? 0)
      const more = count - (this.#before.get(name) ?? 0) - keptSince
      return more > 0 ? [`${more} × ${name}`] : []
    })
  }
}

function counted(): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (name: string, count: number) => counts.set(name, (counts.get(name) ?? 0) + count)
  for (const kind of process.getActiveResourcesInfo()) if (kinds.has(kind)) add(kind, 1)
  for (const event of events) add(`listener for ${event}`, process.listenerCount(event))
  return counts
}
