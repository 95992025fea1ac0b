import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { revokeToken } from '../../shared/auth/queries.ts'
import { freePort } from '../../shared/start/processes.ts'
import { workersOf } from '../../workers/types.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { compiledCode, portOf, root, startProcess } from '../support/processes.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { bootstrapToken, until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t)
await startWorkers(t, service, workersOf(['events']))

for (const era of ['modern', 'legacy'] as const) {
  t.test(`a local client of the ${era} protocol works with a service through the command line`, async (t) => {
    const ada = await service.signUp()
    const { client } = await connect(t, { KB_ORIGIN: service.origin, KB_TOKEN: ada.token }, era)
    const { tools } = await client.listTools()
    t.ok(tools.some(({ name }) => name === 'whoami'))
    const result = await client.callTool({ name: 'whoami', arguments: {} })
    t.match(result.structuredContent, { user: { id: ada.user_id } })
    await t.rejects(client.readResource({ uri: 'svc://doc/doc_never' }), { code: -32602 })
  })
}

t.test('a local client hears of changes, and ends hearing of them, through the bridge', async (t) => {
  const ada = await service.signUp()
  const { client } = await connect(t, { KB_ORIGIN: service.origin, KB_TOKEN: ada.token })
  let changes = 0
  client.setNotificationHandler('notifications/resources/list_changed', () => {
    changes += 1
  })
  const subscription = await client.listen({ resourcesListChanged: true })
  await ada.post('/documents', { title: 'New' })
  await until(async () => changes > 0)
  await subscription.close()
  await until(async () => (await ada.call('GET', '//metrics')).text.includes('\nsvc_event_streams 0\n'))
  t.pass('the stream of the service has ended')
})

t.test('a token that is wrong, or is revoked later, ends the bridge with a message and exit code 4', async (t) => {
  const ada = await service.signUp()
  const initialize = request(1, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })
  const wrong = run(t, { KB_ORIGIN: service.origin, KB_TOKEN: 'svc_tok_wrong' })
  wrong.write(initialize)
  t.equal(await wrong.ended, 4)
  t.match(wrong.errors(), /does not accept the token.*\/account\/tokens/s)
  t.match(JSON.parse(wrong.output()), { id: 1, error: { message: String } }, 'the client has an answer')
  const revoked = run(t, { KB_ORIGIN: service.origin, KB_TOKEN: ada.token })
  revoked.write(initialize)
  await until(async () => revoked.output().includes('\n'))
  await revokeToken(service.database, ada.token_id)
  revoked.write(request(2, 'tools/list', {}))
  t.equal(await revoked.ended, 4)
  t.ok(
    revoked
      .output()
      .trim()
      .split('\n')
      .every((line) => JSON.parse(line).jsonrpc === '2.0'),
    'only the protocol',
  )
})

t.test('what the bridge cannot deliver gets an error, and standard error names the service', async (t) => {
  const lost = run(t, { KB_ORIGIN: service.origin })
  t.equal(await lost.ended, 4)
  t.match(lost.errors(), `not signed in to ${service.origin}`)
  t.equal(lost.output(), '')
  // A server that accepts connections and breaks them.
  const broken = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  t.teardown(() => broken.close())
  await once(broken, 'listening')
  const address = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`
  const bridge = run(t, { KB_ORIGIN: address, KB_TOKEN: 'x' })
  bridge.write(`no JSON\n\n{"jsonrpc": "1.0"}\n${request(1, 'tools/list', {})}`)
  await until(async () => bridge.output().split('\n').length > 3)
  const answers = bridge
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.match(answers, [
    { jsonrpc: '2.0', id: null, error: { code: -32700 } },
    { jsonrpc: '2.0', id: null, error: { code: -32600 } },
    { jsonrpc: '2.0', id: 1, error: { code: -32000, message: `${address} did not answer` } },
  ])
  await until(async () => bridge.errors().includes(`mcp: ${address} did not answer`))
  bridge.hangUp()
  t.equal(await bridge.ended, 0, 'a client that hangs up ends the bridge')
})

t.test('a local client goes on when the service is restarted', onlyLong, async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const env = { DATABASE_URL: url, LOG_LEVEL: 'info', PORT: String(await freePort({ host: '127.0.0.1' })) }
  const start = async () => {
    const api = startProcess('api/main.ts', { env })
    t.teardown(api.stop)
    await portOf(api)
    return api
  }
  const first = await start()
  const token = await bootstrapToken(env)
  const { client, errors } = await connect(t, { KB_ORIGIN: `http://127.0.0.1:${env.PORT}`, KB_TOKEN: token })
  await client.callTool({ name: 'whoami', arguments: {} })
  await first.stop()
  const waiting = client.callTool({ name: 'whoami', arguments: {} })
  await until(async () => errors().includes('which does not answer'))
  await start()
  t.match((await waiting).structuredContent, { user: { email: 'owner@example.test' } })
  await until(async () => errors().includes('answers again'))
})

const command = { command: process.execPath, args: [join(root, 'shared/cli/main.ts'), 'mcp'] }

/** Connects the official client to the bridge as a local host does. `errors` is what the bridge has told so far. */
async function connect(t: Test, env: Record<string, string>, era: 'modern' | 'legacy' = 'modern') {
  const client = new Client(
    { name: 'Local client', version: '1.0.0' },
    { versionNegotiation: era === 'modern' ? { mode: { pin: '2026-07-28' } } : { mode: 'legacy' } },
  )
  const transport = new StdioClientTransport({
    ...command,
    env: { ...compiledCode, ...env },
    cwd: root,
    stderr: 'pipe',
  })
  let errors = ''
  transport.stderr?.on('data', (chunk: Buffer) => (errors += chunk))
  await client.connect(transport)
  t.teardown(() => client.close())
  return { client, errors: () => errors }
}

/** Runs the bridge with the pipes in the hand of the test. */
function run(t: Test, env: Record<string, string>) {
  const child = spawn(command.command, command.args, {
    cwd: root,
    env: { PATH: process.env['PATH'], ...compiledCode, ...env },
  })
  t.teardown(() => child.kill())
  let [output, errors] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk))
  return {
    write: (line: string) => child.stdin.write(line),
    hangUp: () => child.stdin.end(),
    output: () => output,
    errors: () => errors,
    ended: once(child, 'close').then(([code]) => code as number | null),
  }
}

function request(id: number, method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
}
