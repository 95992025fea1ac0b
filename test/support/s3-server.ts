import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// @ts-expect-error the package has no types
import S3rver from 's3rver'

/**
 * Starts a server with the protocol of S3 and one empty bucket. It ends with the test. The server waits for
 * `beforeCopy` before it copies an object.
 */
export async function startS3(
  t: { teardown: (end: () => unknown) => void },
  { beforeCopy = async () => {} }: { beforeCopy?: () => Promise<void> } = {},
) {
  const directory = await mkdtemp(join(tmpdir(), 'svc-s3-'))
  const bucket = 'attachments-of-a-test'
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket }],
  })
  const { port }: { port: number } = await server.run()
  const http: Server = server.httpServer
  const answer = http.listeners('request') as ((...exchange: [IncomingMessage, ServerResponse]) => void)[]
  http.removeAllListeners('request')
  http.on('request', async (...exchange) => {
    if (exchange[0].headers['x-amz-copy-source'] !== undefined) await beforeCopy()
    for (const listener of answer) listener.apply(http, exchange)
  })
  const stop = async () => {
    server.httpServer?.closeAllConnections()
    await server.close()
  }
  t.teardown(async () => {
    await stop().catch(() => {})
    await rm(directory, { recursive: true, force: true })
  })
  const env = {
    ATTACHMENT_S3_BUCKET: bucket,
    ATTACHMENT_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    ATTACHMENT_S3_ACCESS_KEY_ID: 'S3RVER',
    ATTACHMENT_S3_SECRET_ACCESS_KEY: 'S3RVER',
  }
  return { env, directory, stop }
}
