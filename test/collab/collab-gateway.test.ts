import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientAddress } from '../../shared/auth/forwarded-address.ts'
import { freePort } from '../../shared/start/processes.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { startApi } from '../support/processes.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'

const secret = 's'.repeat(32)
const { url, drop } = await createTestDatabase()
t.teardown(drop)
// Stands for the live editing process.
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const api = await start({ COLLAB_PORT: String((server.address() as AddressInfo).port) })

t.test('bytes of an editor reach live editing through the API and back, at the pace of the slower end', async (t) => {
  const { editor, accepted, request } = await connected(t, { 'svc-handed-on-for': '203.0.113.9 forged', 'X-One': '1' })
  t.match(request, /^GET \/collab\?a=1 HTTP\/1\.1\r\n/)
  t.match(request, /\r\nUpgrade: websocket\r\n/)
  t.match(request, /\r\nX-One: 1\r\n/)
  t.ok(request.endsWith('\r\n\r\nfirst bytes'), 'what is sent with the request is not lost')
  t.match(addressIn(request), /127\.0\.0\.1$/, 'nobody chooses the address that counts for limits')

  const megabytes = 64
  accepted.pause()
  let taken = 0
  const sending = (async () => {
    for (; taken < megabytes; taken += 1) if (!editor.write(Buffer.alloc(1_000_000))) await once(editor, 'drain')
  })()
  await sleep(500)
  t.ok(taken < megabytes, 'the API does not collect what live editing does not read')
  let received = 0
  accepted.on('data', (chunk: Buffer) => (received += chunk.length)).resume()
  await sending
  await until(async () => received === megabytes * 1_000_000)

  accepted.write('an answer')
  t.equal(String((await once(editor, 'data'))[0]), 'an answer')
})

t.test('when either end goes, the other is told', async (t) => {
  const one = await connected(t)
  one.editor.destroy()
  await once(one.accepted, 'close')
  const other = await connected(t)
  other.accepted.destroy()
  await once(other.editor, 'close')
})

t.test('an editor is refused, not left waiting, when live editing is out of reach', async (t) => {
  const { origin } = await start({ COLLAB_PORT: String(await freePort({})) })
  t.match(await answerTo(t, origin, '/collab'), /^HTTP\/1\.1 502 Bad Gateway\r\n[\s\S]*Retry-After: \d+\r\n/)
})

t.test('a client that offers another protocol elsewhere gets its ordinary answer', async (t) => {
  const { origin } = api
  t.match(await answerTo(t, origin, '/healthz'), /^HTTP\/1\.1 200 /)
  t.match(await answerTo(t, origin, '/healthz', 'h2c'), /^HTTP\/1\.1 200 /)
  t.match(await answerTo(t, origin, '/collab', 'h2c'), /^HTTP\/1\.1 404 /)
  t.match(await answerTo(t, origin, '/api/v1/me'), /^HTTP\/1\.1 401 /)
})

t.test('an API that is not told to hands nothing on', async (t) => {
  const { origin } = await start({ COLLAB_HAND_ON: 'false' })
  t.match(await answerTo(t, origin, '/collab'), /^HTTP\/1\.1 404 /)
})

t.test('an API that stops takes its editors along', async (t) => {
  const { editor } = await connected(t)
  const closed = once(editor, 'close')
  t.equal(await api.stop(), 0)
  await closed
})

// An editor whose connection has been handed on to the server of this test.
async function connected(t: Test, headers: Record<string, string> = {}) {
  const editor = await upgrading(t, api.origin, { path: '/collab?a=1', headers, rest: 'first bytes' })
  const [accepted] = (await once(server, 'connection')) as [Socket]
  accepted.on('error', () => {})
  t.teardown(() => accepted.destroy())
  let request = ''
  accepted.on('data', (chunk: Buffer) => (request += chunk))
  await until(async () => request.includes('first bytes'))
  accepted.removeAllListeners('data')
  return { editor, accepted, request }
}

async function start(env: Record<string, string>) {
  const started = await startApi({ DATABASE_URL: url, SESSION_SECRET: secret, COLLAB_HAND_ON: 'true', ...env })
  t.teardown(() => started.stop())
  return started
}

async function answerTo(t: Test, origin: string, path: string, protocol?: string): Promise<string> {
  const socket = await upgrading(t, origin, { path, ...(protocol !== undefined && { protocol }) })
  return String((await once(socket, 'data'))[0])
}

async function upgrading(
  t: Test,
  origin: string,
  asked: { path: string; protocol?: string; headers?: Record<string, string>; rest?: string },
): Promise<Socket> {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  const headers = { Host: 'kb.test', Connection: 'Upgrade', Upgrade: asked.protocol ?? 'websocket', ...asked.headers }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write([`GET ${asked.path} HTTP/1.1`, ...lines, '', asked.rest ?? ''].join('\r\n'))
  return socket
}

// The address of the editor as the live editing process finds it in a request.
function addressIn(request: string): string {
  const headers = Object.fromEntries(
    request.split('\r\n').flatMap((line) => {
      const [, name = '', value = ''] = /^([\w-]+): (.*)$/.exec(line) ?? []
      return name === '' ? [] : [[name.toLowerCase(), value]]
    }),
  )
  const socket = { remoteAddress: '198.51.100.1' } as Socket
  return clientAddress({ headers, socket }, { secret, proxies: 0 })
}
