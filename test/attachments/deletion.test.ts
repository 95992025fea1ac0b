import { Readable } from 'node:stream'
import { computationLoad } from '../../shared/computations/compute.ts'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { attachmentSweep } from '../../workers/sweeps/attachments.ts'
import { node, p, text } from '../document/build.ts'
import { storedFiles, upload, uploaded } from '../support/attachments.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, eventsOf, make, put, refused, shape } from '../support/documents.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t)
const { database, signUp } = service

const image = (attachmentId: string) => node('image', { attachmentId })
const inline = (attachmentId: string) => node('inlineImage', { attachmentId })

t.test('a body can show the files of its workspace, and no others', async (t) => {
  const [ada, eve] = [await signUp(), await signUp()]
  const { id } = await make(ada, [])
  const id2 = (await make(ada, [])).id
  const other = await make(eve, [])
  const attachmentId = await uploaded(ada, { documentId: id })
  const src = `/api/v1/attachments/${attachmentId}`
  t.notOk(await isReferenced(ada, attachmentId))
  t.equal((await put(ada, id2, [image(attachmentId)])).status, 200, 'also those of another document')
  const { blocks } = await bodyOf(ada, id2)
  t.match(blocks[0]?.attrs, { attachmentId, src })
  t.ok(await isReferenced(ada, attachmentId))
  const reply = await put(eve, other.id, [image(attachmentId)])
  refused(t, reply, { status: 422, code: 'attachment_not_found' })
  const stranger = await eve.post('/documents', {
    title: 'x',
    content: { format: 'markdown', content: `![x](${src})` },
  })
  refused(t, stranger, { status: 422, code: 'attachment_not_found' })
  refused(t, await upload(eve, { documentId: id }), { status: 404, code: 'document_not_found' })
})

t.test('whatever changes a body keeps what is known about its images', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('text')])
  const [one, two] = [await uploaded(ada, { documentId: id }), await uploaded(ada, { documentId: id })]
  const referenced = async () => [await isReferenced(ada, one), await isReferenced(ada, two)]
  const path = `/documents/${id}`
  const inserted = await ada.post(`${path}/blocks`, {
    position: { document_end: true },
    nodes: [image(one), p('a', inline(two))],
  })
  const [block] = inserted.body.data.block_ids
  t.strictSame(await referenced(), [true, true])
  const copied = await ada.post('/documents', {
    title: 'Created with an image',
    content: { format: 'markdown', content: `![](/api/v1/attachments/${one})` },
  })
  t.equal((await ada.delete(`${path}/blocks/${block}`)).status, 200)
  t.strictSame(await referenced(), [true, true], 'another body still shows it')
  await ada.delete(`/documents/${copied.body.data.id}`)
  t.strictSame(await referenced(), [false, true])
  await put(ada, id, [p('a'), node('blockquote', {}, image(one))])
  t.strictSame(await referenced(), [true, false])
  t.equal((await ada.post(`${path}/versions/2/rollback`, undefined, { 'if-match': '*' })).status, 200)
  t.strictSame(await referenced(), [true, true])
  await put(ada, id, [p(`"attachmentId":"${one}"`), p(one)])
  t.strictSame(await referenced(), [false, false], 'a text that looks like one shows nothing')
})

t.test('a file that is shown is deleted only when that is forced, and then from every body', async (t) => {
  const ada = await signUp({ workspace: 'zoo' })
  const viewer = await signUp({ workspace: 'zoo', role: 'viewer' })
  const keeper = await make(ada, [])
  const id = await uploaded(ada, { documentId: keeper.id })
  const kept = await uploaded(ada, { documentId: keeper.id })
  const row = (...cells: ReturnType<typeof p>[]) =>
    node('tableRow', {}, ...cells.map((cell) => node('tableCell', {}, cell)))
  const shapes = [
    [image(id)],
    [p('before', inline(id), ' and after')],
    [p(inline(id)), p(text('bold', 'bold'), inline(id), text(' on', 'bold'), inline(kept))],
    [node('blockquote', {}, node('callout', {}, image(id))), image(kept)],
    [node('table', {}, row(image(id), p('x')))],
    [node('details', {}, node('detailsSummary', {}, 'More', inline(id)), node('detailsContent', {}, image(id)))],
    [node('bulletList', {}, node('listItem', {}, p('item'), image(id)))],
  ]
  const documents = []
  for (const blocks of shapes) documents.push(await make(ada, blocks))
  const ids = documents.map((document) => document.id).sort()
  const details = { document_ids: ids }
  refused(t, await ada.delete(`/attachments/${id}`), { status: 409, code: 'attachment_referenced', details })
  refused(t, await ada.delete(`/attachments/${id}?force=false`), {
    status: 409,
    code: 'attachment_referenced',
    details,
  })
  refused(t, await viewer.delete(`/attachments/${id}?force=true`), { status: 403, code: 'forbidden' })
  t.equal((await ada.get(`/attachments/${id}`)).status, 200)

  t.equal((await ada.delete(`/attachments/${id}?force=true`)).status, 204)
  t.equal((await ada.get(`/attachments/${id}/metadata`)).status, 404)
  refused(t, await ada.get(`/attachments/${id}`), { status: 404, code: 'attachment_not_found', details: { id } })
  refused(t, await ada.delete(`/attachments/${id}?force=true`), { status: 404, code: 'attachment_not_found' })
  const expected = [
    [p()],
    [p('before and after')],
    [p(), p(text('bold on', 'bold'), inline(kept))],
    [image(kept)],
    [node('table', {}, row(p(), p('x')))],
    [node('details', {}, node('detailsSummary', {}, 'More'), node('detailsContent', {}, p()))],
    [node('bulletList', {}, node('listItem', {}, p('item')))],
  ]
  for (const [index, { id: documentId }] of documents.entries()) {
    const { blocks } = await bodyOf(ada, documentId)
    const ideal = await make(ada, expected[index] ?? [])
    t.strictSame(shape(blocks), shape(ideal.blocks))
    t.equal((await ada.get(`/documents/${documentId}/versions`)).body.data.length, 1, 'a snapshot of the body before')
    t.strictSame(await eventsOf(database, documentId), ['document.created', 'document.content.updated'])
  }
  t.ok(await isReferenced(ada, kept), 'images of other files stay')
  // The snapshot still names the attachment.
  const [first] = documents
  const rollback = await ada.post(`/documents/${first?.id}/versions/1/rollback`, undefined, { 'if-match': '*' })
  t.equal(rollback.status, 200, 'a rollback may show a dead image')
  refused(t, await put(ada, keeper.id, [image(id)]), { status: 422, code: 'attachment_not_found' })
})

t.test('an image leaves large bodies without holding anybody up', async (t) => {
  const ada = await signUp()
  const keeper = await make(ada, [])
  const id = await uploaded(ada, { documentId: keeper.id })
  const words = Array.from({ length: 1000 }, (_, index) => p(`${index} ${'some words of a long text '.repeat(10)}`))
  const table = (...content: Parameters<typeof node>[2][]) =>
    node('table', {}, node('tableRow', {}, node('tableCell', {}, ...content)))
  const documents = []
  for (let n = 0; n < 3; n += 1) documents.push(await make(ada, [...words, table(image(id))]))
  const before = computationLoad().ends.done
  t.equal((await ada.delete(`/attachments/${id}?force=true`)).status, 204)
  t.equal(computationLoad().ends.done, before + 6, 'each body was edited and compared in a thread')
  for (const { id: documentId } of documents) {
    const { blocks } = await bodyOf(ada, documentId)
    t.strictSame(shape(blocks.slice(-1)), shape((await make(ada, [table(p())])).blocks))
    t.equal(blocks.length, words.length + 1)
  }
})

t.test('a refusal names no more than twenty bodies', async (t) => {
  const ada = await signUp()
  const { id: documentId } = await make(ada, [])
  const id = await uploaded(ada, { documentId })
  for (let n = 0; n < 22; n += 1) await make(ada, [image(id)])
  const reply = await ada.delete(`/attachments/${id}`)
  t.equal(reply.body.error.details.document_ids.length, 20)
  t.equal((await ada.delete(`/attachments/${id}?force=1`)).status, 204)
  const left = await database.any(sql.unsafe`SELECT FROM attachment_references WHERE attachment_id = ${id}`)
  t.equal(left.length, 0, 'all of them are edited')
})

t.test('while files are deleted and bodies written, no body comes to show a file that is gone', async (t) => {
  const ada = await signUp()
  const { id: documentId } = await make(ada, [])
  const documents = await Promise.all(Array.from({ length: 4 }, () => make(ada, [p('x')])))
  for (let round = 0; round < 6; round += 1) {
    const ids = await Promise.all([1, 2].map(() => uploaded(ada, { documentId })))
    const writes = documents.map((document, index) =>
      put(ada, document.id, [image(ids[index % 2] ?? ''), p(`${round}`)]),
    )
    const deletions = ids.map((id, index) =>
      ada.delete(`/attachments/${id}${round % 2 === index ? '?force=true' : ''}`),
    )
    for (const { status, text } of await Promise.all(writes)) t.ok([200, 422].includes(status), `${status} ${text}`)
    for (const { status, text } of await Promise.all(deletions)) t.ok([204, 409].includes(status), `${status} ${text}`)
    const dead = await database.any(sql.unsafe`
      SELECT r.document_id FROM attachment_references r
      WHERE NOT EXISTS (SELECT FROM attachments a WHERE a.workspace_id = r.workspace_id AND a.id = r.attachment_id)
        AND r.workspace_id = ${ada.workspace_id}`)
    t.strictSame(dead, [], `round ${round}`)
  }
})

t.test('a deletion waits for a body that is just coming to show the file', async (t) => {
  const ada = await signUp()
  const { id: documentId } = await make(ada, [])
  const id = await uploaded(ada, { documentId })
  const document = await make(ada, [p('x')])
  const deletion = await inTransaction(database, async (tx) => {
    await tx.query(sql.unsafe`SELECT FROM attachments WHERE id = ${id} FOR KEY SHARE`)
    const pending = ada.delete(`/attachments/${id}?force=true`)
    await until(async () => {
      const waiting = await tx.any(sql.unsafe`
        SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))`)
      return waiting.length > 0
    })
    await tx.query(sql.unsafe`
      INSERT INTO attachment_references (workspace_id, attachment_id, document_id)
      VALUES (${ada.workspace_id}, ${id}, ${document.id})`)
    return { pending }
  })
  t.equal((await deletion.pending).status, 204)
  const { version } = await bodyOf(ada, document.id)
  t.equal(version, document.version, 'it was edited, to the same body')
  t.equal((await ada.get(`/documents/${document.id}/versions`)).body.data.length, 1)
})

t.test('a file goes with its document, its folder or its knowledge base, and its bytes soon after', async (t) => {
  const own = await startTestService(t, { TRASH_RETENTION_DAYS: '0' })
  const ada = await own.signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  const folder = (await ada.post('/folders', { name: 'Birds', knowledge_base_id: base })).body.data.id
  const places = [{}, { folder_id: folder }, { knowledge_base_id: base }]
  const documents = await Promise.all(places.map((place) => make(ada, [], place)))
  const ids = await Promise.all(documents.map((document) => uploaded(ada, { documentId: document.id })))
  const other = (await ada.post('/knowledge-bases', { name: 'Aquarium' })).body.data.id
  const survivor = await uploaded(ada, { documentId: (await make(ada, [], { knowledge_base_id: other })).id })
  await ada.delete(`/documents/${documents[0]?.id}`)
  await ada.delete(`/folders/${folder}`)
  t.equal((await ada.get(`/attachments/${ids[2]}`)).status, 200)
  await ada.delete(`/knowledge-bases/${base}`, { confirm_id: String(base) })
  for (const id of ids) t.equal((await ada.get(`/attachments/${id}`)).status, 404)
  t.equal((await storedFiles(own)).length, 4, 'bytes are never removed before the commit')
  await sweep(own)
  t.strictSame(await storedFiles(own), [survivor])
  t.equal((await ada.get(`/attachments/${survivor}`)).status, 200)
})

t.test('what a crash has left half-way is swept after an hour, and not before', async (t) => {
  const own = await startTestService(t)
  const ada = await own.signUp()
  const { id: documentId } = await make(ada, [])
  const kept = await uploaded(ada, { documentId })
  const [old, fresh] = ['att_00000000000000000000000001', 'att_00000000000000000000000002']
  const { files } = own.service
  for (const id of [old, fresh]) await files.write(id, Readable.from([Buffer.from('bytes')]))
  await own.database.query(sql.unsafe`
    INSERT INTO loose_files VALUES (${old}, now() - interval '1 second'), (${fresh}, now() + interval '59 minutes')`)
  await sweep(own)
  t.strictSame((await storedFiles(own)).sort(), [fresh, kept].sort())
  await own.database.query(sql.unsafe`UPDATE loose_files SET removable_at = now()`)
  await sweep(own)
  t.strictSame(await storedFiles(own), [kept])
  const rows = await own.database.any(sql.unsafe`SELECT FROM loose_files`)
  t.equal(rows.length, 0)
})

t.test('a rollback of the deletion keeps the file', async (t) => {
  const ada = await signUp()
  const { id: documentId } = await make(ada, [])
  const id = await uploaded(ada, { documentId })
  await database.query(sql.unsafe`
    ALTER TABLE audit_log ADD CONSTRAINT refuse_deletions CHECK (method <> 'DELETE' OR path NOT LIKE '%attachments%') NOT VALID`)
  t.equal((await ada.delete(`/attachments/${id}`)).status, 500)
  await database.query(sql.unsafe`ALTER TABLE audit_log DROP CONSTRAINT refuse_deletions`)
  const rows = await database.any(sql.unsafe`SELECT FROM loose_files WHERE id = ${id}`)
  t.equal(rows.length, 0)
  t.equal((await ada.get(`/attachments/${id}`)).status, 200)
})

async function isReferenced(client: Client, id: string): Promise<boolean> {
  return (await client.get(`/attachments/${id}/metadata`)).body.data.referenced
}

async function sweep(own: TestService): Promise<void> {
  const { runtime, stop } = await startWorkers(t, own, [attachmentSweep])
  await runtime.jobs.boss.send(queues.sweepAttachments.name, {})
  await until(async () => {
    const open = await own.database.any(sql.unsafe`
      SELECT FROM pgboss.job WHERE name = ${queues.sweepAttachments.name} AND state <> 'completed'`)
    return open.length === 0
  })
  await stop()
}
