import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../shared/start/embedded-postgres.ts'
import { freePort, joinWorkers, parseProcfile } from '../../shared/start/processes.ts'
import { workerTypes } from '../../workers/types.ts'
import { Person } from '../support/collab.ts'
import { processesOf } from '../support/processes.ts'
import { onlyLong } from '../support/run-options.ts'
import { type Test, t } from '../support/tap.ts'
import { Visitor } from '../support/visitor.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'documents-start-'))
t.teardown(() => rmSync(directory, { recursive: true, force: true }))

// Far more time than a start takes, which `npm run bench -- processes` measures.
const readyTime = 120_000
const stopTime = 30_000
const linuxOnly = { skip: process.platform !== 'linux' }
const atLength = { skip: onlyLong.skip || linuxOnly.skip }

t.test('a fresh folder becomes a service that its owner can use at once and stops without a trace', async (t) => {
  const PORT = String(await freePort({}))
  const service = startWith({ PORT, LOG_LEVEL: 'info' })
  while (
    !(await fetch(`http://localhost:${PORT}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await sleep(5)
  t.ok(existsSync(join(directory, 'bootstrap.json')), 'the owner can sign in as soon as the service is ready')
  const ready = await service.ready()
  const { token } = JSON.parse(readFileSync(join(directory, 'bootstrap.json'), 'utf8'))
  t.match(ready.owner, /bootstrap\.json$/)
  t.notMatch(service.output(), /svc_tok|login\/link#/, 'a log keeps no secret')
  const url = `${ready.api}/me`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  t.equal(answer.status, 200)

  const { data: me } = (await answer.json()) as { data: { collaboration_url: string } }
  const live = me.collaboration_url
  t.equal(live, `${new URL(url).origin.replace('http', 'ws')}/collab`, 'one address serves everything')
  t.equal(ready.live, live)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const made = { method: 'POST', headers, body: JSON.stringify({ title: 'Elephants' }) }
  const created = await fetch(`${new URL('documents', url)}`, made)
  const { id } = ((await created.json()) as { data: { id: string } }).data
  const person = await Person.open({ url: live, token, documentId: id })
  person.textAt(0).insert(0, 'typed')
  await person.saved()
  person.close()

  const second = start()
  t.equal(await second.ended(readyTime), 1)
  t.match(second.output(), /is in use, process \d+ already runs its PostgreSQL/)

  await t.test('ordinary refusals are no errors in the log', async (t) => {
    const call = async (path: string, body?: object, further: Record<string, string> = {}) => {
      const method = body === undefined ? 'GET' : 'POST'
      const answer = await fetch(`${ready.api}${path}`, {
        method,
        headers: { ...headers, ...further },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, text: await answer.text() }
    }
    const unavailable = await call(`/documents/${id}/summary/rebuild`, { generator: 'model' }, { 'if-match': '*' })
    t.match(unavailable, { status: 503, text: /OPENAI_API_KEY and SUMMARY_MODEL/ })
    t.match(await call('/documents/doc_unknown'), { status: 404 })
    t.match(await call('/documents', { title: 7 }), { status: 400 })
    t.match(await call('/me', undefined, { authorization: 'Bearer no' }), { status: 401 })
    await service.printed(/"code":"model_unavailable"/, stopTime)
    t.strictSame(
      logLines(service.output()).filter(({ level }) => level > 30),
      [],
    )
  })

  await t.test('whoever gets hold of the service gets neither its machine nor the files on it', linuxOnly, (t) =>
    checkConfinement(t, ready.api),
  )

  service.child.kill('SIGTERM')
  t.equal(await service.ended(stopTime), 0)
  t.same(left(), [])
})

t.test(
  'a process that dies is restarted alone, PostgreSQL included, and each death is one line',
  atLength,
  async (t) => {
    const service = start()
    const { api } = await service.ready()
    const workers = left().filter(({ command }) => command.includes('workers/main.ts'))
    t.equal(workers.length, 1, 'one process does what all worker types of the Procfile do')
    t.strictSame(workers[0]?.command.split('workers/main.ts ')[1]?.split(' '), Object.keys(workerTypes))
    const { token } = JSON.parse(readFileSync(join(directory, 'bootstrap.json'), 'utf8'))
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const [postmaster = ''] = readFileSync(join(directory, 'postgres/postmaster.pid'), 'utf8').split('\n')
    const parts = { workers: workers[0]?.pid, api: idOf('node api/main.ts'), postgres: Number(postmaster) }
    for (const [name, pid] of Object.entries(parts)) {
      const made = await fetch(`${api}/documents`, { method: 'POST', headers, body: JSON.stringify({ title: name }) })
      t.equal(made.status, 201, `before the death of ${name}`)
      const { id } = ((await made.json()) as { data: { id: string } }).data
      process.kill(pid ?? 0, 'SIGKILL')
      await service.printed(
        new RegExp(`"process":"${name}",.*"restart_in_seconds":1,.*"msg":"a process ended"`),
        stopTime,
      )
      const origin = new URL(api).origin
      while (!(await fetch(`${origin}/readyz`).then(isWhole, () => false))) await sleep(50)
      t.equal((await fetch(`${api}/documents/${id}`, { headers })).status, 200, 'nothing acknowledged is lost')
    }
    t.equal(service.output().match(/"msg":"a process ended"/g)?.length, 3)
    t.ok(
      logLines(service.output()).every(({ service }) => service !== ''),
      'each line is JSON and says which process has written it',
    )
    service.child.kill('SIGTERM')
    t.equal(await service.ended(stopTime), 0)
    t.same(left(), [])
  },
)

t.test('a process that keeps ending is named with its last words, in the log and at /readyz', atLength, async (t) => {
  const service = start()
  const { api } = await service.ready()
  const kill = setInterval(() => {
    for (const { pid, command } of left()) if (command.startsWith('node api/collab')) process.kill(pid, 'SIGKILL')
  }, 100)
  t.teardown(() => clearInterval(kill))
  await service.printed(/"process":"collab","reason":"ended by SIGKILL","restart_in_seconds":30,"output":/, readyTime)
  const readiness = await fetch(`${new URL(api).origin}/readyz`)
  t.match(await readiness.json(), { status: 'ok', down: ['collab'] })
  t.equal(service.output().match(/"msg":"a process keeps ending"/g)?.length, 1)
  clearInterval(kill)
  service.child.kill('SIGTERM')
  t.equal(await service.ended(stopTime), 0)
})

const noTerminal = atLength.skip || (spawnSync('script', ['--version']).status !== 0 && 'needs script of util-linux')

t.test(
  'on a terminal, the first start prints a token and a link that signs the owner in',
  { skip: noTerminal },
  async (t) => {
    const service = startWith({ DATA_DIR: join(directory, 'terminal') }, { terminal: true })
    const [, token, url = ''] = await service.printed(
      /^Try +curl -H 'Authorization: Bearer (svc_\S+)' (\S+)\r$/m,
      readyTime,
    )
    t.equal((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status, 200)
    const [, link = ''] = await service.printed(/^Open +(\S+) signs you in/m, readyTime)
    const owner = new Visitor(new URL(link).origin)
    const used = await owner.submit({ page: '/login/link', fields: { code: link } })
    t.match(used, { status: 303, location: '/' }, 'the printed link opens the pages')
    t.match((await owner.get('/account/tokens')).html, 'owner@localhost')
    service.child.stdin.write('\u0003')
    t.equal(await service.ended(stopTime), 0, 'Ctrl-C ends it', { output: service.output() })

    const later = startWith({ DATA_DIR: join(directory, 'terminal') }, { terminal: true })
    await later.printed(/^Token +in .*bootstrap\.json\r$/m, readyTime)
    t.notMatch(later.output(), /svc_tok|login\/link#/, 'a later start keeps the token to itself')
    later.child.stdin.write('\u0003')
    t.equal(await later.ended(stopTime), 0, 'Ctrl-C ends it', { output: later.output() })
    t.same(left(), [])
  },
)

t.test('text of a killed live editing process is stored by the next one, at the same address', atLength, async (t) => {
  const PORT = String(await freePort({}))
  const service = startWith({ PORT, COLLAB_DEBOUNCE_MS: '60000', COLLAB_MAX_DEBOUNCE_MS: '60000' })
  await service.ready()
  const { token } = JSON.parse(readFileSync(join(directory, 'bootstrap.json'), 'utf8'))
  const api = `http://localhost:${PORT}/api/v1`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const created = await fetch(`${api}/documents`, { method: 'POST', headers, body: '{"title":"Elephants"}' })
  const { id } = ((await created.json()) as { data: { id: string } }).data
  const person = await Person.open({ url: `ws://localhost:${PORT}/collab`, token, documentId: id })
  t.teardown(() => person.close())
  person.textAt(0).insert(0, 'unsaved')
  while (person.provider.hasUnsyncedChanges) await sleep(5)
  const [live] = left().filter(({ command }) => command.includes('api/collab/main.ts'))
  process.kill(live?.pid as number, 'SIGKILL')
  await person.saved()
  t.match(await (await fetch(`${api}/documents/${id}/content`, { headers })).text(), 'unsaved')
  service.child.kill('SIGTERM')
  t.equal(await service.ended(stopTime), 0)
})

t.test('worker types can be run and watched apart, as a large installation runs them', atLength, async (t) => {
  const METRICS_PORT = String(await freePort({}))
  const service = startWith({ METRICS_PORT }, { words: ['--', '--apart'] })
  await service.ready()
  for (const index of Object.keys(workerTypes).keys()) {
    const metrics = await fetch(`http://localhost:${Number(METRICS_PORT) + index}/metrics`)
    t.equal(metrics.status, 200, `metrics of worker ${index}`)
  }
  const types = left().flatMap(({ command }) => command.split('node workers/main.ts ')[1] ?? [])
  t.equal(left().filter(({ command }) => command === 'node api/collab/main.ts').length, 1)
  t.strictSame(types.sort(), Object.keys(workerTypes).sort())
  service.child.kill('SIGTERM')
  t.equal(await service.ended(stopTime), 0)
  t.same(left(), [])
})

t.test('a port that is taken is named, for live editing as for the API', atLength, async (t) => {
  const taken = createServer().listen(0)
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const { port } = taken.address() as AddressInfo
  for (const variable of ['PORT', 'COLLAB_PORT']) {
    const service = startWith({ [variable]: String(port) })
    t.equal(await service.ended(readyTime), 1)
    t.match(service.output(), `address already in use :::${port}`, variable)
  }
})

t.test('an option that does not exist is refused with those that do', async (t) => {
  const service = start('--', '--together')
  t.equal(await service.ended(readyTime), 2)
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

t.test(
  'a folder of an earlier version, in which all belonged to the superuser, goes on as it is',
  onlyLong,
  async (t) => {
    const old = await startEmbeddedPostgres({ directory })
    const client = new pg.Client(old.superuserUrl)
    await client.connect()
    await client.query('REASSIGN OWNED BY documents TO postgres; DROP OWNED BY documents; DROP ROLE documents')
    await client.end()
    await old.stop()
    rmSync(join(directory, 'documents.password'))

    const service = start()
    const { api: origin } = await service.ready()
    const { token } = JSON.parse(readFileSync(join(directory, 'bootstrap.json'), 'utf8'))
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ title: 'Elephants' })
    t.equal((await fetch(`${origin}/documents`, { method: 'POST', headers, body })).status, 201)
    const [, , , port = ''] = readFileSync(join(directory, 'postgres/postmaster.pid'), 'utf8').split('\n')
    const superuser = await connect(t, { role: 'postgres', port })
    const { rows } = await superuser.query(`
    SELECT relname FROM pg_class WHERE relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)
      AND relowner = 'postgres'::regrole
    UNION ALL
    SELECT proname FROM pg_proc WHERE pronamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)
      AND proowner = 'postgres'::regrole
    UNION ALL
    SELECT typname FROM pg_type WHERE typnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)
      AND typowner = 'postgres'::regrole`)
    t.same(rows, [], 'nothing is left that a later migration could not change')

    await t.test('a runner that is killed takes its processes along', linuxOnly, async (t) => {
      process.kill(idOf('node shared/start/start.ts'), 'SIGKILL')
      await service.ended(stopTime)
      const deadline = Date.now() + stopTime
      while (left().length > 0 && Date.now() < deadline) await sleep(50)
      t.same(left(), [])
    })
    service.child.kill('SIGTERM')
    await service.ended(stopTime)
  },
)

async function checkConfinement(t: Test, api: string): Promise<void> {
  const [pid = '', , , port = ''] = readFileSync(join(directory, 'postgres/postmaster.pid'), 'utf8').split('\n')
  const own = await connect(t, { role: 'documents', port })
  for (const attempt of [
    `SELECT pg_read_file('/etc/hostname')`,
    `COPY (SELECT 1) TO PROGRAM 'true'`,
    `COPY (SELECT 1) TO '/tmp/x'`,
    'CREATE ROLE other SUPERUSER',
    'CREATE DATABASE other',
    `SELECT passwd FROM pg_shadow`,
    'CHECKPOINT',
    `ALTER SYSTEM SET listen_addresses = '*'`,
  ]) {
    await t.rejects(own.query(attempt), { code: '42501' }, attempt)
  }
  const superuser = await connect(t, { role: 'postgres', port })
  const users = `SELECT DISTINCT usename FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
  t.same((await superuser.query(users)).rows, [{ usename: 'documents' }], 'every process is that role')
  t.same(listeners(port), ['0100007F'], 'PostgreSQL listens on this machine alone')
  const { port: apiPort } = new URL(api)
  t.same(listeners(apiPort), ['0100007F'], 'and so does the API until HOST says otherwise')

  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  t.notMatch(status, /^Uid:\t0\t/m)
  const canMount = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
  if (process.geteuid?.() !== 0 || canMount) {
    for (const set of ['Inh', 'Prm', 'Eff', 'Amb']) t.match(status, new RegExp(`^Cap${set}:\\t0+$`, 'm'), set)
  }
  for (const role of ['postgres', 'documents'])
    t.equal(statSync(join(directory, `${role}.password`)).mode & 0o777, 0o600)
}

async function connect(t: Test, { role, port }: { role: string; port: string }): Promise<pg.Client> {
  const password = readFileSync(join(directory, `${role}.password`), 'utf8')
  const client = new pg.Client({ host: '127.0.0.1', port: Number(port), user: role, password, database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** The log of the service, without what npm prints. Throws on a line that is no JSON. */
function logLines(output: string): { level: number; service: string }[] {
  // The last line may still be on its way.
  const lines = output
    .slice(0, output.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('>'))
  return lines.map((line) => JSON.parse(line))
}

// The addresses, as Linux writes them, on which a process listens at the port.
function listeners(port: string): string[] {
  const lines = ['tcp', 'tcp6'].flatMap((file) => readFileSync(`/proc/net/${file}`, 'utf8').trim().split('\n').slice(1))
  const wanted = Number(port).toString(16).toUpperCase().padStart(4, '0')
  return lines.flatMap((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/)
    const [address = '', at] = local.split(':')
    return at === wanted && state === '0A' ? [address] : []
  })
}

function start(...words: string[]) {
  return startWith({}, { words })
}

function startWith(settings: Record<string, string>, { words = [] as string[], terminal = false } = {}) {
  const { DATABASE_URL: _none, NODE_ENV: _test, ...environment } = process.env
  const env = { ...environment, DATA_DIR: directory, PORT: '0', COLLAB_PORT: '0', LOG_LEVEL: 'warn', ...settings }
  // Ctrl-C must reach this process alone. npm repeats it, and a shell without `exec` would end by it with code 130.
  const onTerminal = ['script', '-qefc', `exec '${process.execPath}' shared/start/start.ts`, '/dev/null']
  const [command, ...args] = terminal ? onTerminal : ['npm', 'start', ...words]
  const child = spawn(command as string, args, { cwd: root, env, stdio: 'pipe' })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const code = once(child, 'exit').then(([exitCode]) => exitCode as number | null)
  return {
    child,
    output: () => output,
    /** The line that says that everything is ready. */
    ready: async (): Promise<{ api: string; live: string; owner: string }> => {
      const printed = untilPrinted(child, /^\{.*"msg":"ready"\}$/m, () => output)
      return JSON.parse((await within(readyTime, printed, () => output))[0])
    },
    ended: (patience: number) => within(patience, code, () => output),
    printed: (line: RegExp, patience: number) =>
      within(
        patience,
        untilPrinted(child, line, () => output),
        () => output,
      ),
  }
}

async function isWhole(readiness: Response): Promise<boolean> {
  return readiness.ok && !('down' in ((await readiness.json()) as object))
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

// All running processes of the folder's service, except this process.
function left() {
  return processesOf(directory)
}
