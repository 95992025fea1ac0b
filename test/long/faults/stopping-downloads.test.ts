import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { samples, uploaded } from '../../support/attachments.ts'
import { Client } from '../../support/client.ts'
import { followEvents, streamText } from '../../support/event-streams.ts'
import { startApi } from '../../support/processes.ts'
import { createDocument, type Site, startSite, until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'
import { manifestOf, requestExport } from '../../support/zips.ts'

t.test('downloads that have begun arrive whole when the process stops, and streams go on elsewhere', async (t) => {
  const site = await startSite(t)
  await site.work('events')
  const other = await startApi(site.env)
  t.teardown(other.stop)
  const { api, client } = site
  const file = await largeFile(site)
  const stream = await streamText(t, client)
  const before = await createDocument(site, 'before')
  await stream.until(new RegExp(before.id))
  const archive = await begun(await requestExport(client, site.knowledgeBase))
  const download = await begun(await file.requested())
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const call = async (path: string) => {
    const headers = { authorization: `Bearer ${client.bearer}` }
    const [answer] = (await once(get(client.origin + path, { agent, headers }), 'response')) as [IncomingMessage]
    return { status: answer.statusCode, connection: answer.headers.connection, body: await text(answer) }
  }
  t.match(await call('/healthz'), { status: 200, connection: 'keep-alive' })

  api.signal('SIGTERM')
  await until(async () => (await fetch(`${client.origin}/healthz`).catch(() => undefined)) === undefined)
  const refused = await call('/api/v1/events')
  t.match(refused, { status: 503, connection: 'close', body: 'service_unavailable' }, 'a new stream is sent elsewhere')
  // The process waits for readers for some seconds only, so both are read before anything is unpacked.
  const [archived, downloaded] = await Promise.all([archive.rest(), download.rest()])
  const { files, manifest } = await manifestOf(archived)
  t.equal(manifest['documents'].length, 2)
  t.ok(files.get(manifest['attachments'][0].path)?.equals(file.bytes), 'the export is complete')
  t.ok(downloaded.equals(file.bytes), 'so is the file')
  const heard = await stream.ended
  t.match(heard, /\n\n$/, 'the stream ends between two events')
  t.equal(await api.ended, 0)

  const elsewhere = { origin: other.origin, token: client.bearer ?? '', bearer: client.bearer }
  const lastEventId =
    heard
      .match(/^id: ?(\d+)$/gm)
      ?.at(-1)
      ?.replace(/\D/g, '') ?? ''
  const { id: after } = await createDocument({ ...site, client: new Client(elsewhere) }, 'after')
  const resumed = await followEvents(t, elsewhere, { lastEventId })
  await resumed.until(1)
  t.strictSame(
    resumed.received.map(({ data }) => data.document.id),
    [after],
  )
})

t.test('a reader who takes nothing does not keep the process alive, nor takes a part for the whole', async (t) => {
  const site = await startSite(t)
  await largeFile(site)
  const archive = await begun(await requestExport(site.client, site.knowledgeBase))
  site.api.signal('SIGTERM')
  t.equal(await site.api.ended, 0)
  await t.rejects(archive.rest())
})

/** A file that is larger than all buffers between the service and its reader. */
async function largeFile(site: Site) {
  const { client } = site
  const { id: documentId } = await createDocument(site, 'with a file')
  const bytes = Buffer.concat([samples.png, randomBytes(19 * 2 ** 20)])
  const id = await uploaded(client, { documentId, bytes })
  const headers = { authorization: `Bearer ${client.bearer}` }
  return { bytes, requested: () => fetch(`${client.origin}/api/v1/attachments/${id}`, { headers }) }
}

/** A body whose first part has been read. `rest` reads the following parts and returns the whole body. */
async function begun(response: Response) {
  const reader = response.body?.getReader()
  const parts: Uint8Array[] = []
  const take = async () => {
    const { value } = (await reader?.read()) ?? {}
    if (value !== undefined) parts.push(value)
    return value !== undefined
  }
  await take()
  return {
    async rest(): Promise<Buffer> {
      while (await take());
      return Buffer.concat(parts)
    },
  }
}
