import { p } from '../document/build.ts'
import { bodyOf, make, put } from '../support/documents.ts'
import { connectMcp, textOf } from '../support/mcp.ts'
import { sharedService, type TestService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'

// Agents whose write is stored, and who cannot be shown what the write has done, since their reads are used up. The
// service admits the two messages of an agent and no further read.
const noRead = await sharedService({ RATE_READ_PER_MIN: '2' })

const stored = /^The write is stored, so do not repeat it; .* \(rate_limited\)/

t.test('an edit that was stored is not refused when its difference cannot be read, and stands once', async (t) => {
  const { bob, made, call } = await start(t, noRead)
  const edited = await call('edit', { document_id: made.id, edits: [{ op: 'append', markdown: 'once' }] })
  t.notOk(edited.isError, textOf(edited))
  t.match(edited.structuredContent, { version: /^sha256:/, note: stored })
  t.notHas(edited.structuredContent, { changed_blocks: [] }, 'an unknown difference is not an empty one')
  t.match(textOf(edited), /do not repeat it.*history/)
  t.equal((await bodyOf(bob, made.id)).blocks.length, 2)
})

t.test('a new body and a version that came back are not refused either', async (t) => {
  const { made, call } = await start(t, noRead)
  const written = await call('write', { document_id: made.id, content: 'whole', base_version: made.version })
  t.match(written.structuredContent, { created: false, note: stored }, textOf(written))
  const other = await start(t, noRead)
  const { version } = (await put(other.ada, other.made.id, [p('later')])).body.data
  const rollback = { action: 'rollback', document_id: other.made.id, seq: 1, base_version: version }
  const back = await other.call('history', rollback)
  t.match(back.structuredContent, { version: String, dry_run: false, note: stored }, textOf(back))
})

t.test('documents that were moved, renamed, deleted or restored are told as such', async (t) => {
  const moving = await start(t, noRead)
  const knowledge_base_id = (await moving.ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  const place = { document_ids: [moving.made.id], to_knowledge_base_id: knowledge_base_id }
  const moved = await moving.call('organise', { action: 'move', ...place })
  t.match(moved.structuredContent, { note: stored }, textOf(moved))
  const { made, call } = await start(t, noRead)
  const renamed = await call('organise', { action: 'rename', document_ids: [made.id], name: 'Other' })
  t.match(renamed.structuredContent, { note: stored }, textOf(renamed))
  const deleting = await start(t, noRead)
  const deleted = await deleting.call('delete', { document_ids: [deleting.made.id] })
  t.match(deleted.structuredContent, { deleted: [deleting.made.id], trash: [], note: stored }, textOf(deleted))
  const restoring = await start(t, noRead)
  await restoring.ada.delete(`/documents/${restoring.made.id}`)
  const [entry] = (await restoring.bob.get('/trash')).body.data
  const restored = await restoring.call('restore', { trash_id: entry.id })
  t.match(restored.structuredContent, { restored: { id: restoring.made.id }, note: stored }, textOf(restored))
})

t.test('a token that may only write learns that its writes are stored', async (t) => {
  const { origin, signUp } = await sharedService()
  const ada = await signUp({ workspace: 'Herd' })
  const made = await make(ada, [p('text')])
  const { token } = await signUp({ workspace: 'Herd', scopes: ['documents:write'] })
  const { call } = await connectMcp(t, { origin, token })
  const renamed = await call('organise', { action: 'rename', document_ids: [made.id], name: 'Other' })
  t.match(renamed.structuredContent, { note: /stored.*insufficient_scope/ }, textOf(renamed))
  const edited = await call('edit', { document_id: made.id, edits: [{ op: 'append', markdown: 'x' }] })
  t.match(edited.structuredContent, { note: /not available/ }, textOf(edited))
  t.notMatch(textOf(edited), /0 of 0/)
})

t.test('a repeated deletion is never called final, and says where the deleted documents are', async (t) => {
  const { origin, signUp } = await sharedService()
  const ada = await signUp()
  const made = await make(ada, [p('text')])
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const first = await call('delete', { document_ids: [made.id] }, { key: 'delete-1' })
  t.match(first.structuredContent, { trash: [{ type: 'document' }] })
  const again = await call('delete', { document_ids: [made.id] }, { key: 'delete-1' })
  t.same(again.structuredContent, first.structuredContent, textOf(again))
  t.notMatch(textOf(again), /final/)
})

t.test('a repeated call tells the present versions, not those of the first call', async (t) => {
  const { origin, signUp } = await sharedService()
  const ada = await signUp()
  const made = await make(ada, [p('text')])
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const move = { action: 'move', document_ids: [made.id], to_knowledge_base_id: base }
  await call('organise', move, { key: 'move-1' })
  const { version } = (await put(ada, made.id, [p('later')])).body.data
  t.match((await call('organise', move, { key: 'move-1' })).structuredContent, { documents: [{ version }] })
})

// Ada's token has the reads of the service left. Bob is another member, who looks at what was stored.
async function start(t: Test, { origin, signUp }: TestService) {
  const workspace = `Herd ${Math.random()}`
  const [ada, bob] = [await signUp({ workspace }), await signUp({ workspace })]
  const made = await make(bob, [p('text')])
  const { call } = await connectMcp(t, { origin, token: ada.token })
  return { ada, bob, made, call }
}
