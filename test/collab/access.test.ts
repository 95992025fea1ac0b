import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { WebSocket } from 'ws'
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { endSession, startSession } from '../../shared/auth/sessions.ts'
import { mintTicket } from '../../shared/auth/tickets.ts'
import { plainText } from '../../shared/body/text.ts'
import { bodyFragment } from '../../shared/body/yjs/encoding.ts'
import { deriveState } from '../../shared/body/yjs/state.ts'
import { sql } from '../../shared/database/database.ts'
import { newId } from '../../shared/schema/ids.ts'
import { p } from '../document/build.ts'
import { type CollabProcess, Person, startCollab } from '../support/collab.ts'
import { bodyOf, make } from '../support/documents.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'

const shared = await startBoth(t)

t.test('a document is opened by nobody who could not read it through the API, and the reason is told', async (t) => {
  const { service, collab, join, ada, id } = await started(t)
  const refused = async (token: string, documentId = id) => {
    const person = new Person({ url: collab.url, token, documentId })
    t.teardown(() => person.close())
    await until(async () => person.denials.length > 0)
    t.equal(person.provider.isSynced, false)
    return person.denials.join()
  }
  t.equal(await refused(''), 'missing_token')
  t.equal(await refused('hunter2'), 'invalid_token')
  t.equal(await refused(`${ada.token.slice(0, -1)}${ada.token.endsWith('a') ? 'b' : 'a'}`), 'invalid_token')
  const gone = await join({ email: 'gone@example.test' })
  await service.database.query(sql.unsafe`UPDATE tokens SET revoked_at = now() WHERE user_id = ${gone.user_id}`)
  t.equal(await refused(gone.token), 'invalid_token')
  const narrow = await join({ scopes: ['concepts:read'] })
  t.equal(await refused(narrow.token), 'insufficient_scope')
  t.equal(await refused((await service.signUp()).token), 'document_not_found')
  t.equal(await refused(ada.token, 'doc_nothing'), 'document_not_found')

  const session = await startSession(sessions(service), ada.user_id)
  const ticket = (now: number, of = id) => mintTicket(service.config.SESSION_SECRET, { ...ticketFacts(of), now })
  const ticketFacts = (documentId: string) => ({ documentId, userId: ada.user_id, sessionId: session })
  t.equal(await refused(ticket(Date.now() - 60_000)), 'invalid_token')
  const { id: other } = await make(ada, [p('other')])
  t.equal(await refused(ticket(Date.now(), other)), 'invalid_token', 'a ticket opens no other document')
  const stranger = await startSession(sessions(service), (await service.signUp()).user_id)
  const foreign = { ...ticketFacts(id), sessionId: stranger }
  t.equal(await refused(mintTicket(service.config.SESSION_SECRET, foreign)), 'invalid_token')
  const late = ticket(Date.now())
  await endSession(sessions(service), session)
  t.equal(await refused(late), 'invalid_token', 'a ticket ends with its session')
  t.notMatch(collab.output(), /hunter2|svc_t/)
})

t.test('whoever may only read sees what others type and changes nothing', async (t) => {
  const { collab, join, ada, id } = await started(t)
  const viewer = await join({ role: 'viewer' })
  const reader = await join({ scopes: 'read_only' })
  const writing = await opened(t, collab, { token: ada.token, id })
  for (const { token } of [viewer, reader]) {
    const reading = await opened(t, collab, { token, id })
    t.equal(reading.provider.authorizedScope, 'readonly')
    reading.type(' of a reader')
    writing.type('!')
    await reading.sees(([first]) => first?.includes('!') === true)
  }
  await writing.saved()
  t.strictSame(writing.texts, ['one!!', 'two'])
  t.notMatch(JSON.stringify((await bodyOf(ada, id)).blocks), 'reader')
})

t.test('a signed-in person edits by a ticket, and the text is theirs', async (t) => {
  const { service, collab, join, ada, id } = await started(t)
  const bob = await join({ role: 'editor' })
  const sessionId = await startSession(sessions(service), bob.user_id)
  const token = mintTicket(service.config.SESSION_SECRET, { documentId: id, userId: bob.user_id, sessionId })
  const person = await opened(t, collab, { token, id })
  t.equal(person.provider.authorizedScope, 'read-write')
  person.type(' by Bob')
  await person.saved()
  t.equal((await ada.get(`/documents/${id}`)).body.data.updated_by, bob.user_id)
})

t.test('a token that opens a document counts as used', async (t) => {
  const { service, collab, ada, id } = await started(t)
  await service.database.query(sql.unsafe`UPDATE tokens SET last_used_at = NULL WHERE user_id = ${ada.user_id}`)
  await opened(t, collab, { token: ada.token, id })
  const { rows } = await service.database.query(sql.unsafe`
    SELECT FROM tokens WHERE user_id = ${ada.user_id} AND last_used_at IS NOT NULL`)
  t.equal(rows.length, 1)
})

t.test('pages of foreign origins open nothing, those that are allowed do', async (t) => {
  const { collab, ada, id } = await started(t, {
    PUBLIC_ORIGIN: 'https://kb.test',
    CORS_ALLOWED_ORIGINS: 'https://app.test',
  })
  const from = (origin: string) => opening({ collab, token: ada.token, id, origin })
  t.equal(await from('https://evil.test'), 'forbidden')
  t.equal(await from('null'), 'forbidden')
  t.equal(await from('https://kb.test'), 'open')
  t.equal(await from('https://app.test'), 'open')
})

t.test('an address that fails again and again is told to wait, and still gets in with a right token', async (t) => {
  const { collab, ada, id } = await started(t, { RATE_IP_PER_MIN: '2' })
  const reasons: string[] = []
  for (let attempt = 0; attempt < 3; attempt += 1) reasons.push(await opening({ collab, token: 'wrong', id }))
  t.strictSame(reasons, ['invalid_token', 'invalid_token', 'rate_limited'])
  t.equal(await opening({ collab, token: ada.token, id }), 'open')
})

t.test('open connections end with the rights that opened them, and what was typed before is kept', async (t) => {
  const { service, collab, join, ada, id } = await started(t, {
    COLLAB_DEBOUNCE_MS: '60000',
    COLLAB_MAX_DEBOUNCE_MS: '60000',
  })
  const { database } = service
  const others = ['revoked', 'expired', 'left', 'deleted'] as const
  const people = new Map<string, { person: Person; userId: string; reasons: string[] }>()
  for (const name of others) {
    const user = await join({ role: 'editor' })
    const person = await opened(t, collab, { token: user.token, id })
    people.set(name, { person, userId: user.user_id, reasons: reasonsOf(person) })
  }
  const bob = await join({ role: 'editor' })
  const sessionId = await startSession(sessions(service), bob.user_id)
  const ticket = mintTicket(service.config.SESSION_SECRET, { documentId: id, userId: bob.user_id, sessionId })
  const signedIn = await opened(t, collab, { token: ticket, id })
  people.set('signed out', { person: signedIn, userId: bob.user_id, reasons: reasonsOf(signedIn) })
  const staying = await opened(t, collab, { token: ada.token, id })
  const userOf = (name: string) => people.get(name)?.userId ?? ''
  people.get('revoked')?.person.type(' last words')
  await staying.sees(([first]) => first === 'one last words')

  await database.query(sql.unsafe`UPDATE tokens SET revoked_at = now() WHERE user_id = ${userOf('revoked')}`)
  await database.query(sql.unsafe`UPDATE tokens SET expires_at = now() WHERE user_id = ${userOf('expired')}`)
  await database.query(sql.unsafe`DELETE FROM memberships WHERE user_id = ${userOf('left')}`)
  await database.query(sql.unsafe`DELETE FROM users WHERE id = ${userOf('deleted')}`)
  await endSession(sessions(service), sessionId)
  await until(async () => [...people.values()].every(({ reasons }) => reasons.length > 0))
  t.strictSame(Object.fromEntries([...people].map(([name, { reasons }]) => [name, reasons.join()])), {
    revoked: 'invalid_token',
    expired: 'invalid_token',
    left: 'document_not_found',
    deleted: 'invalid_token',
    'signed out': 'invalid_token',
  })
  t.equal(staying.provider.isAuthenticated, true)

  const reasons = reasonsOf(staying)
  t.equal(await collab.stop(), 0)
  t.match(JSON.stringify((await bodyOf(ada, id)).blocks), 'last words', 'stored when the process stopped')
  t.strictSame(
    reasons.filter((reason) => reason === 'invalid_token'),
    [],
  )
})

t.test('a person who signs out learns that the words before are stored, and no later words are taken', async (t) => {
  const { service, collab, ada, id, join } = await started(t, {
    COLLAB_DEBOUNCE_MS: '60000',
    COLLAB_MAX_DEBOUNCE_MS: '60000',
    // Rights are read every five seconds.
    SSE_HEARTBEAT_SECONDS: '15',
  })
  const bob = await join({ role: 'editor' })
  const sessionId = await startSession(sessions(service), bob.user_id)
  const ticket = mintTicket(service.config.SESSION_SECRET, { documentId: id, userId: bob.user_id, sessionId })
  const person = await opened(t, collab, { token: ticket, id })
  const staying = await opened(t, collab, { token: ada.token, id })
  person.type(' before')
  await staying.sees(([first]) => first === 'one before')
  const told: string[] = []
  person.provider.on('stateless', ({ payload }: { payload: string }) => told.push(JSON.parse(payload).type))
  const reasons = reasonsOf(person)
  await endSession(sessions(service), sessionId)
  await until(async () => reasons.length > 0)
  t.match(told, ['saved'], 'told before the end')
  t.match(JSON.stringify((await bodyOf(ada, id)).blocks), 'one before')
  person.type(' after')
  staying.type(' of Ada')
  await staying.sees(([first]) => first?.includes('of Ada') === true)
  t.notMatch(JSON.stringify(staying.provider.document.toJSON()), 'after')

  let waited = 0
  for (let index = 0; index < 3; index += 1) {
    const session = await startSession(sessions(service), bob.user_id)
    const token = mintTicket(service.config.SESSION_SECRET, { documentId: id, userId: bob.user_id, sessionId: session })
    const closed = reasonsOf(await opened(t, collab, { token, id }))
    const begun = performance.now()
    await endSession(sessions(service), session)
    await until(async () => closed.length > 0)
    waited += performance.now() - begun
  }
  t.ok(waited < 8000, 'three ends in a row do not wait for three looks at the rights')
})

t.test('a document that is deleted closes under its editors', async (t) => {
  const { collab, ada, id } = await started(t)
  const person = await opened(t, collab, { token: ada.token, id })
  const { provider } = person
  const events: unknown[] = []
  provider.on('close', ({ event }: { event: unknown }) => events.push(event))
  t.equal((await ada.call('DELETE', `/documents/${id}`)).status, 204)
  await until(async () => events.length > 0)
  t.strictSame(events, [{ code: 1000, reason: 'document_not_found' }])
  t.equal(provider.configuration.websocketProvider.status, 'connected', 'the provider does not connect again')
})

t.test('an editor whose role changes is told, and stops and goes on writing without connecting anew', async (t) => {
  const { service, collab, join, ada, id } = await started(t)
  const bob = await join({ role: 'editor' })
  const watching = await opened(t, collab, { token: ada.token, id })
  const person = await opened(t, collab, { token: bob.token, id })
  const scopes: string[] = []
  person.provider.on('authenticated', ({ scope }: { scope: string }) => scopes.push(scope))
  const become = async (role: string, scope: string) => {
    await service.database.query(sql.unsafe`UPDATE memberships SET role = ${role} WHERE user_id = ${bob.user_id}`)
    await until(async () => scopes.at(-1) === scope)
  }
  await become('viewer', 'readonly')
  person.type(' hidden')
  watching.type('!', 1)
  await person.sees(([, second]) => second === 'two!')
  t.equal(watching.texts[0], 'one')
  await become('editor', 'read-write')
  person.type(' shown')
  await watching.sees(([first]) => first === 'one hidden shown')
})

t.test('others see the name of the account, whatever a client claims, and nobody speaks for another', async (t) => {
  const { collab, join, ada, id } = await started(t)
  const bob = await join({ email: 'bob@example.test', role: 'viewer' })
  const first = await opened(t, collab, { token: ada.token, id })
  const second = await opened(t, collab, { token: bob.token, id })
  const seen = (person: Person, of: Person) => person.provider.awareness?.getStates().get(of.doc.clientID)
  second.provider.setAwarenessField('user', { name: 'Ada', color: '#000000' })
  second.provider.setAwarenessField('cursor', { anchor: 1, head: 2 })
  await until(async () => seen(first, second)?.['cursor'] !== undefined)
  t.match(seen(first, second), {
    user: { id: bob.user_id, name: 'bob', color: /^#[0-9a-f]{6}$/ },
    cursor: { anchor: 1 },
  })

  first.provider.setAwarenessField('cursor', { anchor: 7, head: 7 })
  await until(async () => seen(second, first)?.['cursor'] !== undefined)
  const forged = await opened(t, collab, { token: bob.token, id, clientId: first.doc.clientID })
  for (let clock = 0; clock < 5; clock += 1) forged.provider.setAwarenessField('cursor', { anchor: clock, head: 0 })
  second.provider.setAwarenessField('cursor', { anchor: 3, head: 3 })
  await until(async () => seen(first, second)?.['cursor'].anchor === 3)
  t.match(seen(second, first), { user: { id: ada.user_id }, cursor: { anchor: 7 } })
  const notes: unknown[] = []
  first.provider.awareness?.on('change', () => notes.push(seen(first, second)?.['note'] ?? null))

  second.provider.setAwarenessField('note', 'x'.repeat(70_000))
  second.provider.setAwarenessField('note', JSON.parse('['.repeat(1000) + ']'.repeat(1000)))
  second.provider.setAwarenessField('note', null)
  second.provider.setAwarenessField('cursor', { anchor: 4, head: 4 })
  await until(async () => seen(first, second)?.['cursor'].anchor === 4)
  t.strictSame(
    notes.filter((note) => note !== null),
    [],
    'what is too large or nested too deeply reaches nobody',
  )
  second.close()
  await until(async () => seen(first, second) === undefined)
})

t.test('a cursor that moves without a break costs others little, and they see where it stops', async (t) => {
  const { collab, ada, id } = await started(t)
  const watching = await opened(t, collab, { token: ada.token, id })
  const restless = await opened(t, collab, { token: ada.token, id })
  const notes = new Set<string>()
  const note = () => watching.provider.awareness?.getStates().get(restless.doc.clientID)?.['note']
  watching.provider.awareness?.on('change', () => notes.add(note()))
  const began = performance.now()
  for (let step = 1; step <= 100; step += 1) {
    restless.provider.setAwarenessField('note', `${step}`.padStart(4000))
    await sleep(1)
  }
  await until(async () => note()?.trim() === '100')
  const seconds = (performance.now() - began) / 1000
  t.ok(notes.size * 4 < 64 + 32 * seconds + 4, 'at most the bytes of the limit have reached others')
  restless.provider.setAwarenessField('note', 'still')
  await until(async () => note() === 'still')
})

t.test('one connection cannot fill the list of those present with people who do not exist', async (t) => {
  const { collab, join, ada, id } = await started(t)
  const bob = await join()
  const watching = await opened(t, collab, { token: ada.token, id })
  const person = await opened(t, collab, { token: bob.token, id })
  for (let invented = 0; invented < 30; invented += 1) {
    const presence = new Awareness(new Y.Doc())
    presence.setLocalState({ cursor: null })
    t.teardown(() => presence.destroy())
    const update = encodeAwarenessUpdate(presence, [presence.clientID])
    if (person.provider.awareness !== null) applyAwarenessUpdate(person.provider.awareness, update, 'invented')
  }
  person.type('!')
  await watching.sees(([first]) => first === 'one!')
  t.equal(watching.provider.awareness?.getStates().size, 11, "ten of Bob's and Ada's own")
})

t.test('nobody hides a name behind a state without members', async (t) => {
  const { collab, join, ada, id } = await started(t)
  const bob = await join()
  const watching = await opened(t, collab, { token: ada.token, id })
  const { provider, doc } = await opened(t, collab, { token: bob.token, id })
  const seen = () => watching.provider.awareness?.getStates().get(doc.clientID)
  provider.setAwarenessField('cursor', 1)
  await until(async () => seen()?.['cursor'] === 1)
  provider.awareness?.setLocalState(['nobody'] as never)
  provider.setAwarenessField('cursor', 2)
  await until(async () => seen()?.['cursor'] === 2)
  t.match(seen(), { user: { id: bob.user_id } })
})

t.test('a large message that makes no sense ends its own socket alone', async (t) => {
  const { collab, ada, id } = await started(t)
  const person = await opened(t, collab, { token: ada.token, id })
  for (const byte of [0x00, 0x7f, 0xff]) {
    const socket = new WebSocket(collab.url)
    await once(socket, 'open')
    socket.on('error', () => {}).send(Buffer.alloc(70_000, byte))
    await sleep(50)
    socket.terminate()
  }
  person.type('!')
  await person.saved()
})

t.test('a person who comes back is seen at once, and is gone when they leave', async (t) => {
  const { collab, join, ada, id } = await started(t)
  const bob = await join()
  const watching = await opened(t, collab, { token: ada.token, id })
  const clientId = 4711
  for (let visit = 1; visit <= 3; visit += 1) {
    const person = await opened(t, collab, { token: bob.token, id, clientId })
    for (let clock = 0; clock < visit * 5; clock += 1) person.provider.setAwarenessField('visit', visit)
    const seen = () => watching.provider.awareness?.getStates().get(clientId)
    await until(async () => seen()?.['visit'] === visit)
    person.close()
    await until(async () => seen() === undefined)
  }
})

t.test('an editor with a Y document from before a restored backup is closed, and doubles no block', async (t) => {
  const { collab, ada, id } = await started(t)
  const reading = await opened(t, collab, { token: ada.token, id })
  const { blocks, etag } = await bodyOf(ada, id)
  const doc = new Y.Doc()
  Y.applyUpdate(doc, deriveState({ type: 'doc', content: blocks }))
  const person = new Person({ url: collab.url, token: ada.token, documentId: id, doc })
  t.teardown(() => person.close())
  const closed = Promise.withResolvers<string>()
  person.provider.on('close', ({ event }: { event: { reason: string } }) => closed.resolve(event.reason))
  t.equal(await closed.promise, 'document_replaced')
  person.type(' of old', 0)
  reading.type(' of now', 0)
  await until(async () => (await bodyOf(ada, id)).etag !== etag)
  const texts = (await bodyOf(ada, id)).blocks.map(plainText)
  t.strictSame(texts, ['one of now', 'two'])
  t.equal(bodyFragment(doc).length, 2, 'nor has the editor got anything')
})

t.test('more editors than a document or a process takes are refused until one leaves', onlyLong, async (t) => {
  const limits = { COLLAB_MAX_CONNECTIONS_PER_DOCUMENT: '2', COLLAB_MAX_CONNECTIONS: '3' }
  const { collab, ada, id } = await started(t, limits)
  const { id: other } = await make(ada, [p('other')])
  const [first] = await Promise.all([
    opened(t, collab, { token: ada.token, id }),
    opened(t, collab, { token: ada.token, id }),
  ])
  t.equal(await opening({ collab, token: ada.token, id }), 'too_many_connections')
  await opened(t, collab, { token: ada.token, id: other })
  t.equal(await opening({ collab, token: ada.token, id: other }), 'too_many_connections')
  first?.close()
  await until(async () => (await opening({ collab, token: ada.token, id: other })) === 'open')
})

t.test('nobody keeps others out of a document with many sockets of their own', async (t) => {
  const { collab, join, ada, id } = await started(t, { COLLAB_MAX_CONNECTIONS_PER_DOCUMENT: '4' })
  const [viewer, bob] = await Promise.all([join({ role: 'viewer' }), join()])
  const open = () => opened(t, collab, { token: viewer.token, id })
  const sockets = [await open(), await open(), await open(), await open()]
  const reasons = sockets.map(reasonsOf)
  t.equal(await opening({ collab, token: viewer.token, id }), 'too_many_connections')
  const person = await opened(t, collab, { token: ada.token, id })
  await opened(t, collab, { token: bob.token, id })
  await until(async () => reasons.flat().length === 2)
  t.strictSame(reasons, [[], [], ['too_many_connections'], ['too_many_connections']], 'the newest go')
  t.equal(await opening({ collab, token: viewer.token, id }), 'too_many_connections', 'and do not come back')
  t.equal(
    await opening({ collab, token: bob.token, id }),
    'too_many_connections',
    'nobody has more than Bob would have',
  )
  person.type('!')
  await person.saved()
})

t.test(
  'one socket opens a hundred documents and no more, and one user leaves places for others',
  onlyLong,
  async (t) => {
    const { collab, join, ada, id } = await started(t, { COLLAB_MAX_CONNECTIONS: '150' })
    const documents = await Promise.all(Array.from({ length: 101 }, () => make(ada, [p('one')])))
    const websocketProvider = new HocuspocusProviderWebsocket({ url: collab.url, WebSocketPolyfill: WebSocket })
    t.teardown(() => websocketProvider.destroy())
    const outcomes: string[] = []
    for (const { id: name } of documents) {
      const opened = Promise.withResolvers<string>()
      const provider = new HocuspocusProvider({
        websocketProvider,
        name,
        token: ada.token,
        onSynced: () => opened.resolve('open'),
        onAuthenticationFailed: ({ reason }) => opened.resolve(reason),
      })
      provider.attach()
      t.teardown(() => provider.destroy())
      outcomes.push(await opened.promise)
    }
    t.strictSame(new Set(outcomes.slice(0, 100)), new Set(['open']))
    t.equal(outcomes[100], 'too_many_connections')
    t.equal(await opening({ collab, token: ada.token, id }), 'too_many_connections')
    const bob = await join()
    t.equal(await opening({ collab, token: bob.token, id }), 'open')
  },
)

t.test('a user who asks for documents that do not exist is sent away, and others get in', async (t) => {
  const { collab, join, ada, id } = await started(t, { COLLAB_MAX_CONNECTIONS: '150' })
  const outcomes: string[] = []
  for (let count = 0; count < 220; count += 20) {
    const missing = Array.from({ length: 20 }, () => opening({ collab, token: ada.token, id: newId('doc') }))
    outcomes.push(...(await Promise.all(missing)))
  }
  t.strictSame(new Set(outcomes.slice(0, 200)), new Set(['document_not_found']))
  t.strictSame(new Set(outcomes.slice(200)), new Set(['rate_limited']))
  const bob = await join()
  t.equal(await opening({ collab, token: bob.token, id }), 'open')
})

t.test('of many who come at the same moment no more get in than there are places', onlyLong, async (t) => {
  const { collab, ada, id } = await started(t, { COLLAB_MAX_CONNECTIONS_PER_DOCUMENT: '3' })
  const crowd = Array.from({ length: 12 }, () => new Person({ url: collab.url, token: ada.token, documentId: id }))
  t.teardown(() => {
    for (const person of crowd) person.close()
  })
  const closed = crowd.map(reasonsOf)
  const isOut = (_: Person, index: number) => [...(crowd[index]?.denials ?? []), ...(closed[index] ?? [])].length > 0
  await until(async () => crowd.filter(isOut).length === 9)
  await sleep(200)
  t.equal(crowd.filter(isOut).length, 9)
})

/**
 * A document of Ada's in a workspace of its own, which `join` lets others join. A test with settings of its own gets a
 * service and a collab process of its own.
 */
async function started(t: Test, env?: Record<string, string>) {
  const { service, collab } = env === undefined ? shared : await startBoth(t, env)
  const workspace = `Zoo ${randomUUID()}`
  const join = (options: Parameters<TestService['signUp']>[0] = {}) => service.signUp({ workspace, ...options })
  const ada = await join()
  const { id } = await make(ada, [p('one'), p('two')])
  return { service, collab, join, ada, id }
}

/** A service, and a collab process that reads rights every third second. */
async function startBoth(t: Test, env: Record<string, string> = {}) {
  const service = await startTestService(t, env)
  const { url, config } = service
  const settings = { DATABASE_URL: url, DATA_DIR: config.DATA_DIR, SSE_HEARTBEAT_SECONDS: '1', ...env }
  const collab = await startCollab(settings)
  t.teardown(collab.stop)
  return { service, collab }
}

async function opened(
  t: Test,
  { url }: CollabProcess,
  options: { token: string; id: string; clientId?: number },
): Promise<Person> {
  const { token, id: documentId, clientId } = options
  const doc = new Y.Doc()
  if (clientId !== undefined) doc.clientID = clientId
  const person = await Person.open({ url, token, documentId, doc })
  t.teardown(() => person.close())
  return person
}

// The outcome of an attempt: `open`, or the reason of the refusal. The connection is closed afterwards.
async function opening(attempt: {
  collab: CollabProcess
  token: string
  id: string
  origin?: string
}): Promise<string> {
  const { collab, token, id, origin } = attempt
  class Socket extends WebSocket {
    constructor(address: string) {
      super(address, origin === undefined ? {} : { headers: { Origin: origin } })
    }
  }
  let outcome = ''
  const websocketProvider = new HocuspocusProviderWebsocket({ url: collab.url, WebSocketPolyfill: Socket })
  const provider = new HocuspocusProvider({
    websocketProvider,
    name: id,
    token,
    onAuthenticated: () => (outcome = 'open'),
    onAuthenticationFailed: ({ reason }) => (outcome = reason),
  })
  provider.attach()
  await until(async () => outcome !== '')
  provider.destroy()
  websocketProvider.destroy()
  return outcome
}

// The reasons for which the process closes a person's connection, as they come.
function reasonsOf(person: Person): string[] {
  const reasons: string[] = []
  person.provider.on('close', ({ event }: { event: { reason: string } }) => reasons.push(event.reason))
  return reasons
}

function sessions({ database, config }: TestService) {
  return { db: database, secret: config.SESSION_SECRET }
}
