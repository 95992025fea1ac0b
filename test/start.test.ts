import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { joinWorkers, parseProcfile } from '../shared/dev/procfile.ts'
import { workerTypes } from '../workers/types.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'documents-start-'))
t.teardown(() => rmSync(directory, { recursive: true, force: true }))

// Far more than either takes: how fast they are is measured by `npm run bench -- processes`.
const readyTime = 120_000
const stopTime = 30_000
const linuxOnly = { skip: process.platform !== 'linux' }

t.test('a fresh folder becomes a service that its owner can use at once and stops without a trace', async (t) => {
  const service = start()
  await service.printed(/^Docs .*$/m, readyTime)
  const [, token, url] = await service.printed(/^Try +curl -H 'Authorization: Bearer (svc_\S+)' (\S+)$/m, readyTime)
  const answer = await fetch(url ?? '', { headers: { authorization: `Bearer ${token}` } })
  t.equal(answer.status, 200)
  t.equal(JSON.parse(readFileSync(join(directory, 'bootstrap.json'), 'utf8')).token, token)

  const second = start()
  t.equal(await second.ended(readyTime), 1)
  t.match(second.output(), /is in use, process \d+ already runs its PostgreSQL/)

  service.child.kill('SIGTERM')
  t.equal(await service.ended(stopTime), 0)
  t.same(left(), [])
})

t.test(
  'a later start keeps the token to itself and goes down as a whole when one process dies',
  linuxOnly,
  async (t) => {
    const service = start()
    await service.printed(/^Token +in .*bootstrap\.json$/m, readyTime)
    t.notMatch(service.output(), /svc_/)
    const workers = left().filter(({ command }) => command.includes('workers/main.ts'))
    t.equal(workers.length, 1, 'one process does what all worker types of the Procfile do')
    t.strictSame(workers[0]?.command.split('workers/main.ts ')[1]?.split(' '), Object.keys(workerTypes))
    process.kill(workers[0]?.pid ?? 0, 'SIGKILL')
    t.equal(await service.ended(stopTime), 1)
    t.match(service.output(), 'workers ended by SIGKILL; stopping everything')
    t.same(left(), [])
  },
)

t.test('worker types can be run and watched apart, as a large installation runs them', linuxOnly, async (t) => {
  const service = start('--', '--apart')
  await service.printed(/^API /m, readyTime)
  const types = left().flatMap(({ command }) => command.split('node workers/main.ts ')[1] ?? [])
  t.strictSame(types.sort(), Object.keys(workerTypes).sort())
  service.child.kill('SIGTERM')
  t.equal(await service.ended(stopTime), 0)
  t.same(left(), [])
})

t.test('an option that does not exist is refused with those that do', async (t) => {
  const service = start('--', '--together')
  t.equal(await service.ended(readyTime), 1)
  t.match(service.output(), /Unknown option '--together'[\s\S]*--apart/)
})

t.test('lines of the Procfile that are no plain worker are run as they stand', async (t) => {
  const { processes } = parseProcfile(
    'release: true\napi: node api/main.ts\na: node workers/main.ts a b\nc: node --inspect workers/main.ts c\nd: node workers/main.ts d',
  )
  t.strictSame(joinWorkers(processes), [
    { name: 'api', command: 'node api/main.ts' },
    { name: 'c', command: 'node --inspect workers/main.ts c' },
    { name: 'workers', command: 'node workers/main.ts a b d' },
  ])
})

t.test('a runner that is killed takes its processes along', linuxOnly, async (t) => {
  const service = start()
  await service.printed(/^API /m, readyTime)
  process.kill(idOf('node shared/dev/start.ts'), 'SIGKILL')
  await service.ended(stopTime)
  const deadline = Date.now() + stopTime
  while (left().length > 0 && Date.now() < deadline) await sleep(50)
  t.same(left(), [])
})

function start(...words: string[]) {
  const { NODE_OPTIONS: _tap, DATABASE_URL: _none, NODE_ENV: _test, ...environment } = process.env
  const env = { ...environment, DATA_DIR: directory, PORT: '0', LOG_LEVEL: 'warn' }
  const child = spawn('npm', ['start', ...words], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const code = once(child, 'exit').then(([exitCode]) => exitCode as number | null)
  return {
    child,
    output: () => output,
    ended: (patience: number) => within(patience, code, () => output),
    printed: (line: RegExp, patience: number) =>
      within(
        patience,
        untilPrinted(child, line, () => output),
        () => output,
      ),
  }
}

async function untilPrinted(child: ChildProcess, line: RegExp, output: () => string): Promise<RegExpExecArray> {
  for (;;) {
    const found = line.exec(output())
    if (found) return found
    if (child.exitCode !== null) throw new Error(`npm start ended:\n${output()}`)
    await sleep(20)
  }
}

async function within<T>(patience: number, result: Promise<T>, output: () => string): Promise<T> {
  const timer = new AbortController()
  const late = sleep(patience, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`npm start took more than ${patience} ms:\n${output()}`)
  })
  return Promise.race([result, late]).finally(() => {
    late.catch(() => {})
    timer.abort()
  })
}

function idOf(command: string): number {
  const found = left().find((process) => process.command === command)
  if (found === undefined) throw new Error(`${command} does not run`)
  return found.pid
}

// Every living process that was started with the folder in its environment or its arguments, except ourselves.
function left(): { pid: number; command: string }[] {
  if (linuxOnly.skip) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({ pid: Number(name), command: read(name, 'cmdline'), environment: read(name, 'environ') }))
    .filter(({ command, environment }) => `${command}${environment}`.includes(directory))
    .map(({ pid, command }) => ({ pid, command: command.replaceAll('\0', ' ').trim() }))
}

// A process may end between being listed and being read.
function read(pid: string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
