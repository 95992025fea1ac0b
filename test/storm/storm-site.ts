import { bootstrap } from '../../shared/auth/bootstrap.ts'
import type { Role } from '../../shared/auth/schema.ts'
import { resolveScopes } from '../../shared/auth/scopes.ts'
import { readConfig } from '../../shared/config/config.ts'
import { openDatabase } from '../../shared/database/database.ts'
import { freePort } from '../../shared/start/processes.ts'
import { workerTypes } from '../../workers/types.ts'
import { Client } from '../support/client.ts'
import { type CollabProcess, startCollab } from '../support/collab.ts'
import { type ServiceProcess, type Settings, startApi } from '../support/processes.ts'
import { type Site, startSite, type Teardown } from '../support/site.ts'
import { delayingRelay } from './slow-link.ts'

/** A collab process at an address of its own, which can be killed and started again. */
export type CollabPlace = { url: string; slowUrl: string; process: CollabProcess; restart: () => Promise<void> }

/** A service of real processes: PostgreSQL, two API processes, two collab processes and a process of all workers. */
export type StormSite = {
  site: Site
  collab: readonly CollabPlace[]
  /** A client for each API process, with the token of a user of the workspace. */
  clientsOf: (email: string, role: Role) => Promise<{ token: string; clients: Client[] }>
  /** The output of all processes, ended ones included. */
  outputs: () => { name: string; text: string }[]
}

/** Starts the service. `linkMs` is the delay of the slow link to each collab process, in each direction. */
export async function startStormSite(
  t: Teardown,
  { settings, postgres, linkMs }: { settings: Settings; postgres: Settings; linkMs: number },
): Promise<StormSite> {
  const site = await startSite(t, { settings: { ...unlimited, ...settings }, postgres })
  const started: { name: string; process: ServiceProcess }[] = [{ name: 'api-1', process: site.api }]
  const note = <P extends ServiceProcess>(name: string, process: P): P => {
    started.push({ name, process })
    return process
  }
  const second = note('api-2', await startApi(site.env))
  t.teardown(second.stop)
  note('workers', await site.work(...Object.keys(workerTypes)))
  const collab = await Promise.all([1, 2].map((number) => startPlace(t, { site, number, linkMs, note })))
  const clientsOf = async (email: string, role: Role) => {
    const token = await tokenFor(site, { email, role })
    return { token, clients: [site.api.origin, second.origin].map((origin) => new Client({ origin, token })) }
  }
  const outputs = () => started.map(({ name, process }) => ({ name, text: process.output() }))
  return { site, collab, clientsOf, outputs }
}

// A run writes more often than people do, and afterwards every change must still be there to be compared.
const unlimited = {
  RATE_IP_PER_MIN: '0',
  RATE_JOB_PER_MIN: '0',
  CHANGES_RETENTION: '100000',
  SUMMARY_AUTO_REFRESH: 'true',
  LOG_LEVEL: 'info',
}

type Placed = {
  site: Site
  number: number
  linkMs: number
  note: <P extends ServiceProcess>(name: string, process: P) => P
}

async function startPlace(t: Teardown, { site, number, linkMs, note }: Placed): Promise<CollabPlace> {
  const env = { ...site.env, COLLAB_PORT: String(await freePort({})) }
  let starts = 0
  const start = async () => {
    starts += 1
    return note(`collab-${number}.${starts}`, await startCollab(env))
  }
  const process = await start()
  const place: CollabPlace = {
    url: process.url,
    slowUrl: await delayingRelay(t, { url: process.url, delayMs: linkMs }),
    process,
    async restart() {
      place.process = await start()
    },
  }
  t.teardown(() => place.process.stop())
  return place
}

/** A token of a user in the workspace of the site. */
async function tokenFor(site: Site, { email, role }: { email: string; role: Role }): Promise<string> {
  const database = await openDatabase({ url: site.url, poolSize: 1 })
  try {
    const { TOKEN_PEPPER: pepper } = readConfig(site.env)
    const user = { email, name: email.split('@')[0] ?? email, password: null, role, expiresInDays: null }
    const [workspace] = await site.ask('SELECT name FROM workspaces')
    const scopes = resolveScopes('read_write').scopes
    return (await bootstrap({ database, pepper }, { ...user, workspace: workspace.name, scopes })).token
  } finally {
    await database.end()
  }
}
