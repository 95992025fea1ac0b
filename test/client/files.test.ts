import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KnowledgeBase } from '../../shared/client/client.ts'
import { startFaultyProxy } from '../support/faulty-proxy.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { origin, signUp } = await sharedService({ ATTACHMENT_MAX_BYTES: '50000000' })
const { token } = await signUp()
const proxy = await startFaultyProxy(t, origin)
const kb = new KnowledgeBase({ origin: proxy.origin, token, maxRetryDelay: 20 })
const { data: base } = await kb.api.POST('/knowledge-bases', { body: { name: 'Zoo' } })
const { data: document } = await kb.api.POST('/documents', { body: { title: 'one', knowledge_base_id: base.id } })

t.test('a file from the disk is uploaded once, whatever the network does, and comes back as it was', async (t) => {
  const path = join(t.testdir(), 'Größe 1.txt')
  const text = 'line\n'.repeat(200_000)
  await writeFile(path, text)
  let attempts = 0
  proxy.choose = () => {
    attempts += 1
    return attempts <= 2 ? { kind: 'cut-after' } : null
  }
  const file = await openAsBlob(path, { type: 'text/plain' })
  const attachment = await kb.upload({ documentId: document.id, file, filename: 'Größe 1.txt' })
  t.equal(attempts, 3)
  const { data: listed } = await kb.api.GET('/attachments', { params: { query: { document_id: document.id } } })
  t.strictSame(listed, [attachment])
  const { data, etag, filename, size } = await kb.download(attachment.id)
  t.strictSame([etag, filename, size], [`sha256:${attachment.sha256}`, 'Größe 1.txt', text.length])
  t.equal(await new Response(data).text(), text)
  await t.rejects(kb.download(attachment.id, { ifNoneMatch: etag }), { code: 'not_modified', status: 304 })
})

t.test('a large file arrives while it is read, and a part is never taken for the whole', async (t) => {
  proxy.choose = () => null
  const bytes = 40_000_000
  const file = new File([new Uint8Array(bytes).fill(65)], 'large.txt', { type: 'text/plain' })
  const { id } = await kb.upload({ documentId: document.id, file })
  proxy.choose = () => ({ kind: 'silence', bytes: 1_000_000 })
  const { data } = await kb.download(id, { timeout: 3000 })
  let arrived = 0
  const reading = (async () => {
    for await (const chunk of data) arrived += chunk.length
  })()
  await t.rejects(reading, { code: 'timeout' })
  t.equal(arrived, 1_000_000, 'what has arrived was handed on')
  proxy.choose = () => ({ kind: 'cut-within', bytes: 1_000_000 })
  const broken = await kb.download(id)
  await t.rejects(new Response(broken.data).arrayBuffer(), { code: 'connection_failed' })
  proxy.choose = () => null
  const control = new AbortController()
  const aborted = await kb.download(id, { signal: control.signal })
  control.abort(new Error('enough'))
  await t.rejects(new Response(aborted.data).arrayBuffer(), { message: 'enough' })
})

t.test('a knowledge base is downloaded as a zip', async (t) => {
  proxy.choose = () => null
  const { data, filename } = await kb.downloadExport(base.id)
  t.equal(filename, `knowledge-base-${base.id}.zip`)
  const zip = new Uint8Array(await new Response(data).arrayBuffer())
  t.equal(new TextDecoder().decode(zip.subarray(0, 2)), 'PK')
})
