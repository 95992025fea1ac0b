import { Agent, request } from 'node:http'
import { openDatabase, type Queryable } from '../../shared/database.ts'
import { searchTopK } from '../../shared/search/search.ts'
import type { Site } from '../support/site.ts'
import { rate } from './harness.ts'

/** How long each query's statements take, for one client and for eight, and its ten hits as document and place. */
type Times = { alone: number[]; together: number[]; hits: Map<string, string[]> }

/**
 * Times the statements of searches without what Node makes of their answers: they are noted in a search by one client,
 * and sent again by eight. The first searches of a connection, which read and plan what the others find, do not count.
 */
export async function timeStatements(input: {
  url: string
  workspace: string
  queries: readonly string[]
}): Promise<Times> {
  const { url, workspace, queries } = input
  const database = await openDatabase({ url, poolSize: 8 })
  const scope = { workspaceIds: [workspace], locale: 'default' as const }
  const statements: Statement[] = []
  const durations: number[] = []
  const noted = noting(database, (statement, duration) => {
    statements.push(statement)
    durations.push(duration)
  })
  const hits = new Map<string, string[]>()
  const search = async (q: string) => {
    const outcome = await searchTopK(noted, { q, scope, limit: 10, relax: true })
    hits.set(
      q,
      outcome.hits.map(({ hit }) => `${hit.document_id} ${hit.ord}`),
    )
  }
  for (const q of queries) await search(q)
  statements.length = 0
  const alone: number[] = []
  for (const q of queries) {
    durations.length = 0
    await search(q)
    alone.push(durations.reduce((sum, duration) => sum + duration, 0))
  }
  const again = Array.from({ length: rounds }, () => statements).flat()
  const send = (statement: Statement) => database.one(statement)
  await times(statements, 8, send)
  const together = await times(again, 8, send)
  await database.end()
  return { alone, together, hits }
}

// Of twenty queries the 95th percentile would be the worst but one, which says more of the machine than of the search.
const rounds = 10

type Statement = Parameters<Queryable['one']>[0]

// The statement of a search is the only one that yields a row of its own.
function noting(database: Queryable, note: (statement: Statement, duration: number) => void): Queryable {
  const one = async (statement: Statement) => {
    const begun = performance.now()
    const answer = await database.one(statement)
    note(statement, performance.now() - begun)
    return answer
  }
  const { any, anyFirst, maybeOne, maybeOneFirst, oneFirst, query } = database
  return { any, anyFirst, maybeOne, maybeOneFirst, oneFirst, query, one: one as Queryable['one'] }
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
