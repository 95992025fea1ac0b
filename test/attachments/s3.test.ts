import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { removeOrphans } from '../../shared/attachments/orphans.ts'
import { sql } from '../../shared/database/database.ts'
import { form, samples, upload, uploaded } from '../support/attachments.ts'
import { make, refused } from '../support/documents.ts'
import { startS3 } from '../support/s3-server.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'

const s3 = await startS3(t)
const service = await startTestService(t, s3.env)
const { files, database } = service.service

t.test('a bucket holds files as well as a directory does', async (t) => {
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  // More than one part of a multipart upload.
  for (const size of [0, 1_000_000, 12_000_000]) {
    const bytes = Buffer.concat([samples.png, randomBytes(size)])
    const reply = await upload(ada, { documentId, bytes })
    t.equal(reply.status, 201, reply.text)
    const { id, url, sha256 } = reply.body.data
    const download = await fetch(`${ada.origin}${url}`, { headers: { authorization: `Bearer ${ada.bearer}` } })
    t.equal(download.headers.get('etag'), `"sha256:${sha256}"`)
    t.ok(bytes.equals(Buffer.from(await download.arrayBuffer())), `${bytes.length} bytes come back`)
    t.equal((await ada.delete(`/attachments/${id}`)).status, 204)
    t.ok(await files.read(id), 'the bytes are still there')
    t.equal(await removeOrphans({ database, files }, { limit: 10 }), 1)
    t.equal(await files.read(id), null)
  }
})

t.test('a refused or broken upload leaves nothing in the bucket', async (t) => {
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  const before = await objects()
  refused(t, await upload(ada, { documentId, bytes: '<svg/>' }), { status: 415, code: 'unsupported_media_type' })
  const large = Buffer.concat([samples.png, randomBytes(21 * 1024 * 1024)])
  refused(t, await upload(ada, { documentId, bytes: large }), { status: 413, code: 'attachment_too_large' })
  refused(t, await upload(ada, { documentId: 'doc_missing' }), { status: 404, code: 'document_not_found' })
  const { raw, headers } = form([{ name: 'file', filename: 'a.txt', type: 'text/plain', bytes: 'x'.repeat(9_000_000) }])
  const sent = request(`${ada.origin}/api/v1/attachments`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${ada.bearer}`, 'content-length': String(raw.length) },
  })
  sent.on('error', () => {})
  sent.write(raw.subarray(0, 7_000_000))
  const loose = () => database.any(sql.unsafe`SELECT FROM loose_files`)
  await until(async () => (await loose()).length === 1)
  sent.destroy()
  await until(async () => (await loose()).length === 0)
  t.strictSame(await objects(), before)
})

t.test('removing what is not there is no error, and a failing source leaves no file', async (t) => {
  await files.remove(['att_00000000000000000000000001', 'att_00000000000000000000000002'])
  const source = new Readable({
    read() {
      this.push(Buffer.alloc(6_000_000))
      this.destroy(new Error('broken'))
    },
  })
  await t.rejects(files.write('att_00000000000000000000000003', source))
  t.equal(await files.read('att_00000000000000000000000003'), null)
})

t.test('a bucket that is out of reach is an outage, and the sweep tries again later', async (t) => {
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  const id = await uploaded(ada, { documentId })
  const other = await uploaded(ada, { documentId })
  await ada.delete(`/attachments/${other}`)
  await s3.stop()
  refused(t, await ada.get(`/attachments/${id}`), { status: 503, code: 'service_unavailable' })
  refused(t, await upload(ada, { documentId }), { status: 503, code: 'service_unavailable' })
  t.equal((await ada.get(`/attachments/${id}/metadata`)).status, 200)
  await t.rejects(removeOrphans({ database, files }, { limit: 10 }))
  const kept = await database.any(sql.unsafe`SELECT FROM loose_files WHERE id = ${other}`)
  t.equal(kept.length, 1)
})

async function objects(): Promise<string[]> {
  const names = await readdir(s3.directory, { recursive: true })
  return names.filter((name) => name.includes('att_')).sort()
}
