import { Agent, request } from 'node:http'
import pg from 'pg'
import { type Database, openDatabase, type Queryable } from '../../shared/database/database.ts'
import { type SearchDatabase, searchTopK } from '../../shared/search/search.ts'
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

// PostgreSQL keeps the plan of a statement from the sixth time on, in each connection; of many searches a part has the same.
const warmUps = 100
// Of twenty queries the 95th percentile would be the worst but one, which says more of the machine than of the search.
const samples = 200

const asText = { getTypeParser: () => (value: unknown) => value } as unknown as pg.CustomTypesConfig

/** The statement as PostgreSQL gets it. */
function plain({ name, sql, values }: Statement): pg.QueryConfig {
  return { ...(name && { name }), text: sql.replaceAll('$slonik_', '$'), values: [...values] }
}

/**
 * How long each query takes over HTTP, and how much of that is not its statements: each is sent in turn as a request and
 * as statements, so that what else the machine does touches both alike.
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

/** At least so many of a list, which is repeated as a whole. */
function repeated<T>(list: readonly T[], times: number): T[] {
  return Array.from({ length: Math.ceil(times / list.length) }, () => list).flat()
}

type Statement = Parameters<Queryable['one']>[0] & { name?: string }

/** Makes a search that tells which statements it sent, how long they took, and its hits. */
function statementsOf(database: Database, workspace: string) {
  const scope = { workspaceIds: [workspace], locale: 'default' as const }
  let sent: Statement[] = []
  let duration = 0
  // The statement of a search is the only one that yields a row of its own.
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
