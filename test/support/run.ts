import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../shared/start/embedded-postgres.ts'
import { signalledOnParentDeath } from '../../shared/start/processes.ts'
import { costsVariable, readCosts, reportCosts } from './costs.ts'
import { CpuBudget } from './cpu.ts'
import { type Lane, lanesOf, testFiles } from './lanes.ts'
import { createTemplate, serverVariable } from './postgres.ts'
import { root } from './processes.ts'
import { longVariable, runsVariable, seedVariable } from './run-options.ts'
import { siteTemplateVariable } from './site-template.ts'

/*
 * `npm test` and `npm run test:long`. Starts one PostgreSQL for the whole run, and then tap with a file for each lane.
 * Words name test files or folders, by default all; `--name` runs the tests whose names match. Other options are tap's.
 */

const { values, positionals, tokens } = parseArgs({
  options: { long: { type: 'boolean' }, name: { type: 'string' }, seed: { type: 'string' }, runs: { type: 'string' } },
  strict: false,
  allowPositionals: true,
  tokens: true,
})
const own = new Set(['long', 'name', 'seed', 'runs'])
const tapOptions = tokens.flatMap((token) =>
  token.kind === 'option' && !own.has(token.name)
    ? [token.value === undefined ? token.rawName : `${token.rawName}=${token.value}`]
    : [],
)

// The most processor time of a run in seconds, on the machine of reference. `.ci/run` sets it for the short run.
const maxCpuSeconds = Number(process.env['TEST_CPU_BUDGET'] ?? Number.POSITIVE_INFINITY)

// The cluster is deleted after the run, so its data need not survive a crash of the machine.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  autovacuum: 'off',
  jit: 'off',
  scram_iterations: '1',
}

let isInterrupted = false
let group: number | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    isInterrupted = true
    if (group !== undefined) endGroup(group)
  })
}

const budget = new CpuBudget()
await buildPlugins()
const directory = await mkdtemp(join(await quickestPlace(), 'documents-test-'))
const laneDirectory = join(root, `.tap/lanes-${process.pid}`)
let postgres: EmbeddedPostgres | undefined
let code = 1
try {
  postgres = await startEmbeddedPostgres({ directory, settings })
  await createTemplate(postgres.superuserUrl)
  if (!isInterrupted) code = await runLanes(postgres.superuserUrl)
} catch (error) {
  // Ctrl-C also ends the programs that prepare the run.
  if (!isInterrupted) throw error
} finally {
  await postgres?.stop()
  const total = budget.end()
  console.log(reportCosts(await readCosts(join(directory, 'costs')), total))
  if (total.scaled > maxCpuSeconds) {
    console.log(`# The run may take ${maxCpuSeconds} CPU seconds. Make tests cheaper, or move them to the long run.`)
    code ||= 1
  }
  await rm(directory, { recursive: true, force: true })
  await rm(laneDirectory, { recursive: true, force: true })
}
process.exitCode = code

/** Runs tap with the lanes. Resolves with its exit code. */
async function runLanes(server: string): Promise<number> {
  const files = await testFiles({ named: positionals, long: values['long'] === true })
  const lanes = await Promise.all(lanesOf(files).map((lane, index) => writeLane(lane, index)))
  // Redrawing a screen that nobody watches would take a third of the time of a run.
  const reporter = process.stdout.isTTY ? [] : ['--reporter=tap']
  const tapWords = ['tap', ...reporter, ...tapOptions, ...lanes]
  const [command = 'tap', ...words] = [...signalledOnParentDeath('TERM'), ...tapWords]
  const temporary = join(directory, 'tmp')
  await mkdir(temporary)
  const env = {
    ...process.env,
    TMPDIR: temporary,
    [serverVariable]: server,
    [siteTemplateVariable]: join(directory, 'site-template'),
    [costsVariable]: join(directory, 'costs'),
    ...(values['long'] === true && { [longVariable]: '1' }),
    ...(values['seed'] !== undefined && { [seedVariable]: String(values['seed']) }),
    ...(values['runs'] !== undefined && { [runsVariable]: String(values['runs']) }),
    // The first patterns are for the test of the lane and those of its files.
    ...(values['name'] !== undefined && { TAP_GREP: `/./\n/./\n/${values['name']}/` }),
    // The processes of the run share compiled code, also with the runs before.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(root, 'node_modules/.cache/node'),
  }
  // tap and the lanes are a process group of their own, which a signal ends as a whole.
  const tap = spawn(command, words, { stdio: 'inherit', env, detached: true })
  group = tap.pid
  return (await once(tap, 'exit'))[0] ?? 1
}

/** Writes the file that tap runs for a lane. It is JavaScript, so that its name in the output is all that it adds. */
async function writeLane({ name, files }: Lane, index: number): Promise<string> {
  // tap starts files in the order of their names.
  const path = join(laneDirectory, `${index}-${name}.mjs`)
  const lane = JSON.stringify(join(root, 'test/support/lane.ts'))
  await mkdir(laneDirectory, { recursive: true })
  await writeFile(
    path,
    `import { runFiles } from ${lane}\nawait runFiles(${JSON.stringify(name)}, ${JSON.stringify(files, null, 2)})\n`,
  )
  return path
}

function endGroup(pid: number): void {
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-pid, name)
    } catch {
      // The group has ended.
    }
  }
  signal('SIGTERM')
  setTimeout(() => signal('SIGKILL'), 3000).unref()
}

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
