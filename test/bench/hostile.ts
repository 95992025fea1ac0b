import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { workerTypes } from '../../workers/types.ts'
import { Client } from '../support/client.ts'
import type { ServiceProcess } from '../support/processes.ts'
import type { Site } from '../support/site.ts'
import { bootstrapToken } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'
import { type HostileCall, hostileCalls } from './hostile-calls.ts'
import { measureGrowth } from './hostile-growth.ts'
import type { Phase, VictimCall, VictimStart } from './hostile-victim.ts'

const connections = 4
const quietSeconds = 20
const growthSeconds = 1200
// Even a hostile client does not wait for ever.
const patience = 30_000

// The peak memory of a process: 512 MB for each thread that parses, and as much for everything else.
const memoryBound = 1536

/**
 * Measures how one hostile user, whose four connections replay every known attack, affects the user of another
 * workspace: in reads, writes, searches, the freshness of searches and `/healthz`. Rate limits are off, so that they
 * hide nothing.
 */
export async function measureHostile(
  site: Site,
  options: { seconds?: number; growth?: boolean; seed?: number },
): Promise<Figure[]> {
  const { seconds = 60, growth = false, seed } = options
  if (growth) return measureGrowth({ seconds: options.seconds ?? growthSeconds, ...(seed !== undefined && { seed }) })
  const worker = await site.work(...Object.keys(workerTypes))
  const hostile = new Client({ origin: site.api.origin, token: await bootstrapToken(site.env, 'hostile@example.test') })
  const calls = await hostileCalls(hostile)
  const memory = watchMemory({ api: site.api, workers: worker })
  const victim = startVictim({
    origin: site.api.origin,
    token: site.client.bearer ?? '',
    knowledgeBaseId: site.knowledgeBase,
  })
  try {
    await sleep(2000)
    await endPhase(victim)
    await sleep(Math.min(quietSeconds, seconds) * 1000)
    const quiet = await endPhase(victim)
    await longestLag(site)
    const statuses = await attack(hostile, { calls, seconds })
    const attacked = await endPhase(victim)
    const lag = await longestLag(site)
    return [
      ...(['read', 'write', 'search'] as const).map((call) => comparison(call, quiet, attacked)),
      ...health(attacked),
      { name: "longest lag of the API's event loop under attack", value: ms(lag) },
      ...freshness(quiet, attacked),
      { name: 'calls of the victim that failed', value: counted(attacked.failures) },
      { name: 'calls of the hostile user, different ones of all', value: replayed(statuses, calls) },
      { name: 'answers to the hostile user', value: counted(statuses), ...onlyKnown(statuses) },
      ...Object.entries(memory.end()).map(([name, megabytes]) => ({
        name: `peak memory of ${name}`,
        value: `${megabytes} MB`,
        bar: `under ${memoryBound} MB`,
        met: megabytes < memoryBound,
      })),
    ]
  } finally {
    memory.end()
    victim.disconnect()
  }
}

function startVictim(start: VictimStart): ChildProcess {
  const victim = fork(fileURLToPath(import.meta.resolve('./hostile-victim.ts')))
  victim.send(start)
  return victim
}

async function endPhase(victim: ChildProcess): Promise<Phase> {
  if (!victim.connected) throw new Error('the process of the victim has ended')
  const ended = new AbortController()
  victim.once('exit', () => ended.abort(new Error('the process of the victim has ended')))
  victim.send('end')
  const [phase] = (await once(victim, 'message', { signal: ended.signal })) as [Phase]
  return phase
}

/** The longest lag of the API's event loop since the call before, in milliseconds. */
async function longestLag({ api }: Site): Promise<number> {
  const metrics = await (await fetch(`${api.origin}/metrics`)).text()
  const name = 'nodejs_eventloop_lag_max_seconds '
  return (
    1000 *
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.slice(name.length),
    )
  )
}

/** Replays the calls on all connections until the time is over. Returns the number of answers by status. */
async function attack(
  client: Client,
  { calls, seconds }: { calls: readonly HostileCall[]; seconds: number },
): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {}
  const end = performance.now() + seconds * 1000
  let next = 0
  const connection = async () => {
    while (performance.now() < end) {
      const call = calls[next % calls.length] as HostileCall
      next += 1
      const status = await statusOf(client, call)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (!/^[234]|^503$/.test(status)) process.stderr.write(`${call.name}: ${status}\n`)
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  return statuses
}

async function statusOf(client: Client, { method, path, body, anonymous }: HostileCall): Promise<string> {
  const url = path.startsWith('//') ? `${client.origin}${path.slice(1)}` : `${client.origin}/api/v1${path}`
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...(anonymous !== true && { authorization: `Bearer ${client.bearer}` }),
        ...(method === 'PUT' && { 'if-match': '*' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patience),
    })
    // The answer is read to its end, but not kept.
    for await (const _ of response.body ?? []);
    return String(response.status)
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? 'no answer' : 'broken off'
  }
}

function comparison(call: VictimCall, quiet: Phase, attacked: Phase): Figure {
  const [before, during] = [percentile(quiet.times[call], 95), percentile(attacked.times[call], 95)]
  const ratio = during / before
  return {
    name: `${call} of another workspace, p95 quiet / under attack`,
    value: `${ms(before)} / ${ms(during)} (${ratio.toFixed(1)} ×, ${attacked.times[call].length} calls)`,
    bar: '3 × quiet or 250 ms',
    met: during <= Math.max(250, 3 * before),
  }
}

function health({ times }: Phase): Figure[] {
  const longest = Math.max(...times.health)
  return [
    { name: '/healthz under attack, p95', value: ms(percentile(times.health, 95)) },
    { name: '/healthz under attack, longest', value: ms(longest), bar: 'under 100 ms', met: longest < 100 },
  ]
}

function freshness(quiet: Phase, attacked: Phase): Figure[] {
  const both = [quiet, attacked].map(({ times }) => ms(percentile(times.freshness, 95)))
  return [{ name: 'write answered to fresh hit, p95 quiet / under attack', value: both.join(' / ') }]
}

/** The share of the calls that were made at least once. */
function replayed(statuses: Record<string, number>, calls: readonly HostileCall[]): string {
  const made = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  return `${Math.min(made, calls.length)} of ${calls.length}`
}

function onlyKnown(statuses: Record<string, number>): Pick<Figure, 'bar' | 'met'> {
  const met = Object.keys(statuses).every((status) => /^[234]|^503$/.test(status))
  return { bar: 'no 5xx but 503, none unanswered', met }
}

function counted(counts: Record<string, number>): string {
  const parts = Object.entries(counts).sort()
  return parts.length === 0 ? 'none' : parts.map(([name, count]) => `${name}: ${count}`).join(', ')
}

/** Reads the resident memory of processes each second. `end` returns the peaks in megabytes. */
function watchMemory(processes: Record<string, Pick<ServiceProcess, 'pid'>>) {
  const peaks: Record<string, number> = {}
  const look = () => {
    for (const [name, { pid }] of Object.entries(processes)) {
      const kilobytes = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
      peaks[name] = Math.max(peaks[name] ?? 0, Math.round(kilobytes / 1024))
    }
  }
  const timer = setInterval(look, 1000)
  return {
    end() {
      clearInterval(timer)
      return peaks
    },
  }
}
