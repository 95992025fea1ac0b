import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../shared/start/embedded-postgres.ts'
import { signalledOnParentDeath } from '../../shared/start/processes.ts'
import { createTemplate, serverVariable } from './postgres.ts'
import { root } from './processes.ts'
import { siteTemplateVariable } from './site-template.ts'

/*
 * `npm test` starts one PostgreSQL for the whole run, and then tap with the given arguments. So
 * `npm test -- test/documents/documents.test.ts` runs one file.
 */

// The cluster is deleted after the run, so its data need not survive a crash of the machine.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
}

await buildPlugins()
const directory = await mkdtemp(join(await quickestPlace(), 'documents-test-'))
const postgres = await startEmbeddedPostgres({ directory, settings })
let code = 1
try {
  await createTemplate(postgres.superuserUrl)
  // Redrawing a screen that nobody watches would take a third of the time of a run.
  const reporter = process.stdout.isTTY ? [] : ['--reporter=tap']
  const tapWords = ['tap', ...reporter, ...process.argv.slice(2)]
  const [command = 'tap', ...words] = [...signalledOnParentDeath('TERM'), ...tapWords]
  // About two hundred processes load the same modules. They share compiled code, also with the runs before.
  const env = {
    ...process.env,
    [serverVariable]: postgres.superuserUrl,
    [siteTemplateVariable]: join(directory, 'site-template'),
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(root, 'node_modules/.cache/node'),
  }
  const tap = spawn(command, words, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tap.kill(signal))
  code = (await once(tap, 'exit'))[0] ?? 1
} finally {
  await postgres.stop()
  await rm(directory, { recursive: true, force: true })
}
process.exitCode = code

/**
 * Removes the compiler plugin from tap, as .taprc says. tap also removes the plugin by itself, but only for the next
 * run. So the first run after `npm ci` would still compile. Each test process would then compile code that Node runs as
 * it is, which took a third of the time and half a gigabyte of memory.
 */
async function buildPlugins(): Promise<void> {
  const built = await readFile(join(root, 'node_modules/@tapjs/test/test-built/dist/esm/index.js'), 'utf8')
  if (built.includes('@tapjs/typescript')) await once(spawn('tap', ['build'], { stdio: 'inherit', cwd: root }), 'exit')
}

/**
 * The folder of the run's data, in memory where Linux offers room. A database has more than a thousand files. When a
 * thousand files were just deleted, ext4 takes twenty times as long to create a thousand new files.
 */
async function quickestPlace(): Promise<string> {
  const memory = '/dev/shm'
  const room = await statfs(memory).catch(() => null)
  return room !== null && room.bavail * room.bsize > 2 ** 31 ? memory : tmpdir()
}
