import { p, text } from '../document/build.ts'
import { Person, startCollab } from '../support/collab.ts'
import { bodyOf, eventsOf, make, put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'

const mostCharacters = 200
const service = await startTestService(t)
const env = { DATABASE_URL: service.url, DATA_DIR: service.config.DATA_DIR, SSE_HEARTBEAT_SECONDS: '1' }
const collab = await startCollab({ ...env, QUOTA_DOCUMENT_CHARACTERS: String(mostCharacters) })
t.teardown(collab.stop)

/** A new workspace with one document, and a function that lets a user of the workspace open it. */
async function scene(t: Test, blocks = [p('one'), p('two')]) {
  const ada = await service.signUp()
  const { id } = await make(ada, blocks)
  const open = async (client: { bearer: string | undefined } = ada) => {
    const person = await Person.open({ url: collab.url, token: client.bearer ?? '', documentId: id })
    t.teardown(() => person.close())
    return person
  }
  return { ada, id, open }
}

t.test('typed text is stored as a write of its author, with event, changes, jobs and a version', async (t) => {
  const { ada, id, open } = await scene(t)
  const person = await open()
  t.strictSame(person.texts, ['one', 'two'])
  person.type(' typed')
  await person.saved()
  const { blocks, version } = await bodyOf(ada, id)
  t.match(JSON.stringify(blocks), 'one typed')
  t.equal(person.messages.at(-1)?.version, version, 'editors learn the version that the API answers')
  t.strictSame(await eventsOf(service.database, id), ['document.created', 'document.content.updated'])
  const { body } = await ada.get(`/documents/${id}`)
  t.equal(body.data.updated_by, (await ada.get('/me')).body.data.user.id)

  const { body: kept } = await ada.get(`/documents/${id}/versions`)
  t.equal(kept.data.length, 1, 'the state before the session is in the history')
  person.close()
  const versions = async () => (await ada.get(`/documents/${id}/versions`)).body.data.length
  while ((await versions()) < 2);
  t.equal(await versions(), 2, 'and so is the state when the last editor leaves')
})

t.test('two people and a program write at the same time, and everybody sees everything', async (t) => {
  const { ada, id, open } = await scene(t)
  const [first, second] = await Promise.all([open(), open()])
  const { blocks } = await bodyOf(ada, id)
  first.type(' by the first')
  second.type('zero ', 0)
  const patch = { content: [text('patched')] }
  const patched = await ada.patch(`/documents/${id}/blocks/${blocks[1]?.attrs.id}`, patch, { 'if-match': '*' })
  t.equal(patched.status, 200)
  const isAll = ([one = '', two = '']: string[]) =>
    one.includes('by the first') && one.includes('zero') && two === 'patched'
  await Promise.all([first.sees(isAll), second.sees(isAll)])
  await Promise.all([first.saved(), second.saved()])
  t.strictSame((await bodyOf(ada, id)).blocks, first.body.content)
  t.strictSame(second.body, first.body)
})

t.test('text that was typed offline is put into the block that a program has made anew meanwhile', async (t) => {
  const { ada, id, open } = await scene(t)
  const [away, stays] = await Promise.all([open(), open()])
  away.disconnect()
  away.type(' typed offline')
  const { blocks } = await bodyOf(ada, id)
  const [one, two] = blocks
  const heading = { ...one, type: 'heading', attrs: { ...one?.attrs, level: 2 } }
  t.equal((await put(ada, id, [heading, two ?? p('two')])).status, 200)
  const isHeading = () => stays.body.content[0]?.type === 'heading'
  await stays.sees(isHeading)
  await away.reconnect()
  await stays.sees(([text]) => text === 'one typed offline')
  await away.saved()
  t.strictSame((await bodyOf(ada, id)).blocks, stays.body.content)
  t.match(stays.body.content[0], { type: 'heading', attrs: { id: one?.attrs.id } })
})

t.test('a refused commit keeps the text and says so, until it can be stored', async (t) => {
  const { ada, id, open } = await scene(t)
  const [person, other] = await Promise.all([open(), open()])
  person.type('x'.repeat(mostCharacters))
  await person.told(({ type, reason }) => type === 'unsaved' && reason === 'document_too_large')
  await other.told(({ type, reason }) => type === 'unsaved' && reason === 'document_too_large')
  const [block] = (await bodyOf(ada, id)).blocks
  t.match(other.messages.at(-1), { block_id: block?.attrs.id, text: 'one'.padEnd(60, 'x') })
  t.match(collab.output(), new RegExp(`"document_id":"${id}","workspace_id":"ws_\\w+","block_id":"${block?.attrs.id}"`))
  t.strictSame(JSON.stringify((await bodyOf(ada, id)).blocks).includes('xx'), false)
  person.textAt(0).delete(3, mostCharacters - 2)
  await person.saved()
  t.match(JSON.stringify((await bodyOf(ada, id)).blocks), '"onexx"')
})

t.test('a reader sees what is typed and cannot write', async (t) => {
  const { ada, id, open } = await scene(t)
  const workspace = (await ada.get('/me')).body.data.workspaces[0].name
  const [writer, reader] = await Promise.all([open(), service.signUp({ workspace, role: 'viewer' }).then(open)])
  t.equal(reader.provider.authorizedScope, 'readonly')
  reader.type(' never')
  writer.type(' seen', 1)
  await reader.sees(([, two]) => two === 'two seen')
  await writer.saved()
  t.strictSame(writer.texts, ['one', 'two seen'])
  t.notMatch(JSON.stringify((await bodyOf(ada, id)).blocks), 'never')
})

t.test('when a document is deleted, its editors are told and disconnected', async (t) => {
  const { ada, id, open } = await scene(t)
  const person = await open()
  const closed = new Promise((resolve) => person.provider.on('close', resolve))
  t.equal((await ada.delete(`/documents/${id}`)).status, 204)
  person.type(' too late')
  t.match(await closed, { event: { reason: 'document_not_found' } })
  const again = new Person({ url: collab.url, token: ada.bearer ?? '', documentId: id })
  t.teardown(() => again.close())
  await again.denied()
  t.strictSame(again.denials, ['document_not_found'])
})

t.test('operators see that the process serves, and how much', async (t) => {
  const { open } = await scene(t)
  const person = await open()
  person.type('x')
  await person.saved()
  t.equal((await fetch(`${collab.origin}/healthz`)).status, 200)
  t.match(await (await fetch(`${collab.origin}/readyz`)).json(), { status: 'ok', checks: { database: 'ok' } })
  const metrics = await (await fetch(`${collab.origin}/metrics`)).text()
  t.match(metrics, /^svc_collab_documents [1-9]/m)
  t.match(metrics, /^svc_collab_connections [1-9]/m)
  t.match(metrics, /^svc_pool_waiting_clients \d/m, 'whether live editing waits for connections')
  t.match(metrics, /^svc_computations\{state="waiting"\} \d/m)
  t.match(metrics, /^svc_collab_bytes_total\{direction="in"\} [1-9]/m)
  t.match(metrics, /^svc_collab_flush_seconds_count\{outcome="done"\} [1-9]/m)
  t.match(metrics, /^svc_collab_flush_seconds_count\{outcome="refused"\} [1-9]/m)
  t.match(metrics, /^svc_collab_pending_bytes 0$/m)
  t.equal((await fetch(`${collab.origin}/collab`)).status, 426, 'the path of editors is for WebSocket alone')
})
