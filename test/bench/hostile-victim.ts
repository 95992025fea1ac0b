import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../support/client.ts'

/*
 * The user of another workspace. It is a process of its own, so neither the texts of the hostile user nor the answers
 * to it delay its clock. It reads, writes and searches all the time. The first message from the parent says where. Each
 * further message ends a phase, and is answered with the measurements of that phase.
 */

/** The first message from the parent: the service, and the documents that it uses. */
export type VictimStart = { origin: string; token: string; knowledgeBaseId: number }

/** The milliseconds of each call of a phase, by kind, and the number of wrong answers. */
export type Phase = { times: Record<VictimCall, number[]>; failures: Record<string, number> }
export type VictimCall = 'read' | 'write' | 'search' | 'health' | 'freshness'

// The pause between two calls of a kind in milliseconds. The victim uses the service but does not fill it.
const pause = 50
const healthPause = 100
const freshnessLimit = 60_000

const [{ origin, token, knowledgeBaseId }] = (await once(process, 'message')) as [VictimStart]
const client = new Client({ origin, token })
let phase = emptyPhase()
let words = 0

process.on('disconnect', () => process.exit())
process.on('message', () => {
  // A call that has no answer yet has taken at least this long.
  for (const { call, started } of phase.running) phase.times[call].push(performance.now() - started)
  const { times, failures } = phase
  process.send?.({ times, failures } satisfies Phase)
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

/** Measures the time from a write until a search finds it. */
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

// A call counts in the phase in which it began.
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
