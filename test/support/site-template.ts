import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { migrate } from '../../shared/migrations/migrations.ts'
import { startEmbeddedPostgres } from '../../shared/start/embedded-postgres.ts'
import { clusterOf } from '../../shared/start/postgres-cluster.ts'

/** The environment variable by which `npm test` passes the folder of the template of the run to the test files. */
export const siteTemplateVariable = 'TEST_SITE_TEMPLATE'

/**
 * Puts a migrated PostgreSQL cluster into a folder that has none, ready to be started. Within `npm test` it is a copy
 * of a cluster that the first call of the run makes, since making a cluster and its tables takes two seconds.
 */
export async function provideCluster(directory: string): Promise<void> {
  const template = process.env[siteTemplateVariable]
  if (existsSync(clusterOf(directory))) return
  if (template === undefined) return makeCluster(directory)
  await provideTemplate(template)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  // The files of a cluster belong to another user than root, which `-a` keeps.
  await promisify(execFile)('cp', ['-a', `${template}/.`, directory])
}

// Several test files may ask at the same time. One of them makes the template, and the others wait until it is there.
async function provideTemplate(template: string): Promise<void> {
  const making = join(dirname(template), 'making-site-template')
  while (!existsSync(template)) {
    const isMine = await mkdir(making, { mode: 0o700 }).then(
      () => true,
      () => false,
    )
    if (isMine) await makeTemplate(template, making).finally(() => rm(making, { recursive: true, force: true }))
    else await sleep(25)
  }
}

async function makeTemplate(template: string, making: string): Promise<void> {
  // Another process may have made the template just now.
  if (existsSync(template)) return
  await makeCluster(making, { fsync: 'off' })
  await rename(making, template)
}

async function makeCluster(directory: string, settings: Record<string, string> = {}): Promise<void> {
  const postgres = await startEmbeddedPostgres({ directory, settings })
  try {
    await migrate({ url: postgres.url })
  } finally {
    await postgres.stop()
  }
}
