import { Agent, request } from 'node:http'
import { openDatabase, type Queryable } from '../../shared/database.ts'
import { searchTopK } from '../../shared/search/search.ts'
import type { Site } from '../support/site.ts'
import { percentile, rate } from './harness.ts'

/** How long each query's statements take, for one client and for eight, and its ten hits as document and place. */
type Times = { alone: number[]; together: number[]; hits: Map<string, string[]> }

type Queries = { url: string; workspace: string; queries: readonly string[] }

/**
 * Times the statements of searches without what Node makes of their answers: they are noted in a search by one client,
 * and sent again by eight. The first searches of a connection, which read and plan what the others find, do not count.
 */
export async function timeStatements({ url, workspace, queries }: Queries): Promise<Times> {
  const database = await openDatabase({ url, poolSize: 8 })
  const search = statementsOf(database, workspace)
  const hits = new Map<string, string[]>()
  for (const q of queries) hits.set(q, (await search(q)).hits)
  const alone: number[] = []
  const searches: Statement[][] = []
  for (const q of queries) {
    const { sent, duration } = await search(q)
    alone.push(duration)
    searches.push(sent)
  }
  const again = Array.from({ length: rounds }, () => searches).flat()
  const send = async (statements: Statement[]) => {
    for (const statement of statements) await database.one(statement)
  }
  await times(searches, 8, send)
  const together = await times(again, 8, send)
  await database.end()
  return { alone, together, hits }
}

// Of twenty queries the 95th percentile would be the worst but one, which says more of the machine than of the search.
const rounds = 10

/**
 * How long each query takes over HTTP, and how much of that is not its statements: each is sent in turn as a request and
 * as statements, so that what else the machine does touches both alike.
 */
export async function timeRequests({ url, workspace, queries, ask }: Queries & { ask: (q: string) => Promise<void> }) {
  const database = await openDatabase({ url, poolSize: 1 })
  const search = statementsOf(database, workspace)
  const overHttp: number[] = []
  const inSql: number[] = []
  for (let round = 0; round <= requestRounds; round += 1) {
    for (const q of queries) {
      const begun = performance.now()
      await ask(q)
      const took = performance.now() - begun
      const { duration } = await search(q)
      // The first time the process that answers makes ready what it needs again.
      if (round === 0) continue
      overHttp.push(took)
      inSql.push(duration)
    }
  }
  await database.end()
  return { overHttp, added: percentile(overHttp, 50) - percentile(inSql, 50) }
}

const requestRounds = 5

type Statement = Parameters<Queryable['one']>[0]

/** Makes a search that tells which statements it sent, how long they took, and its hits. */
function statementsOf(database: Queryable, workspace: string) {
  const scope = { workspaceIds: [workspace], locale: 'default' as const }
  let sent: Statement[] = []
  let duration = 0
  // The statement of a search is the only one that yields a row of its own.
  const one = async (statement: Statement) => {
    const begun = performance.now()
    const answer = await database.one(statement)
    duration += performance.now() - begun
    sent.push(statement)
    return answer
  }
  const { any, anyFirst, maybeOne, maybeOneFirst, oneFirst, query } = database
  const noted = { any, anyFirst, maybeOne, maybeOneFirst, oneFirst, query, one: one as Queryable['one'] }
  return async (q: string) => {
    sent = []
    duration = 0
    const outcome = await searchTopK(noted, { q, scope, limit: 10, relax: true })
    return { sent, duration, hits: outcome.hits.map(({ hit }) => `${hit.document_id} ${hit.ord}`) }
  }
}

/** Runs each once, so many at a time; returns how long each took in milliseconds. */
export async function times<T>(
  inputs: readonly T[],
  concurrency: number,
  run: (input: T) => Promise<unknown>,
): Promise<number[]> {
  const durations: number[] = []
  await rate({ count: inputs.length, concurrency }, async (index) => {
    const begun = performance.now()
    await run(inputs[index] as T)
    durations.push(performance.now() - begun)
  })
  return durations
}

/** A client that keeps its connections and looks at nothing but the status, so that it costs little itself. */
export function httpClient(site: Site): { get: (path: string) => Promise<void>; close: () => void } {
  const agent = new Agent({ keepAlive: true })
  const headers = { authorization: `Bearer ${site.client.bearer}` }
  return {
    get: (path) =>
      new Promise((resolve, reject) => {
        const sent = request(`${site.client.origin}/api/v1${path}`, { agent, headers }, (response) => {
          response.resume()
          response.on('end', () =>
            response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)),
          )
        })
        sent.on('error', reject)
        sent.end()
      }),
    close: () => agent.destroy(),
  }
}
