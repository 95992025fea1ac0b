import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { listen } from '../../shared/database/listener.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { t } from '../support/tap.ts'

t.test('a connection that is lost while it begins to listen is made again', async (t) => {
  const { url, drop } = await createTestDatabase()
  const database = new URL(url)
  let lost = 0
  const proxy = createServer((client) => {
    const server = connect(Number(database.port), database.hostname)
    for (const socket of [client, server]) socket.on('error', () => {})
    client.on('data', (bytes) => {
      if (lost === 0 && bytes.includes('LISTEN')) {
        lost += 1
        client.destroy()
        server.destroy()
      } else server.write(bytes)
    })
    server.pipe(client)
    client.on('close', () => server.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const proxied = new URL(url)
  proxied.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const errors: Error[] = []
  const heard = Promise.withResolvers<void>()
  const listener = listen({
    url: proxied.href,
    channel: 'svc_test',
    onNotify: () => heard.resolve(),
    onError: (error) => errors.push(error),
  })
  t.teardown(async () => {
    await listener.close()
    proxy.close()
    await drop()
  })
  await heard.promise
  t.equal(lost, 1)
  t.equal(errors.length, 1, 'the loss is told once, to whoever asked for it')
})
