import fc from 'fast-check'
import * as Y from 'yjs'
import { cutUpdates } from '../../../shared/body/yjs/cut-updates.ts'
import { bodyFragment, readDocument } from '../../../shared/body/yjs/encoding.ts'
import { deriveState, openState } from '../../../shared/body/yjs/state.ts'
import { encoded } from '../../hostile/updates.ts'
import { t } from '../../support/tap.ts'
import { randomBody } from './random-body.ts'
import { WildEditor, wildEdit } from './wild-editor.ts'

const size = { structs: 3, characters: 20 }

t.test('a document that is loaded in slices is the document, and no slice waits for a later slice', async (t) => {
  const edits = fc.array(fc.record({ editor: fc.nat(2), edit: wildEdit(), meet: fc.nat(3) }), { maxLength: 20 })
  fc.assert(
    fc.property(randomBody(), edits, (body, steps) => {
      const first = deriveState(body)
      const editors = [0, 1, 2].map(() => new WildEditor(first))
      const log: Uint8Array[] = []
      for (const { doc } of editors)
        doc.on('update', (update: Uint8Array, origin) => origin === 'met' || log.push(update))
      for (const { editor, edit, meet } of steps) {
        editors[editor]?.edit(edit)
        const [from, to] = [editors[meet], editors[editor]]
        if (from && to && from !== to) Y.applyUpdate(to.doc, Y.encodeStateAsUpdate(from.doc), 'met')
      }
      const whole = openState(first, ...log)
      // Both the updates as they came and the state without deleted content are cut.
      for (const updates of [[first, ...log], [Y.encodeStateAsUpdate(whole)]]) {
        const doc = new Y.Doc()
        const slices = cutUpdates(updates, size)
        for (const slice of slices) {
          Y.applyUpdate(doc, slice)
          if (doc.store.pendingStructs !== null) throw new Error('a slice waits')
        }
        same(stateOf(doc), stateOf(whole))
      }
    }),
  )
  t.pass()
})

t.test('an update that needs what the server lacks waits there as it would uncut, and is complete later', async (t) => {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  const text = doc.getText('t')
  for (let turn = 0; turn < 10; turn++) text.insert(turn % 2 === 0 ? 0 : text.length, `w${turn}`)
  const server = new Y.Doc()
  for (const slice of cutUpdates([...updates.slice(0, 2), ...updates.slice(5)], size)) Y.applyUpdate(server, slice)
  t.ok(server.store.pendingStructs)
  for (const slice of cutUpdates(updates.slice(2, 5), size)) Y.applyUpdate(server, slice)
  t.equal(server.getText('t').toString(), text.toString())
})

t.test(
  'text of many clients, each of which writes behind the one before, is cut in time in proportion to it',
  async (t) => {
    const clients = 20_000
    const structs = Array.from({ length: clients }, (_, index) => ({
      client: index + 1,
      structs: [{ content: { text: 'a' }, ...(index > 0 && { origin: [index, 0] as [number, number] }) }],
    }))
    const { includes } = Array.prototype
    let looks = 0
    Array.prototype.includes = function (this: unknown[], ...searched: Parameters<typeof includes>) {
      looks += this.length
      return includes.apply(this, searched)
    }
    t.teardown(() => {
      Array.prototype.includes = includes
    })
    const slices = cutUpdates([encoded(structs, [])])
    t.ok(looks < clients, `${looks} looks`)
    const doc = new Y.Doc()
    for (const slice of slices) Y.applyUpdate(doc, slice)
    t.equal(doc.store.pendingStructs, null)
  },
)

function stateOf(doc: Y.Doc): unknown {
  return [[...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(), readDocument(bodyFragment(doc)).document]
}

function same(got: unknown, want: unknown): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(want)]
  if (left !== right) throw new Error(`got  ${left}\nwant ${right}`)
}
