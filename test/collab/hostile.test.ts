import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageType } from '@hocuspocus/server'
import { createDecoder, readVarString, readVarUint } from 'lib0/decoding'
import {
  createEncoder,
  type Encoder,
  toUint8Array,
  writeVarString,
  writeVarUint,
  writeVarUint8Array,
} from 'lib0/encoding'
import { WebSocket } from 'ws'
import { messageYjsSyncStep1, messageYjsUpdate, writeSyncStep1 } from 'y-protocols/sync'
import * as Y from 'yjs'
import { bodyFragment, writeNodes } from '../../shared/body/yjs/encoding.ts'
import { sql } from '../../shared/database/database.ts'
import { p } from '../document/build.ts'
import { encoded, updateOf } from '../hostile/updates.ts'
import { Person, startCollab } from '../support/collab.ts'
import { bodyOf, make } from '../support/documents.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'

const service = await startTestService(t)
const collab = await startCollab({ DATABASE_URL: service.url, DATA_DIR: service.config.DATA_DIR })
t.teardown(collab.stop)
const ada = await service.signUp({ workspace: 'Zoo' })
const token = ada.bearer ?? ''
const { id } = await make(ada, [p('one')])
const person = await Person.open({ url: collab.url, token, documentId: id })
t.teardown(() => person.close())

t.test('a message that nobody can read closes its own connection, and others go on', async (t) => {
  const hostile = await connect(t, { documentId: id })
  hostile.send(id, MessageType.Sync, (encoder) => {
    writeVarUint(encoder, messageYjsUpdate)
    writeVarUint8Array(encoder, Uint8Array.of(1, 1, 255, 255, 255, 255, 255))
  })
  await hostile.closed
  person.type(' still here')
  await person.saved()
  t.match(JSON.stringify((await bodyOf(ada, id)).blocks), 'one still here')
})

t.test('a kind of message that does not exist closes its socket, and leaves nothing in memory', async (t) => {
  const hostile = await connect(t, { documentId: id })
  hostile.send(id, MessageType.Sync, (encoder) => {
    writeVarUint(encoder, 7)
    writeVarUint8Array(encoder, Y.encodeStateAsUpdate(new Y.Doc()))
  })
  t.equal(await hostile.closed, 4205)

  const nameless = await connect(t)
  nameless.socket.send(Buffer.alloc(10, 0xff))
  t.equal(await nameless.closed, 4401)
})

t.test('a program that offers another protocol gets its ordinary answer', async (t) => {
  const statusOf = async (path: string) => {
    const asked = request(`${collab.origin}${path}`, { headers: { Connection: 'Upgrade', Upgrade: 'h2c' } }).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  t.equal(await statusOf('/readyz'), 200)
  t.equal(await statusOf('/collab'), 426)
  t.equal(await statusOf('/other'), 404)
})

t.test('nobody is told that everything is saved while text waits for text that is missing', async (t) => {
  const document = await make(ada, [p('one')])
  const reader = await Person.open({ url: collab.url, token, documentId: document.id })
  t.teardown(() => reader.close())
  const writer = new Y.Doc()
  Y.applyUpdate(writer, Y.encodeStateAsUpdate(reader.doc))
  const updates: Uint8Array[] = []
  writer.on('update', (update: Uint8Array) => updates.push(update))
  const text = (bodyFragment(writer).get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.insert(0, 'b')
  text.insert(1, 'c')
  const sender = await connect(t, { documentId: document.id })
  const send = (update: Uint8Array | undefined) =>
    sender.send(document.id, MessageType.Sync, (encoder) => {
      writeVarUint(encoder, messageYjsUpdate)
      writeVarUint8Array(encoder, update ?? new Uint8Array())
    })
  const [first, second] = updates
  send(second)
  await sleep(200)
  reader.type(' typed')
  await reader.told(({ type, complete }) => type === 'saved' && complete === false)
  t.match(JSON.stringify((await bodyOf(ada, document.id)).blocks), 'one typed')
  t.notOk(reader.isSaved)
  send(first)
  await reader.saved()
  t.match(JSON.stringify((await bodyOf(ada, document.id)).blocks), 'bcone typed')
})

t.test('updates that take too long are not applied, and others type on', async (t) => {
  const { bearer = '' } = await service.signUp({ workspace: 'Zoo', role: 'editor' })
  const document = await make(ada, [p('one')])
  const witness = await Person.open({ url: collab.url, token, documentId: document.id })
  t.teardown(() => witness.close())
  const sendAll = async (...updates: Uint8Array[]) => {
    const hostile = await connect(t, { documentId: document.id, token: bearer })
    for (const update of updates) {
      hostile.send(document.id, MessageType.Sync, (encoder) => {
        writeVarUint(encoder, messageYjsUpdate)
        writeVarUint8Array(encoder, update)
      })
    }
    return hostile
  }
  const hostile = await sendAll(manyLetters(50_000), lettersAmongThem(2, 300))
  await witness.sees((texts) => texts.length === 2)
  witness.type(' and here', witness.texts.indexOf('one'))
  await witness.saved()
  t.equal(await hostile.closed, 4205)
  const again = await sendAll(lettersAmongThem(3, 30))
  t.equal(await again.closed, 1013, 'nothing is tried for this user for a while')
  const { blocks } = await bodyOf(ada, document.id)
  t.match(JSON.stringify(blocks), 'one and here')
  t.notMatch(JSON.stringify(blocks), /ab|ba/)
})

t.test(
  'a client that asks without a break leaves the process time for others, and is closed in the end',
  onlyLong,
  async (t) => {
    const { bearer = '' } = await service.signUp({ workspace: 'Zoo', role: 'viewer' })
    const large = await make(
      ada,
      Array.from({ length: 1000 }, (_, index) => p(`paragraph ${index}`)),
    )
    const asking = await connect(t, { documentId: large.id, token: bearer })
    const questions = 300
    let answers = 0
    asking.socket.on('message', () => {
      answers += 1
    })
    const before = await bytesOut()
    for (let count = 0; count < questions; count += 1) {
      asking.send(large.id, MessageType.Sync, (encoder) => writeSyncStep1(encoder, new Y.Doc()))
    }
    const seen = new Set<number>()
    while (answers < 2 * questions) seen.add(await bytesOut())
    seen.delete(before)
    seen.delete(await bytesOut())
    t.not(seen.size, 0, 'the process answers others before it has answered all questions')

    for (let count = 0; count < 1000; count += 1) asking.send(large.id, MessageType.QueryAwareness)
    t.equal(await asking.closed, 1013)
  },
)

t.test('a question that names thousands of clients holds up nobody, and one of an editor is answered', async (t) => {
  const stateVector = (clients: number) =>
    Y.encodeStateVector(new Map(Array.from({ length: clients }, (_, index) => [2 ** 31 + index, 1])))
  const asking = await connect(t, { documentId: id })
  const ask = (clients: number) =>
    asking.send(id, MessageType.Sync, (encoder) => {
      writeVarUint(encoder, messageYjsSyncStep1)
      writeVarUint8Array(encoder, stateVector(clients))
    })
  const answered = asking.received(MessageType.Sync)
  ask(500)
  await answered
  ask(5000)
  t.equal(await asking.closed, 4205)
})

t.test('a socket that is not authenticated cannot fill the memory of the process', onlyLong, async (t) => {
  const flooding = await connect(t)
  for (let count = 0; count < 2000; count += 1) flooding.send(id, MessageType.QueryAwareness)
  await flooding.closed

  const manyRooms = await connect(t)
  for (let count = 0; count < 1000; count += 1) manyRooms.send(`room ${count}`, MessageType.QueryAwareness)
  await manyRooms.closed

  const large = await connect(t)
  large.socket.send(new Uint8Array(5 * 1024 * 1024 + 1))
  t.equal(await large.closed, 1009)

  const text = await connect(t)
  text.socket.send('{"hello":"world"}')
  t.equal(await text.closed, 1003)
})

t.test('a client that asks and does not read is cut off, and others go on', onlyLong, async (t) => {
  const large = await make(ada, [p('x'.repeat(400_000))])
  const slow = await connect(t, { documentId: large.id })
  slow.socket.pause()
  const isCut = async () => (await metrics()).includes('svc_collab_cut_total{reason="slow"} 1')
  while (!(await isCut())) {
    for (let count = 0; count < 10; count += 1) {
      slow.send(large.id, MessageType.Sync, (encoder) => writeSyncStep1(encoder, new Y.Doc()))
    }
  }
  person.type(', still')
  await person.saved()
  t.match(JSON.stringify((await bodyOf(ada, id)).blocks), 'one still here, still')
})

t.test('text that cannot be stored leaves room for others, and is saved once it fits', async (t) => {
  const { id: full } = await make(ada, [p('one')])
  const writer = await Person.open({ url: collab.url, token, documentId: full })
  t.teardown(() => writer.close())
  writer.type('x'.repeat(600_000))
  await writer.told(({ type, reason }) => type === 'unsaved' && reason === 'document_too_large')
  const before = await overloads()
  writer.type('y'.repeat(300_000))
  while ((await overloads()) === before) await sleep(20)
  const text = writer.textAt(0)
  text.delete(3, text.length - 3)
  await writer.saved()
  t.match(JSON.stringify((await bodyOf(ada, full)).blocks), '"one"')
})

t.test('an attribute that is no text keeps nobody from typing in the document', async (t) => {
  const document = await make(ada, [p('one')])
  const writer = await Person.open({ url: collab.url, token, documentId: document.id })
  t.teardown(() => writer.close())
  const hostile = await connect(t, { documentId: document.id })
  hostile.send(document.id, MessageType.Sync, (encoder) => {
    writeVarUint(encoder, messageYjsUpdate)
    const value = { any: ['x', { toString: 'x' }] }
    const structs = [{ content: { element: 'paragraph' } }, { content: value, key: 'id', parent: [1, 0] as const }]
    writeVarUint8Array(encoder, updateOf(structs))
  })
  const children = () => bodyFragment(writer.doc).toArray() as Y.XmlElement[]
  while (children().length < 2) await sleep(5)
  writer.type(
    ' and here',
    children().findIndex(({ length }) => length > 0),
  )
  await writer.saved()
  t.match(JSON.stringify((await bodyOf(ada, document.id)).blocks), 'one and here')
})

t.test('a long text that was pasted just before its editor left is stored', async (t) => {
  const { id: pasted } = await make(ada, [p('one')])
  const writer = await Person.open({ url: collab.url, token, documentId: pasted })
  const paragraphs = Array.from({ length: 1000 }, (_, index) => p(`a pasted paragraph with the number ${index}`))
  bodyFragment(writer.doc).insert(1, writeNodes(paragraphs))
  writer.close()
  while ((await bodyOf(ada, pasted)).blocks.length < 1001) await sleep(50)
  t.match(JSON.stringify((await bodyOf(ada, pasted)).blocks.at(-1)), 'number 999')
})

t.test('every client that waits for a document whose loading fails is sent back', async (t) => {
  const { id: broken } = await make(ada, [p('one')])
  await service.database.query(sql.unsafe`
    INSERT INTO document_y_states (workspace_id, document_id, state, body_seq)
    SELECT workspace_id, id, '\\xffff'::bytea, body_seq FROM documents WHERE id = ${broken}`)
  const clients = await Promise.all([connect(t), connect(t), connect(t)])
  for (const client of clients) client.authenticate(broken)
  t.strictSame(await Promise.all(clients.map(({ closed }) => closed)), [1013, 1013, 1013])
})

t.test('nobody can open what is no document, and the log tells no tokens and no texts', async (t) => {
  for (const documentId of ['', ' ', '__proto__', 'constructor', 'doc_01ARZ3NDEKTSV4RRFFQ69G5FAV', `${id}\n`]) {
    const nosy = new Person({ url: collab.url, token, documentId })
    if (documentId.trim() === id || documentId.startsWith('doc_')) {
      await nosy.denied()
      t.strictSame(nosy.denials, ['document_not_found'], documentId)
    } else await sleep(50)
    t.equal(nosy.provider.isSynced, false)
    nosy.close()
  }
  const talkative = await connect(t, { documentId: id })
  const closed = talkative.received(MessageType.CLOSE)
  talkative.send(id, MessageType.Awareness, (encoder) => {
    const states = createEncoder()
    for (const number of [1, 7, 1]) writeVarUint(states, number)
    writeVarString(states, '{a secret of a client')
    writeVarUint8Array(encoder, toUint8Array(states))
  })
  await closed
  t.match(collab.output(), 'a library has caught an error', 'an error is logged, without what it says')
  t.notMatch(collab.output(), 'secret of')
  const lines = collab.output().trim().split('\n')
  t.strictSame(
    lines.filter((line) => !line.startsWith('{')),
    [],
    'all lines are lines of the log',
  )
  t.notMatch(collab.output(), token)
  t.notMatch(collab.output(), 'still')
  t.notMatch(collab.output(), 'room 1')
})

t.test('a socket that was told to close cannot fill the log', async (t) => {
  const errors = () => collab.output().split('a library has caught an error').length
  const before = errors()
  const flooding = await connect(t)
  for (let count = 0; count < 3000; count += 1) flooding.socket.send(new Uint8Array())
  await flooding.closed
  t.ok(errors() <= before + 1)
})

t.test('one address cannot take all sockets', async (t) => {
  const sockets = Array.from({ length: 260 }, () => new WebSocket(collab.url))
  t.teardown(() => {
    for (const socket of sockets) socket.terminate()
  })
  const outcomes = await Promise.all(
    sockets.map((socket) =>
      once(socket, 'open').then(
        () => 'open',
        ({ message }) => message,
      ),
    ),
  )
  t.strictSame(new Set(outcomes), new Set(['open', 'Unexpected server response: 503']))
  person.type(', once more')
  await person.saved()
})

const overloads = async () => /^svc_collab_cut_total\{reason="overloaded"\} \d+/m.exec(await metrics())?.[0]
const bytesOut = async () => Number(/^svc_collab_bytes_total\{direction="out"\} (\d+)/m.exec(await metrics())?.[1])
const metrics = async () => (await fetch(`${collab.origin}/metrics`)).text()

/** A client that speaks the protocol as it likes. With a document, the document is open. */
async function connect(t: Test, options: { documentId?: string; token?: string } = {}) {
  const { documentId, token = ada.bearer ?? '' } = options
  const socket = new WebSocket(collab.url)
  socket.on('error', () => {})
  t.teardown(() => socket.terminate())
  const closed = once(socket, 'close').then(([code]) => code as number)
  const send = (name: string, type: MessageType, write: (encoder: Encoder) => void = () => {}) => {
    const encoder = createEncoder()
    writeVarString(encoder, name)
    writeVarUint(encoder, type)
    write(encoder)
    socket.send(toUint8Array(encoder))
  }
  const received = (type: MessageType) =>
    new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const decoder = createDecoder(new Uint8Array(data))
        readVarString(decoder)
        if (readVarUint(decoder) === type) resolve()
      })
    })
  const authenticate = (name: string) =>
    send(name, MessageType.Auth, (encoder) => {
      writeVarUint(encoder, 0)
      writeVarString(encoder, token)
    })
  await once(socket, 'open')
  if (documentId !== undefined) {
    const welcomed = received(MessageType.Stateless)
    authenticate(documentId)
    await welcomed
  }
  return { socket, closed, send, received, authenticate }
}

/** A paragraph of letters, each before the one that came before it. */
function manyLetters(count: number): Uint8Array {
  const letters = Array.from({ length: count }, (_, index) => ({
    content: { text: 'a' },
    rightOrigin: [1, index + 2] as const,
  }))
  const first = { content: { text: 'a' }, parent: [1, 1] as const }
  return updateOf([{ content: { element: 'paragraph' } }, { content: { type: 6 }, parent: [1, 0] }, first, ...letters])
}

/** Letters in the same paragraph that know of no others, so that Yjs compares each with all letters there. */
function lettersAmongThem(client: number, count: number): Uint8Array {
  const letters = Array.from({ length: count }, () => ({ content: { text: 'b' }, parent: [1, 1] as const }))
  return encoded([{ client, structs: letters }], [])
}
