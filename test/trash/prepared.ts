import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { workersOf } from '../../workers/types.ts'
import { Client } from '../support/client.ts'
import { copyDatabase, createTestDatabase } from '../support/postgres.ts'
import { startTestService, type TestService } from '../support/service.ts'
import type { Teardown } from '../support/site.ts'
import { startWorkers } from '../support/workers.ts'
import { type Everything, makeEverything } from './everything.ts'

/** A service on a copy of a workspace in which everything exists, and a client of its owner. */
export type Copied = { service: TestService; everything: Everything; ada: Client }

/** Starts a service on a new copy. It ends with the test. `env` overrides environment variables. */
export type StartCopy = (t: Test, env?: Record<string, string>) => Promise<Copied>

/**
 * Makes a workspace in which everything exists, once. The returned function starts services on copies of its database
 * and files, so that tests can destroy what they want, and can compare two copies row by row. Without `idle`, workers
 * derive in each copy.
 */
export async function prepareEverything(t: Test): Promise<StartCopy> {
  const [database, files] = [await createTestDatabase(), await mkdtemp(join(tmpdir(), 'svc-everything-'))]
  t.teardown(async () => {
    await database.drop()
    await rm(files, { recursive: true, force: true })
  })
  const everything = await alone((scope) => makeEverything(scope, { DATABASE_URL: database.url, DATA_DIR: files }))
  return async (t, env = {}) => {
    const [copy, directory] = [await copyDatabase(database.url), await mkdtemp(join(tmpdir(), 'svc-copy-'))]
    await cp(files, directory, { recursive: true })
    t.teardown(async () => {
      await copy.drop()
      await rm(directory, { recursive: true, force: true })
    })
    const service = await startTestService(t, { DATABASE_URL: copy.url, DATA_DIR: directory, ...env })
    return { service, everything, ada: new Client({ origin: service.origin, token: everything.token }) }
  }
}

/** Runs the workers that derive on a copy. They end with the test. */
export async function derive(t: Test, { service }: Copied): Promise<void> {
  const types = ['search', 'changes', 'relations', 'candidates', 'summaries', 'localization', 'events'] as const
  await startWorkers(t, service, workersOf(types))
}

// Runs something that ends with a test, and ends it at once. A database can be copied only when nobody uses it.
async function alone<T>(run: (scope: Teardown) => Promise<T>): Promise<T> {
  const ends: (() => unknown)[] = []
  try {
    return await run({ teardown: (end) => ends.unshift(end) })
  } finally {
    for (const end of ends) await end()
  }
}
