import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import root from 'tap'
import { createApp } from '../../api/app.ts'
import { startService } from '../../api/start-service.ts'
import { bootstrap } from '../../shared/auth/bootstrap.ts'
import type { Role } from '../../shared/auth/schema.ts'
import { resolveScopes, type Scope } from '../../shared/auth/scopes.ts'
import { readConfig } from '../../shared/config/config.ts'
import { createLogger } from '../../shared/process/log.ts'
import { Client } from './client.ts'
import { keptForLane } from './leftovers.ts'
import { createTestDatabase } from './postgres.ts'
import { sharedDatabase } from './shared-database.ts'
import type { Teardown } from './site.ts'
import { t } from './tap.ts'

export type TestService = Awaited<ReturnType<typeof startTestService>>

const shared = new Map<string, Promise<TestService>>()

/**
 * The service with these settings that the files of a lane share: each test signs up to a workspace of its own. With
 * default settings it ends with the lane, otherwise with the file. All of them have one database. A file that starts
 * workers, looks at whole tables, stops the service or changes its database starts its own (`startTestService`).
 *
 * Names of workspaces and email addresses are made unique for the file: `signUp` returns the address.
 */
export async function sharedService(env: Record<string, string> = {}): Promise<TestService> {
  const service = await startedShared(env)
  const file = createHash('sha256').update(t.name).digest('hex').slice(0, 6)
  return {
    ...service,
    async signUp({ email, workspace, ...options } = {}) {
      const user = await service.signUp({
        ...options,
        ...(email !== undefined && { email: addresses.has(email) ? email : email.replace('@', `.${file}@`) }),
        // The workspace of a user that has no other name is named after the address.
        ...(workspace !== undefined && { workspace: addresses.has(workspace) ? workspace : `${workspace} ${file}` }),
      })
      addresses.add(user.email)
      return user
    },
  }
}

// The addresses of users that have signed up.
const addresses = new Set<string>()

function startedShared(env: Record<string, string>): Promise<TestService> {
  const settings = JSON.stringify(Object.entries(env).sort())
  const known = shared.get(settings)
  if (known !== undefined) return known
  const starting = startShared(env)
  shared.set(settings, starting)
  if (settings !== '[]') t.teardown(() => shared.delete(settings))
  return starting
}

async function startShared(env: Record<string, string>): Promise<TestService> {
  const settings = { ...env, DATABASE_URL: await sharedDatabase() }
  if (Object.keys(env).length > 0) return startTestService(t, settings)
  return keptForLane(() => startTestService(root, settings))
}

/**
 * Starts a real service: the application on a free port, or on the PORT of `env`. It checks every response against its
 * declared schema, and ends with the test. `env` overrides environment variables. Without DATABASE_URL among them the
 * database is new, and goes with the service.
 */
export async function startTestService(t: Teardown, env: Record<string, string> = {}) {
  const { DATABASE_URL: given } = env
  const { url, drop } = given === undefined ? await createTestDatabase() : { url: given, drop: async () => {} }
  const directory = await mkdtemp(join(tmpdir(), 'svc-test-'))
  const config = readConfig({ DATABASE_URL: url, DATA_DIR: directory, LOG_LEVEL: 'silent', ...unlimited, ...env })
  const log = createLogger({ service: 'test', config })
  const service = await startService({ config, log, checkResponses: true })
  const server = createApp(service).listen(env['PORT'] === undefined ? 0 : config.PORT)
  // A test that computes for seconds would otherwise send its next request on a connection that the server has closed.
  server.keepAliveTimeout = 0
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await service.close()
    await drop()
    await rm(directory, { recursive: true, force: true })
  })

  /** A client whose user has the given role in the named workspace; by default in a new workspace. */
  async function signUp(
    options: { email?: string; password?: string; role?: Role; workspace?: string; scopes?: string | Scope[] } = {},
  ) {
    const granted = await bootstrap(
      { database: service.database, pepper: config.TOKEN_PEPPER },
      {
        email: options.email ?? `user-${Math.random().toString(36).slice(2)}@example.test`,
        name: null,
        password: options.password ?? null,
        workspace: options.workspace ?? null,
        role: options.role ?? 'owner',
        scopes: resolveScopes(options.scopes ?? 'read_write').scopes,
        expiresInDays: null,
      },
    )
    return Object.assign(new Client({ origin, token: granted.token }), granted)
  }

  return { origin, url, config, service, database: service.database, signUp }
}

// Tests of limits set their own values. In other tests limits would only be in the way.
const unlimited = {
  RATE_READ_PER_MIN: '0',
  RATE_WRITE_PER_MIN: '0',
  RATE_SEARCH_PER_MIN: '0',
  RATE_JOB_PER_MIN: '0',
  RATE_IP_PER_MIN: '0',
  RATE_SHARE_PER_MIN: '0',
}
