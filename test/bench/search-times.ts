import { Agent, request } from 'node:http'
import pg from 'pg'
import { type Database, openDatabase, type Queryable } from '../../shared/database/database.ts'
import { type SearchDatabase, searchTopK } from '../../shared/search/search.ts'
import type { Site } from '../support/site.ts'
import { percentile, rate } from './harness.ts'

/** The time of each query's statements, for one client and for eight, and its ten hits as document and block number. */
type Times = { alone: number[]; together: number[]; hits: Map<string, string[]> }

type Queries = { url: string; workspace: string; queries: readonly string[] }

/**
 * Times the statements of searches without Node's work on their answers. The statements are recorded in searches of one
 * client, and repeated by eight clients. The first searches of a connection do not count, since they fill caches.
 */
export async function timeStatements({ url, workspace, queries }: Queries): Promise<Times> {
  const database = await openDatabase({ url, poolSize: 1 })
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
  await database.end()
  const clients = Array.from({ length: 8 }, () => new pg.Client({ connectionString: url, types: asText }))
  for (const client of clients) await client.connect()
  const idle = [...clients]
  const send = async (statements: Statement[]) => {
    const client = idle.pop() as pg.Client
    for (const statement of statements) await client.query(plain(statement))
    idle.push(client)
  }
  await times(repeated(searches, Math.max(warmUps, 4 * searches.length)), 8, send)
  const together = await times(repeated(searches, samples), 8, send)
  for (const client of clients) await client.end()
  return { alone, together, hits }
}

// From the sixth time on, each connection of PostgreSQL keeps the plan of a statement. Many searches share statements.
const warmUps = 100
// With twenty queries, the 95th percentile is the second worst time, which says more about the machine than the search.
const samples = 200

const asText = { getTypeParser: () => (value: unknown) => value } as unknown as pg.CustomTypesConfig

/** A statement as PostgreSQL gets it. */
function plain({ name, sql, values }: Statement): pg.QueryConfig {
  return { ...(name && { name }), text: sql.replaceAll('$slonik_', '$'), values: [...values] }
}

/**
 * Measures the time of each query over HTTP, and the part of it outside its statements. Each query is sent in turn as a
 * request and as statements, so that other programs affect both alike.
 */
export async function timeRequests({ url, workspace, queries, ask }: Queries & { ask: (q: string) => Promise<void> }) {
  const database = await openDatabase({ url, poolSize: 1 })
  const search = statementsOf(database, workspace)
  const overHttp: number[] = []
  const inSql: number[] = []
  for (const [index, q] of repeated(queries, warmUps + requests).entries()) {
    const begun = performance.now()
    await ask(q)
    const took = performance.now() - begun
    const { duration } = await search(q)
    if (index < warmUps) continue
    overHttp.push(took)
    inSql.push(duration)
  }
  await database.end()
  return { overHttp, added: percentile(overHttp, 50) - percentile(inSql, 50) }
}

const requests = 100

/** Repeats a whole list until it has at least `times` items. */
function repeated<T>(list: readonly T[], times: number): T[] {
  return Array.from({ length: Math.ceil(times / list.length) }, () => list).flat()
}

type Statement = Parameters<Queryable['one']>[0] & { name?: string }

/** Makes a search that returns its statements, their time in milliseconds, and its hits. */
function statementsOf(database: Database, workspace: string) {
  const scope = { workspaceIds: [workspace], locale: 'default' as const }
  let sent: Statement[] = []
  let duration = 0
  // Only the statement of the search itself returns such a row.
  const noted = <T extends Queryable>(db: T): T => {
    const one = async (statement: Statement) => {
      const begun = performance.now()
      const answer = await db.one(statement)
      duration += performance.now() - begun
      sent.push(statement)
      return answer
    }
    const get = (target: T, name: string | symbol) => {
      if (name === 'one') return one
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    }
    return new Proxy(db, { get })
  }
  const transaction: Database['transaction'] = (work, retries) => database.transaction((tx) => work(noted(tx)), retries)
  const searched: SearchDatabase = Object.assign(Object.create(noted(database)), { transaction })
  return async (q: string) => {
    sent = []
    duration = 0
    const outcome = await searchTopK(searched, { q, scope, limit: 10, relax: true })
    return { sent, duration, hits: outcome.hits.map(({ hit }) => `${hit.document_id} ${hit.ord}`) }
  }
}

/** Runs each item once, `concurrency` at a time. Returns the milliseconds of each. */
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

/** A client that keeps its connections and reads only the status, so that the client itself costs little. */
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
