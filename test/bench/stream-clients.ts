import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'

/**
 * The task of this process: to open `streams` streams, spread over the tokens, with a pause after the first streams.
 */
export type StreamsRequest = { url: string; tokens: string[]; streams: number; first: number }

/** The result of the process, sent after it has learned when each write was answered. */
export type Observed = {
  /** The number of streams that got the event of each write once, with ascending ids. */
  complete: number
  /** The milliseconds from the answer to a write to the arrival of its event, of all streams; never below zero. */
  latencies: number[]
}

/*
 * A process for the client side of many streams, so that reading them does not slow down the writers.
 */

type Arrival = { document: string; at: number }

const seen: { arrivals: Arrival[]; ordered: boolean }[] = []

process.once('message', async ({ url, tokens, streams, first }: StreamsRequest) => {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  // A few at a time, since the queue for new connections is short.
  for (let index = 0; index < streams; index += 1) {
    const token = tokens[index % tokens.length] ?? ''
    const request = get(url, { agent, headers: { authorization: `Bearer ${token}` } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    if (response.statusCode !== 200) throw new Error(`stream ${index} was refused with ${response.statusCode}`)
    follow(response)
    if (index + 1 !== first) continue
    process.send?.('first')
    await once(process, 'message')
  }
  process.send?.('open')
  process.once('message', async ({ answered }: { answered: Record<string, number> }) => {
    const expected = Object.keys(answered).length
    const patience = performance.now() + 20_000
    while (seen.some(({ arrivals }) => arrivals.length < expected) && performance.now() < patience) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    process.send?.(observed(answered))
  })
})

function follow(response: IncomingMessage): void {
  const stream = { arrivals: [] as Arrival[], ordered: true }
  seen.push(stream)
  let rest = ''
  let last = 0
  response.setEncoding('utf8').on('data', (text: string) => {
    const at = Date.now()
    const events = (rest + text).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const id = /^id: (\d+)/m.exec(event)?.[1]
      const document = /"document_id":"([^"]+)"/.exec(event)?.[1]
      if (id === undefined || document === undefined) continue
      stream.ordered &&= Number(id) > last
      last = Number(id)
      stream.arrivals.push({ document, at })
    }
  })
}

function observed(answered: Record<string, number>): Observed {
  const expected = Object.keys(answered).length
  const complete = seen.filter(
    ({ arrivals, ordered }) =>
      ordered && arrivals.length === expected && new Set(arrivals.map(({ document }) => document)).size === expected,
  ).length
  // Only every tenth stream is reported: a million numbers say no more than a hundred thousand.
  const latencies = seen
    .filter((_, index) => index % 10 === 0)
    .flatMap(({ arrivals }) => arrivals.map(({ document, at }) => Math.max(0, at - (answered[document] ?? at))))
  return { complete, latencies }
}
