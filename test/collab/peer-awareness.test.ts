import { type Connection, Document } from '@hocuspocus/server'
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { PeerAwareness } from '../../api/collab/peers/awareness.ts'
import { type Test, t } from '../support/tap.ts'

/** An editor whose state changes with each call, as its awareness updates. */
function editor(t: Test) {
  const awareness = new Awareness(new Y.Doc())
  t.teardown(() => awareness.destroy())
  let moves = 0
  return {
    id: awareness.clientID,
    moves() {
      moves += 1
      awareness.setLocalState({ moves })
      return encodeAwarenessUpdate(awareness, [awareness.clientID])
    },
  }
}

/** A document of Hocuspocus with connections that go nowhere. */
function openDocument(t: Test) {
  const document = new Document('doc_1')
  t.teardown(() => document.destroy())
  const told: number[][] = []
  const peers = new PeerAwareness(document.awareness, (clients) => told.push([...clients]))
  const connect = () => {
    const connection = { document, messageAddress: 'doc_1', send() {} } as unknown as Connection
    document.addConnection(connection)
    const sends = (update: Uint8Array) =>
      applyAwarenessUpdate(document.awareness, update, { source: 'connection', connection })
    return { sends, close: () => document.removeConnection(connection) }
  }
  return { peers, told, connect, sees: (id: number) => document.awareness.getStates().get(id)?.['moves'] }
}

t.test('an editor that comes from another process vanishes when it leaves this process', async (t) => {
  const { peers, told, connect, sees } = openDocument(t)
  const { id, moves } = editor(t)
  peers.receive('other', moves())
  t.equal(sees(id), 1)
  t.strictSame([told, peers.local], [[], []], 'its state is not sent back')
  const connection = connect()
  connection.sends(moves())
  t.strictSame([told, peers.local], [[[id]], [id]])
  peers.remove('other')
  t.equal(sees(id), 2, 'the end of the process before does not take it away')
  connection.close()
  t.equal(sees(id), undefined)
  t.strictSame(told, [[id], [id]], 'other processes are told')
  t.equal(peers.encode([id]).length, 1)
})

t.test('an editor that has gone to another process stays when its connection here closes late', async (t) => {
  const { peers, told, connect, sees } = openDocument(t)
  const { id, moves } = editor(t)
  const connection = connect()
  connection.sends(moves())
  peers.receive('other', moves())
  connection.close()
  t.equal(sees(id), 2)
  t.strictSame([told, peers.local], [[[id]], []])
  peers.remove('another')
  t.equal(sees(id), 2)
  peers.remove('other')
  t.equal(sees(id), undefined)
  t.strictSame(told, [[id]], 'nobody is told of what its own process tells')
})

t.test('an editor that connects anew stays when its old connection closes late', async (t) => {
  const { connect, sees } = openDocument(t)
  const { id, moves } = editor(t)
  const old = connect()
  old.sends(moves())
  const anew = connect()
  anew.sends(moves())
  old.close()
  t.equal(sees(id), 2)
  anew.close()
  t.equal(sees(id), undefined)
})
