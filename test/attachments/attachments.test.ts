import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deflateRawSync } from 'node:zlib'
import { form, type Part, samples, storedFiles, upload, uploaded } from '../support/attachments.ts'
import { make, refused } from '../support/documents.ts'
import { sharedService, startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'

const ooxml = 'application/vnd.openxmlformats-officedocument'
const zip = Buffer.from(`PK\x05\x06${'\0'.repeat(18)}`, 'latin1')
const docx = Buffer.from(`PK\x03\x04\x14\0\0\0\0\0${'\0'.repeat(16)}\x11\0\0\0word/document.xml`, 'latin1')
const gif = Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1')
const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
const html = '<!DOCTYPE html><script>alert(1)</script>'

const shared = await startTestService(t)

t.test('a file comes back as it was sent, with everything that is known about it', async (t) => {
  const { signUp } = shared
  const ada = await signUp()
  const { id: documentId } = await make(ada, [])
  const bytes = Buffer.concat([samples.png, randomBytes(300_000)])
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const { status, headers, body } = await upload(ada, { documentId, bytes, filename: 'Zoo map.png' })
  t.equal(status, 201)
  const { data } = body
  t.match(data, {
    id: /^att_[0-9A-HJKMNP-TV-Z]{26}$/,
    document_id: documentId,
    filename: 'Zoo map.png',
    content_type: 'image/png',
    size: bytes.length,
    sha256,
    url: `/api/v1/attachments/${data.id}`,
    referenced: false,
    created_at: Number,
    created_by: ada.user_id,
  })
  t.equal(headers.get('location'), data.url)
  t.notOk(headers.get('etag'))
  t.same((await ada.get(`/attachments/${data.id}/metadata`)).body.data, data)

  const download = await fetch(`${ada.origin}${data.url}`, { headers: { authorization: `Bearer ${ada.bearer}` } })
  t.ok(bytes.equals(Buffer.from(await download.arrayBuffer())))
  const expected = {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="Zoo map.png"',
    'content-length': String(bytes.length),
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'none',
    'cache-control': 'private, no-cache',
    etag: `"sha256:${sha256}"`,
  }
  t.match(Object.fromEntries(download.headers), expected)
  const head = await ada.call('HEAD', `/attachments/${data.id}`)
  t.match({ status: head.status, text: head.text }, { status: 200, text: '' })
  t.match(Object.fromEntries(head.headers), expected)

  const known = await ada.get(`/attachments/${data.id}`, { 'if-none-match': `"sha256:${sha256}"` })
  t.match({ status: known.status, text: known.text }, { status: 304, text: '' })
  t.equal((await ada.get(`/attachments/${data.id}`, { 'if-none-match': '"sha256:0"' })).status, 200)
  const ranged = await fetch(`${ada.origin}${data.url}`, {
    headers: { authorization: `Bearer ${ada.bearer}`, range: 'bytes=0-1' },
  })
  t.equal(ranged.status, 200)
  t.equal((await ranged.arrayBuffer()).byteLength, bytes.length, 'no ranges')
})

t.test('the parts of a form may come in any order, among others', async (t) => {
  const { signUp } = shared
  const ada = await signUp()
  const { id: documentId } = await make(ada, [])
  const file: Part = { name: 'file', filename: 'a.txt', type: 'text/plain; charset=utf-8', bytes: samples.text }
  const parts: Part[] = [
    { name: 'note', bytes: 'of the future' },
    file,
    { name: 'thumbnail', filename: 'b.exe', type: 'application/x-msdownload', bytes: 'MZ' },
    { name: 'document_id', bytes: documentId },
  ]
  const { status, body } = await ada.call('POST', '/attachments', form(parts))
  t.match({ status, data: body.data }, { status: 201, data: { filename: 'a.txt', content_type: 'text/plain' } })
})

t.test('only files that are what they say are taken', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  const utf8 = Buffer.from('é'.repeat(9000))
  const good: [string, string | Uint8Array][] = [
    ['image/png', samples.png],
    ['image/png', Buffer.from('\x89PNG\r\n\x1a\nno more than the signature', 'latin1')],
    ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0])],
    ['image/gif', gif],
    ['image/webp', Buffer.from('RIFF\x1a\0\0\0WEBPVP8L', 'latin1')],
    ['application/pdf', '%PDF-1.7\n%%EOF'],
    ['application/zip', zip],
    ['application/zip', docx],
    [`${ooxml}.wordprocessingml.document`, docx],
    [`${ooxml}.spreadsheetml.sheet`, zip],
    [`${ooxml}.presentationml.presentation`, zip],
    ['text/plain', 'BMW and MZ made motorcycles'],
    ['text/plain', utf8],
    ['text/markdown', '<div align="center">\n\n# Zoo\n\n</div>'],
    ['text/csv', 'a;b\r\n1;2\r\n'],
    ['application/json', '{"a":1}'],
    ['TEXT/Plain', 'upper case'],
    ['', 'a part without a type is a text'],
  ]
  for (const [type, bytes] of good) {
    t.equal((await upload(ada, { documentId, type, bytes })).status, 201, `${type} ${bytes.slice(0, 20)}`)
  }
  const stored = (await storedFiles(service)).length
  const bad: [string, string | Uint8Array][] = [
    ['image/svg+xml', svg],
    ['text/html', html],
    ['application/xhtml+xml', html],
    ['application/octet-stream', samples.png],
    ['application/x-msdownload', 'MZ'],
    ['image/png', svg],
    ['image/png', html],
    ['image/png', gif],
    ['image/jpeg', samples.png],
    ['application/pdf', zip],
    ['application/pdf', ` ${'%PDF-1.7'}`],
    ['application/zip', '%PDF-1.7'],
    [`${ooxml}.spreadsheetml.sheet`, docx],
    ['text/plain', samples.png],
    ['text/plain', '%PDF-1.7\n'],
    ['text/plain', gif],
    ['text/plain', 'a\0b'],
    ['text/plain', Buffer.from('caf\xe9', 'latin1')],
    ['text/markdown', Buffer.concat([utf8, Buffer.from([0xc3])])],
    ['text/csv', Buffer.concat([utf8, Buffer.from([0xff]), utf8])],
    ['application/json', Buffer.from('{"a":1}', 'utf16le')],
    ['nonsense', 'a'],
  ]
  for (const [type, bytes] of bad) {
    const reply = await upload(ada, { documentId, type, bytes })
    t.match(
      reply,
      { status: 415, body: { error: { code: 'unsupported_media_type' } } },
      `${type} ${bytes.slice(0, 20)}`,
    )
    t.match(reply.body.error.details, { accepted: ['image/png'] })
  }
  t.equal((await storedFiles(service)).length, stored, 'nothing of a refused file is kept')
})

t.test('a file that is two things at once, or much more than it seems, stays bytes to be saved', async (t) => {
  const { signUp } = shared
  const ada = await signUp()
  const { id: documentId } = await make(ada, [])
  const name = '[Content_Types].xml'
  const header = Buffer.alloc(30)
  header.write('PK\x03\x04', 'latin1')
  header.writeUInt16LE(8, 8)
  const zeros = deflateRawSync(Buffer.alloc(20_000_000))
  header.writeUInt32LE(zeros.length, 18)
  header.writeUInt32LE(20_000_000, 22)
  header.writeUInt16LE(name.length, 26)
  const files: [string, Buffer][] = [
    ['image/gif', Buffer.from('GIF89a/*\0\0\0\0;*/=1;alert(document.domain)//', 'latin1')],
    ['image/png', Buffer.concat([samples.png, Buffer.from(html)])],
    ['application/pdf', Buffer.from(`%PDF-1.4\n${html}`)],
    ['application/zip', Buffer.concat([header, Buffer.from(name), zeros])],
  ]
  for (const [type, bytes] of files) {
    const id = await uploaded(ada, { documentId, type, bytes })
    const { origin, bearer } = ada
    const download = await fetch(`${origin}/api/v1/attachments/${id}`, {
      headers: { authorization: `Bearer ${bearer}` },
    })
    t.ok(bytes.equals(Buffer.from(await download.arrayBuffer())), type)
    t.match(Object.fromEntries(download.headers), {
      'content-type': 'application/octet-stream',
      'content-disposition': /^attachment/,
      'x-content-type-options': 'nosniff',
      'content-security-policy': /sandbox/,
    })
  }
})

t.test('an operator who allows more types gets them checked as far as anybody can', async (t) => {
  const { signUp } = await sharedService({ ATTACHMENT_TYPES: 'video/mp4,model/step,image/svg+xml' })
  const ada = await signUp()
  const { id: documentId } = await make(ada, [])
  const statusOf = async (type: string, bytes: string) => (await upload(ada, { documentId, type, bytes })).status
  t.equal(await statusOf('video/mp4', '\0\0\0\x18ftypmp42\0\0\0\0'), 201)
  t.equal(await statusOf('video/mp4', 'nothing of the kind'), 415)
  t.equal(await statusOf('model/step', 'ISO-10303-21;'), 201)
  t.equal(await statusOf('image/svg+xml', svg), 201)
  t.equal(await statusOf('image/png', samples.png.toString('latin1')), 415)
})

t.test('a file that is too large is refused while it arrives, and its sender sees why', async (t) => {
  const service = await startTestService(t, { ATTACHMENT_MAX_BYTES: '100000' })
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  const file = (size: number) => ({ documentId, type: 'text/plain', bytes: 'x'.repeat(size) })
  t.equal((await upload(ada, file(100_000))).status, 201, 'the limit itself is allowed')
  const refusal = { status: 413, code: 'attachment_too_large', details: { max_bytes: 100_000 } }
  refused(t, await upload(ada, file(100_001)), refusal)
  refused(t, await upload(ada, file(5_000_000)), refusal)
  // This client sends the whole body in chunks, without a Content-Length, before it reads the answer.
  const { raw, headers } = form([{ name: 'file', filename: 'a.txt', type: 'text/plain', bytes: 'x'.repeat(8_000_000) }])
  const answer = await sendAll(ada, {
    headers,
    chunks: Array.from({ length: 8 }, (_, n) => raw.subarray(n * 1e6, n * 1e6 + 1e6)),
  })
  t.match(answer, { status: 413, text: /attachment_too_large/ })
  const fields = await ada.call('POST', '/attachments', form([{ name: 'note', bytes: 'x'.repeat(2_000_000) }]))
  refused(t, fields, refusal)
  t.equal((await storedFiles(service)).length, 1, 'nothing of a refused file is kept')
})

t.test('a body that is no complete form is refused with the reason, and never waited for', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  const document: Part = { name: 'document_id', bytes: documentId }
  const file: Part = { name: 'file', filename: 'a.png', type: 'image/png', bytes: samples.png }
  const send = (parts: Part[]) => ada.call('POST', '/attachments', form(parts))

  refused(t, await ada.post('/attachments', { document_id: documentId }), {
    status: 415,
    code: 'unsupported_media_type',
  })
  refused(t, await ada.post('/attachments'), { status: 415, code: 'unsupported_media_type' })
  const fields = (reply: { body: { error: { details: object } } }) => reply.body.error.details
  const bad: [Part[], string][] = [
    [[], '/'],
    [[document], '/file'],
    [[file], '/document_id'],
    [[document, { ...file, bytes: '' }], '/file'],
    [[document, { ...file, filename: '' }], '/file'],
    [[document, { name: 'file', bytes: 'a text' }], '/file'],
    [[{ ...document, bytes: '' }, file], '/document_id'],
    [[document, document, file], '/document_id'],
    [[document, file, file], '/file'],
    [[{ ...document, bytes: 'x'.repeat(10_000) }, file], '/document_id'],
  ]
  for (const [parts, path] of bad) {
    const reply = await send(parts)
    refused(t, reply, { status: 400, code: 'invalid_request' })
    t.match(fields(reply), { fields: [{ path }] }, parts.map(({ name }) => name).join())
  }
  refused(t, await send(Array.from({ length: 100 }, () => ({ name: 'note', bytes: 'x' }))), {
    status: 400,
    code: 'invalid_request',
  })
  for (const id of ['doc_missing', 'not an id']) {
    refused(t, await send([{ ...document, bytes: id }, file]), {
      status: 404,
      code: 'document_not_found',
      details: { id, field: 'document_id' },
    })
  }

  const { raw, headers } = form([document, file])
  for (let end = 0; end < raw.length - 4; end += 7) {
    const reply = await ada.call('POST', '/attachments', { raw: raw.subarray(0, end), headers })
    t.match(reply, { status: 400, body: { error: { code: 'invalid_request' } } }, `cut off after ${end} bytes`)
  }
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=other']) {
    const reply = await ada.call('POST', '/attachments', { raw, headers: { 'content-type': type } })
    t.match(reply, { status: 400, body: { error: { code: 'invalid_request' } } }, type)
  }
  t.strictSame(await storedFiles(service), [], 'nothing of a refused file is kept')
})

t.test('a client that goes away in the middle leaves nothing behind', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  const { raw, headers } = form([
    { name: 'document_id', bytes: documentId },
    { name: 'file', filename: 'a.txt', type: 'text/plain', bytes: 'x'.repeat(500_000) },
  ])
  const sent = request(`${ada.origin}/api/v1/attachments`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${ada.bearer}`, 'content-length': String(raw.length) },
  })
  sent.on('error', () => {})
  sent.write(raw.subarray(0, 300_000))
  await until(async () => (await storedFiles(service)).length === 1)
  sent.destroy()
  await until(async () => (await storedFiles(service)).length === 0)
  t.pass('the half-written file is gone')
})

t.test('a hostile file name does no harm', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  const nameOf = async (filename: string) => {
    const reply = await upload(ada, { documentId, filename })
    t.equal(reply.status, 201, JSON.stringify(filename))
    const { data } = reply.body
    const { headers } = await ada.call('HEAD', `/attachments/${data.id}`)
    t.match(headers.get('content-disposition'), /^attachment; filename=/)
    for (const name of ['set-cookie', 'x-injected']) t.notOk(headers.get(name))
    return data.filename
  }
  t.equal(await nameOf('../../etc/passwd'), 'passwd')
  t.equal(await nameOf('/etc/passwd'), 'passwd')
  t.equal(await nameOf('C:\\Windows\\system32\\a.png'), 'a.png')
  for (const name of ['..', '.', '../', 'a/..', ' ', '\u202e\u200b', '/']) t.equal(await nameOf(name), 'file', name)
  t.equal(await nameOf('a\u202egnp.exe'), 'agnp.exe', 'nothing turns the extension around')
  t.equal(await nameOf('a\u0007\u001b[2Jb\u0085.png'), 'a[2Jb.png')
  t.equal(await nameOf('.htaccess'), '.htaccess')
  t.equal(await nameOf('<script>alert(1)</script>.png'), 'script>.png')
  t.equal(await nameOf('Äpfel & Birnen 象.png'), 'Äpfel & Birnen 象.png')
  t.equal(await nameOf('%0d%0aSet-Cookie: a=b.png'), '%0d%0aSet-Cookie: a=b.png')
  t.equal(await nameOf('a.png; filename=b.exe'), 'a.png; filename=b.exe')
  const long = await nameOf(`${'象'.repeat(5000)}.png`)
  t.ok(Buffer.byteLength(long) <= 255 && long.endsWith('象.png'), 'cut between characters, before the extension')
  // A quote or a line break ends the name or the part. The text behind it must not become a header.
  for (const name of ['a".png', 'a\\".png', 'a\r\nX-Injected: 1.png', 'a\nX-Injected: 1']) {
    const { raw, headers } = form([
      { name: 'document_id', bytes: documentId },
      { name: 'file', filename: name, type: 'image/png', bytes: samples.png },
    ])
    const reply = await ada.call('POST', '/attachments', { raw, headers })
    t.ok([201, 400, 415].includes(reply.status), `${reply.status} ${JSON.stringify(name)}`)
    if (reply.status !== 201) continue
    const sent = (await ada.call('HEAD', `/attachments/${reply.body.data.id}`)).headers
    t.notOk(sent.get('x-injected'))
  }
  for (const file of await storedFiles(service)) t.match(file, /^att_[0-9A-HJKMNP-TV-Z]{26}$/)
})

t.test('a repeated upload is answered as the first was and stored once', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  const headers = { 'idempotency-key': 'one' }
  const parts: Part[] = [
    { name: 'document_id', bytes: documentId },
    { name: 'file', filename: 'a.png', type: 'image/png', bytes: samples.png },
  ]
  const send = (list: Part[], boundary: string) => {
    const { raw, headers: type } = form(list, boundary)
    return ada.call('POST', '/attachments', { raw, headers: { ...type, ...headers } })
  }
  const first = await send(parts, 'one')
  t.equal(first.status, 201)
  const again = await send(parts.toReversed(), 'another')
  t.match({ status: again.status, data: again.body.data }, { status: 201, data: first.body.data })
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.equal(again.headers.get('location'), first.headers.get('location'))
  t.strictSame(await storedFiles(service), [first.body.data.id])
  const other = { ...parts[1], bytes: Buffer.concat([samples.png, Buffer.from('x')]) } as Part
  for (const changed of [other, { ...parts[1], filename: 'b.png' } as Part]) {
    refused(t, await send([parts[0] as Part, changed], 'one'), { status: 409, code: 'idempotency_key_reused' })
  }
  const racing = Array.from({ length: 5 }, () => upload(ada, { documentId, headers: { 'idempotency-key': 'two' } }))
  const replies = await Promise.all(racing)
  const ids = new Set(replies.filter(({ status }) => status === 201).map(({ body }) => body.data.id))
  t.ok(replies.every(({ status, body }) => status === 201 || body.error.code === 'idempotency_in_progress'))
  t.equal(ids.size, 1)
  t.strictSame((await storedFiles(service)).sort(), [first.body.data.id, ...ids].sort())
})

t.test('a store that fails is an outage, not a fault of the caller, and nothing is half there', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id: documentId } = await make(ada, [])
  const id = await uploaded(ada, { documentId })
  await service.service.files.remove([id])
  const lost = await ada.get(`/attachments/${id}`)
  refused(t, lost, { status: 503, code: 'service_unavailable' })
  t.notOk(lost.headers.get('content-disposition'), 'a browser shows the refusal')
  t.notOk(lost.headers.get('etag'))

  const broken = await startTestService(t)
  await writeFile(join(broken.config.DATA_DIR, 'attachments'), 'no directory')
  const bob = await broken.signUp()
  const { id: other } = await make(bob, [])
  refused(t, await upload(bob, { documentId: other }), { status: 503, code: 'service_unavailable' })
})

// Sends the whole body before it reads the answer, as many clients do.
t.test('the bytes of a workspace stay within its quota however many files arrive at once', async (t) => {
  const size = samples.png.length
  const service = await startTestService(t, { QUOTA_ATTACHMENT_BYTES: String(3 * size) })
  const [ada, eve] = [await service.signUp(), await service.signUp()]
  const created = (await ada.post('/documents', { title: 'x' })).body.data
  const usage = async () => (await ada.get('/me/quota')).body.data.usage.attachment_bytes
  const replies = await Promise.all(Array.from({ length: 6 }, () => upload(ada, { documentId: created.id })))
  const kept = replies.filter(({ status }) => status === 201)
  t.equal(kept.length, 3)
  const details = { quota: 'attachment_bytes', limit: 3 * size, used: 3 * size }
  for (const reply of replies.filter((one) => !kept.includes(one))) {
    refused(t, reply, { status: 409, code: 'quota_exceeded', details })
  }
  t.equal((await storedFiles(service)).length, 3, 'nothing is left of what was refused')
  t.equal((await ada.get('/me/quota')).body.data.limits.attachment_bytes, 3 * size)
  t.equal(await usage(), 3 * size)
  const foreign = (await eve.post('/documents', { title: 'x' })).body.data.id
  t.equal((await upload(eve, { documentId: foreign })).status, 201, 'another workspace has room of its own')

  await Promise.all(kept.slice(0, 2).map(({ body }) => ada.delete(`/attachments/${body.data.id}`)))
  t.equal(await usage(), size, 'a deleted file gives its bytes back')
  t.equal((await upload(ada, { documentId: created.id })).status, 201)
  await ada.delete(`/documents/${created.id}`)
  t.equal(await usage(), 0, 'and so does a deleted document')
  const other = (await ada.post('/documents', { title: 'y' })).body.data
  const racing = Array.from({ length: 3 }, () => upload(ada, { documentId: other.id }))
  await Promise.all([...racing, ada.delete(`/documents/${other.id}`)])
  t.equal(await usage(), 0, 'also of what was just being uploaded')
  await uploaded(ada, { documentId: (await ada.post('/documents', { title: 'z' })).body.data.id })
  const { knowledge_base_id: id } = created
  t.equal((await ada.delete(`/knowledge-bases/${id}`, { confirm_id: id })).status, 204)
  t.equal(await usage(), 0)
})

async function sendAll(
  client: { origin: string; bearer: string | undefined },
  { headers, chunks }: { headers: Record<string, string>; chunks: readonly Uint8Array[] },
): Promise<{ status: number | undefined; text: string }> {
  const sent = request(`${client.origin}/api/v1/attachments`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${client.bearer}` },
  })
  const answered = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode, text })
    })
  })
  for (const chunk of chunks) {
    await new Promise((written) => sent.write(chunk, written))
    await sleep(1)
  }
  sent.end()
  return answered
}
