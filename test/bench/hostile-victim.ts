import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { Client } from '../support/client.ts'

/*
 * The user of another workspace, in a thread of its own so that the answers which the hostile user gets do not hold up
 * its clock. It reads, writes and searches all the time; each message it gets ends a phase and is answered with what
 * was measured in it.
 */

/** What the thread is started with: the service, and what it works on. */
export type VictimStart = { origin: string; token: string; knowledgeBaseId: number }

/** Milliseconds of each call of a phase, by what it was, and how many calls were not answered as they should be. */
export type Phase = { times: Record<VictimCall, number[]>; failures: Record<string, number> }
export type VictimCall = 'read' | 'write' | 'search' | 'health' | 'freshness'

// Between two calls of a kind, so that the service is used rather than filled.
const pause = 50
const healthPause = 100
const freshnessLimit = 60_000

const { origin, token, knowledgeBaseId } = workerData as VictimStart
const client = new Client({ origin, token })
let phase = emptyPhase()
let words = 0

parentPort?.on('message', () => {
  // A call that is not answered yet has taken so long at least.
  for (const { call, started } of phase.running) phase.times[call].push(performance.now() - started)
  const { times, failures } = phase
  parentPort?.postMessage({ times, failures } satisfies Phase)
  phase = emptyPhase()
})
await Promise.all([readAndWrite(), searchAlways(), askHealth(), watchFreshness()])

async function readAndWrite(): Promise<void> {
  const id = await created('# Notes\n\nword one\n\nword two\n')
  for (let round = 0; ; round += 1) {
    await timed('read', () => client.get(`/documents/${id}/content?format=markdown`))
    const content = { format: 'markdown', content: `# Notes\n\nword one\n\nword ${round}\n` }
    const etag = `"${(await client.get(`/documents/${id}`)).body?.data?.version}"`
    await timed('write', () => client.put(`/documents/${id}/content`, content, { 'if-match': etag }))
    await sleep(pause)
  }
}

async function searchAlways(): Promise<never> {
  for (;;) {
    await timed('search', () => client.get('/search/v2?q=word&limit=20'))
    await sleep(pause)
  }
}

async function askHealth(): Promise<never> {
  for (;;) {
    await timed('health', () => client.get('//healthz'))
    await sleep(healthPause)
  }
}

/** How long after a write a search finds it. */
async function watchFreshness(): Promise<never> {
  for (;;) {
    words += 1
    const word = `fresh${words}`
    await created(word)
    const { times, running } = phase
    const own = { call: 'freshness', started: performance.now() } as const
    running.add(own)
    while (!(await isFound(word)) && performance.now() - own.started < freshnessLimit) await sleep(20)
    running.delete(own)
    times.freshness.push(performance.now() - own.started)
    await sleep(500)
  }
}

async function isFound(word: string): Promise<boolean> {
  const { body } = await client.get(`/search/v2?q=${word}`).catch(() => ({ body: undefined }))
  return (body?.data?.results?.length ?? 0) > 0
}

async function created(content: string): Promise<string> {
  for (;;) {
    const reply = await client
      .post('/documents', {
        title: 'Notes',
        knowledge_base_id: knowledgeBaseId,
        content: { format: 'markdown', content },
      })
      .catch(() => undefined)
    if (reply?.status === 201) return reply.body.data.id
    await sleep(1000)
  }
}

// A call belongs to the phase in which it began.
async function timed(call: VictimCall, run: () => Promise<{ status: number }>): Promise<void> {
  const { times, failures, running } = phase
  const started = performance.now()
  const own = { call, started }
  running.add(own)
  const status = await run().then(
    (reply) => String(reply.status),
    () => 'no answer',
  )
  running.delete(own)
  times[call].push(performance.now() - started)
  if (status !== '200') failures[`${call} ${status}`] = (failures[`${call} ${status}`] ?? 0) + 1
}

type RunningPhase = Phase & { running: Set<{ call: VictimCall; started: number }> }

function emptyPhase(): RunningPhase {
  const times = { read: [], write: [], search: [], health: [], freshness: [] }
  return { times, failures: {}, running: new Set() }
}
