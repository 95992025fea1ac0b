import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// @ts-expect-error the package has no types
import S3rver from 's3rver'

/** Starts a server with the protocol of S3 and one empty bucket. It ends with the test. */
export async function startS3(t: { teardown: (end: () => unknown) => void }) {
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
