import fc from 'fast-check'
import pg from 'pg'
import * as Y from 'yjs'
import type { BlockNode } from '../../shared/body/document.ts'
import { openLive } from '../../shared/body/live/live-document.ts'
import { lockedMoves } from '../../shared/body/live/moves.ts'
import { liveBodiesChannel, readChangedBody } from '../../shared/body/live/notifications.ts'
import { advance } from '../../shared/body/live/queries.ts'
import { bodyFragment } from '../../shared/body/yjs/encoding.ts'
import { sql } from '../../shared/database/database.ts'
import { projections } from '../../shared/jobs/queues.ts'
import { idFrom, randomBody } from '../document/yjs/random-body.ts'
import { runsTimes } from '../support/runs.ts'
import type { Teardown } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { body, p, paragraphElement, words } from './blocks.ts'
import { randomStep, Session } from './session.ts'
import { copyInto, exchange, LiveProcess, Site, shown, split, textAt } from './site.ts'

const site = await Site.start(t)

t.test('a batch of the API reaches people who edit the document as one change', async (t) => {
  const key = await site.create(body(p(1, 'one'), p(2, 'two'), p(3, 'three')))
  const live = await LiveProcess.open(site, key)
  let transactions = 0
  live.doc.on('afterTransaction', () => {
    transactions += 1
  })
  const operations = [
    { op: 'replace', block_id: idFrom(1), node: p(1, 'one more') },
    { op: 'insert', position: { after_block_id: idFrom(1) }, nodes: [p(4, 'between')] },
    { op: 'delete', block_id: idFrom(3) },
  ]
  const written = await site.client.post(`/documents/${key.id}/batch`, { operations })
  t.equal(written.status, 200)
  t.match(await site.head(key), { n: 0, body_seq: 1 }, 'the API itself leaves the Y document alone')
  t.equal((await live.sync()).length, 1)
  t.equal(transactions, 1)
  t.match(await site.head(key), { n: 1, body_seq: 2 })
  t.strictSame(shown(live.doc), body(p(1, 'one more'), p(4, 'between'), p(2, 'two')))
  t.strictSame(await live.sync(), [], 'nothing is told twice')
})

t.test('people keep typing where they are while a program writes beside them', async (t) => {
  const key = await site.create(body(p(1, 'one'), p(2, 'two'), p(3, 'three')))
  const live = await LiveProcess.open(site, key)
  const [ada, bob] = [new Y.Doc(), new Y.Doc()]
  for (const browser of [ada, bob]) exchange(browser, live.doc)
  const untouched = bodyFragment(live.doc).get(1)
  await site.write(key, ({ content }) => body(...content.slice(0, 2), p(3, 'three and more'), p(4, 'four')))
  await live.sync()
  t.equal(bodyFragment(live.doc).get(1), untouched)
  textAt(ada, 1).insert(3, ' by Ada')
  textAt(bob, 2).insert(0, 'Bob: ')
  for (const browser of [ada, bob]) exchange(browser, live.doc)
  const { changed, document } = await live.flush()
  t.ok(changed)
  t.equal(live.replica.version, document.version)
  t.strictSame(live.replica.stateVector, Y.encodeStateVector(live.doc))
  for (const browser of [ada, bob]) exchange(browser, live.doc)
  const want = body(p(1, 'one'), p(2, 'two by Ada'), p(3, 'Bob: three and more'), p(4, 'four'))
  for (const doc of [ada, bob, live.doc]) t.strictSame(shown(doc), want)
  t.strictSame((await site.read(key)).body, want)
  t.equal(bodyFragment(live.doc).get(1), untouched)
  t.match(await site.head(key), { body_seq: document.body_seq })
})

t.test('a document that several processes open at once for the first time has every block once', async (t) => {
  const key = await site.create(body(p(1, 'one'), p(2, 'two')))
  const opened = await Promise.all([1, 2, 3, 4].map(() => LiveProcess.open(site, key)))
  const merged = new Y.Doc()
  for (const { doc } of opened) copyInto(merged, doc)
  t.strictSame(shown(merged), body(p(1, 'one'), p(2, 'two')))
  const again = await LiveProcess.open(site, key)
  copyInto(merged, again.doc)
  t.equal(shown(merged).content.length, 2, 'and when it is opened again')
})

t.test('a document that is opened for the first time while programs write is no different from its body', async (t) => {
  const key = await site.create(body(p(1, 'one'), p(2, 'two')))
  const open = () => LiveProcess.open(site, key)
  const write = (id: number) => site.write(key, ({ content }) => body(...content, p(id, `written ${id}`)))
  const [first, second] = await Promise.all([open(), open(), ...[3, 4, 5, 6].map(write)])
  const third = await open()
  for (const live of [first, second, third] as LiveProcess[]) {
    await live.sync()
    t.strictSame(shown(live.doc), (await site.read(key)).body)
  }
  const merged = new Y.Doc()
  for (const live of [first, second, third] as LiveProcess[]) copyInto(merged, live.doc)
  t.equal(shown(merged).content.length, 6)
})

t.test('neither typing nor API writes are lost when they are saved at the same moment', async (t) => {
  const key = await site.create(body(...[1, 2, 3, 4, 5].map((id) => p(id, 'start'))))
  const processes = await Promise.all([LiveProcess.open(site, key), LiveProcess.open(site, key)])
  const typing = processes.map(async (live, index) => {
    for (let round = 0; round < 10; round++) {
      textAt(live.doc, index).insert(0, `typed${index}.${round} `)
      await live.flush()
    }
  })
  const writing = [2, 3].map(async (index) => {
    for (let round = 0; round < 10; round++) {
      await site.write(key, ({ content }) =>
        body(...content.with(index, p(index + 1, `${words(content[index])} wrote${index}.${round}`))),
      )
    }
  })
  await Promise.all([...typing, ...writing])
  for (const live of processes) await live.flush()
  for (const live of processes) await live.sync()
  const stored = (await site.read(key)).body
  const found = words(stored)
  for (let round = 0; round < 10; round++) {
    for (const word of [`typed0.${round}`, `typed1.${round}`, `wrote2.${round}`, `wrote3.${round}`]) {
      t.equal(found.split(new RegExp(`\\b${word}\\b`)).length, 2, word)
    }
  }
  for (const live of processes) t.strictSame(shown(live.doc), stored)
  t.strictSame(
    stored.content.map(({ attrs }) => attrs.id),
    [1, 2, 3, 4, 5].map(idFrom),
  )
})

t.test('what was typed into a block that a program moved meanwhile goes along', async (t) => {
  const key = await site.create(body(p(1, 'one'), p(2, 'two'), p(3, 'three')))
  const live = await LiveProcess.open(site, key)
  await site.write(key, ({ content: [one, two, three] }) => body(three, one, two))
  textAt(live.doc, 2).insert(5, ' typed')
  await live.flush()
  t.strictSame((await site.read(key)).body, body(p(3, 'three typed'), p(1, 'one'), p(2, 'two')))
})

t.test('neither a restored block nor the text that a program wrote under its id is lost', async (t) => {
  const key = await site.create(body(p(1, 'one'), p(2, 'two'), p(3, 'three')))
  const live = await LiveProcess.open(site, key)
  const ada = new Y.Doc()
  exchange(ada, live.doc)
  const history = new Y.UndoManager(bodyFragment(ada))
  bodyFragment(ada).delete(1, 2)
  exchange(ada, live.doc)
  await live.flush()
  // A program that has read the document before writes a deleted block anew while a person takes the deletion back.
  await site.write(key, ({ content }) => body(...content, p(3, 'three by a program')))
  history.undo()
  exchange(ada, live.doc)
  await live.flush()
  exchange(ada, live.doc)
  const { content } = (await site.read(key)).body
  t.strictSame(content.map(words).sort(), ['one', 'three', 'three by a program', 'two'])
  t.equal(new Set(content.map(({ attrs }) => attrs?.id)).size, 4, 'each block has an id of its own')
  t.strictSame(shown(ada), body(...content))
})

t.test('two people who split the same paragraph get blocks with ids of their own', async (t) => {
  const key = await site.create(body(p(1, 'first second third')))
  const live = await LiveProcess.open(site, key)
  const [ada, bob] = [new Y.Doc(), new Y.Doc()]
  for (const browser of [ada, bob]) exchange(browser, live.doc)
  split(ada, 0, 13)
  split(bob, 0, 6)
  for (const browser of [ada, bob, ada]) exchange(browser, live.doc)
  const merged = Y.encodeStateAsUpdate(live.doc)
  const { repairs } = await live.flush()
  t.match(repairs, [{ kind: 'id_changed' }, { kind: 'id_changed' }])
  const stored = (await site.read(key)).body
  const ids = stored.content.map(({ attrs }) => attrs.id)
  t.equal(new Set(ids).size, 3)
  t.equal(ids[0], idFrom(1), 'the first keeps the id')
  for (const browser of [ada, bob]) exchange(browser, live.doc)
  for (const doc of [ada, bob, live.doc]) t.strictSame(shown(doc), stored, 'the repair reaches everybody')

  const again = await live.flush()
  t.match(again, { changed: false, repairs: [] }, 'and is made once')
  const restored = new Y.Doc()
  Y.applyUpdate(restored, merged)
  copyInto(restored, (await LiveProcess.open(site, key)).doc)
  t.strictSame(shown(restored), stored, 'also for a browser that comes back with the doubled ids')
})

t.test('a second split of the same paragraph brings no deleted id back', async (t) => {
  const key = await site.create(body(p(1, 'first second')))
  const live = await LiveProcess.open(site, key)
  const seen = new Set<string>()
  for (let round = 0; round < 3; round++) {
    split(live.doc, 0, 6)
    await live.flush()
    const id = (await site.read(key)).body.content[1]?.attrs.id ?? ''
    t.notOk(seen.has(id))
    seen.add(id)
    await site.write(key, () => body(p(1, 'first second')))
    await live.sync()
  }
})

t.test('what a browser typed while it was away merges with all that was written meanwhile', async (t) => {
  const key = await site.create(body(p(1, 'one'), p(2, 'two'), p(3, 'three')))
  const before = await LiveProcess.open(site, key)
  const away = new Y.Doc()
  exchange(away, before.doc)
  textAt(away, 1).insert(3, ' typed away')
  bodyFragment(away).insert(3, [paragraphElement(9, 'new away')])
  await before.compact()
  await site.write(key, ({ content }) => body(p(1, 'one changed'), ...content.slice(1)))
  await site.write(key, ({ content: [one, two, three] }) => body(p(4, 'four'), one, three, two))
  await site.write(key, ({ content }) => body(...content.filter(({ attrs }) => attrs.id !== idFrom(3))))
  const live = await LiveProcess.open(site, key)
  await live.compact()
  exchange(away, live.doc)
  await live.flush()
  exchange(away, live.doc)
  const stored = (await site.read(key)).body
  t.strictSame(stored, body(p(4, 'four'), p(1, 'one changed'), p(2, 'two typed away'), p(9, 'new away')))
  t.strictSame(shown(away), stored)
})

t.test('the body a Y document stands at outlives every pruning, and goes when it moves on', async (t) => {
  const key = await site.create(body(p(1, 'start'), p(2, 'typed here')))
  const live = await LiveProcess.open(site, key)
  for (let round = 0; round < 25; round++) await site.write(key, (old) => body(p(1, `write ${round}`), old.content[1]))
  const newest = Array.from({ length: 21 }, (_, index) => index + 6)
  t.strictSame(await site.keptBodies(key), [1, ...newest])
  textAt(live.doc, 1).insert(0, 'still ')
  await live.flush()
  t.strictSame((await site.read(key)).body, body(p(1, 'write 24'), p(2, 'still typed here')))
  t.strictSame(await site.keptBodies(key), [...newest.slice(0, -1), 27], 'no snapshot points at 1 and 26')
  await site.client.delete(`/documents/${key.id}`, undefined, { 'if-match': '*' })
})

t.test('typing makes events and jobs as API writes do, but no snapshots', async (t) => {
  const key = await site.create(body(p(1, 'start')))
  const live = await LiveProcess.open(site, key)
  const before = (await site.read(key)).document
  for (const word of ['one ', 'two ']) {
    textAt(live.doc, 0).insert(0, word)
    await live.flush()
  }
  const { document } = await site.read(key)
  t.match(document, { body_seq: before.body_seq + 2, version_seq: before.version_seq, character_count: 13 })
  t.ok(document.updated_at >= before.updated_at)
  t.strictSame(await site.keptBodies(key), [document.body_seq])
  t.strictSame((await site.client.get(`/documents/${key.id}/versions`)).body.data, [])
  const events = await site.service.database.anyFirst(sql.unsafe`
    SELECT name FROM events WHERE document_id = ${key.id} ORDER BY row_no`)
  t.strictSame(events, ['document.created', 'document.content.updated', 'document.content.updated'])
  const stale = await site.service.database.anyFirst(sql.unsafe`
    SELECT projection FROM stale_projections WHERE document_id = ${key.id} ORDER BY projection`)
  const dependent = projections.filter(({ dependsOn, enrolledIn }) => dependsOn.includes('body') && !enrolledIn)
  t.strictSame(stale, dependent.map(({ name }) => name).sort())
})

t.test('what was typed and taken back is kept for other browsers although the body stays the same', async (t) => {
  const key = await site.create(body(p(1, 'start')))
  const [live, other] = [await LiveProcess.open(site, key), await LiveProcess.open(site, key)]
  const version = (await site.read(key)).document.version
  textAt(live.doc, 0).insert(0, 'x')
  textAt(live.doc, 0).delete(0, 1)
  t.match(await live.flush(), { changed: false, document: { version, body_seq: 1 } })
  t.equal((await site.head(key)).n, 1)
  await other.sync()
  t.strictSame(Y.encodeStateVector(other.doc), Y.encodeStateVector(live.doc))
  t.match(await live.flush(), { changed: false })
  t.equal((await site.head(key)).n, 1, 'an empty flush stores nothing')
})

t.test('text that does not fit any more is refused and can be flushed once it fits', async (t) => {
  const key = await site.create(body(p(1, 'start')))
  const live = await LiveProcess.open(site, key)
  const limit = site.service.config.QUOTA_DOCUMENT_CHARACTERS
  textAt(live.doc, 0).insert(0, 'x'.repeat(limit))
  await t.rejects(live.flush(), { code: 'document_too_large' })
  t.match(await site.head(key), { n: 0 })
  textAt(live.doc, 0).delete(0, limit - 3)
  await live.flush()
  t.strictSame((await site.read(key)).body, body(p(1, 'xxxstart')))
})

t.test('an image of an attachment that nobody knows does not keep text from being saved', async (t) => {
  const key = await site.create(body(p(1, 'start')))
  const live = await LiveProcess.open(site, key)
  const image = new Y.XmlElement('image')
  image.setAttribute('id', idFrom(2))
  image.setAttribute('attachmentId', 'att_00000000000000000000000001')
  bodyFragment(live.doc).insert(1, [image])
  await live.flush()
  t.strictSame((await site.read(key)).body, shown(live.doc))
})

t.test('folding the log loses nothing, whatever a replica has seen of it', async (t) => {
  const key = await site.create(body(p(1, 'start')))
  const [live, behind] = [await LiveProcess.open(site, key), await LiveProcess.open(site, key)]
  for (let round = 0; round < 100; round++) {
    textAt(live.doc, 0).insert(0, 'x')
    textAt(live.doc, 0).delete(0, 1)
  }
  await site.run(async ({ tx }) => advance(tx, { ...key, n: 0, updates: live.pending, body_seq: 1, earlier: [] }))
  await live.restart()
  t.match(await site.head(key), { n: 200, folded_n: 0 })
  textAt(live.doc, 0).insert(0, '200 ')
  await live.flush()
  t.match(await site.head(key), { n: 201, folded_n: 0 })
  t.ok(live.replica.isLogLong)
  await live.compact()
  t.match(await site.head(key), { n: 201, folded_n: 201 })
  textAt(live.doc, 0).insert(0, '201 ')
  await live.flush()
  t.match(await site.head(key), { n: 202, folded_n: 201 })
  await live.compact()
  t.match(await site.head(key), { n: 202, folded_n: 202 })
  await live.compact()
  await behind.sync()
  const stored = (await site.read(key)).body
  t.equal(words(stored), '201 200 start')
  for (const { doc } of [live, behind, await LiveProcess.open(site, key)]) t.strictSame(shown(doc), stored)
  textAt(behind.doc, 0).insert(0, 'on ')
  await behind.flush()
  await live.sync()
  t.strictSame(shown(live.doc), (await site.read(key)).body)
})

t.test('typing that overtakes what it builds on waits for it, also across a fold', async (t) => {
  const key = await site.create(body(p(1, 'start')))
  const [slow, fast] = [await LiveProcess.open(site, key), await LiveProcess.open(site, key)]
  const browser = new Y.Doc()
  exchange(browser, slow.doc)
  textAt(browser, 0).insert(0, 'first ')
  exchange(browser, slow.doc)
  const vector = Y.encodeStateVector(browser)
  textAt(browser, 0).insert(6, 'second ')
  Y.applyUpdate(fast.doc, Y.encodeStateAsUpdate(browser, vector))
  fast.pending = [Y.encodeStateAsUpdate(browser, vector)]
  await fast.flush()
  await fast.compact()
  t.strictSame((await site.read(key)).body, body(p(1, 'start')))
  await slow.flush()
  t.strictSame((await site.read(key)).body, body(p(1, 'first second start')))
})

t.test('a large body is stored as its editors see it, wherever they change it', async (t) => {
  const filler = 'Störche und andere große Vögel 🦩 '.repeat(8)
  const key = await site.create(body(...Array.from({ length: 160 }, (_, index) => p(index + 1, `${index} ${filler}`))))
  const live = await LiveProcess.open(site, key)
  let next = 1000
  const place = fc.oneof(fc.constantFrom(0, 1, -1, -2), fc.nat(200))
  const edit = fc.record({
    kind: fc.constantFrom('type', 'add', 'remove'),
    place,
    text: fc.string({ unit: 'grapheme' }),
  })
  const run = ({ kind, place, text }: { kind: string; place: number; text: string }) => {
    const blocks = bodyFragment(live.doc)
    const index = place < 0 ? Math.max(blocks.length + place, 0) : place % blocks.length
    if (kind === 'type') textAt(live.doc, index).insert(0, text.toWellFormed().replaceAll('\0', ''))
    if (kind === 'remove' && blocks.length > 150) blocks.delete(index, 1)
    if (kind === 'add') blocks.insert(place < 0 ? blocks.length : index, [paragraphElement(next++, `new ${filler}`)])
  }
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async (edits) => {
      edits.forEach(run)
      const { document } = await live.flush()
      const stored = await site.read(key)
      if (document.version !== stored.document.version) throw new Error('the version differs')
      if (JSON.stringify(stored.body) !== JSON.stringify(shown(live.doc))) throw new Error('the body differs')
    }),
    runsTimes(0.4),
  )
  t.pass()
})

t.test('editors of a large body get what programs write, wherever they write it', async (t) => {
  const filler = 'Störche und andere große Vögel 🦩 '.repeat(8)
  const key = await site.create(body(...Array.from({ length: 160 }, (_, index) => p(index + 1, `${index} ${filler}`))))
  const live = await LiveProcess.open(site, key)
  let next = 1000
  const place = fc.oneof(fc.constantFrom(0, 1, -1, -2), fc.nat(200))
  const edit = fc.record({ kind: fc.constantFrom('write', 'add', 'remove', 'move'), place, length: fc.nat(60) })
  const run = (content: BlockNode[], { kind, place, length }: { kind: string; place: number; length: number }) => {
    const index = place < 0 ? Math.max(content.length + place, 0) : place % content.length
    const removed =
      kind === 'add' || content.length < 100 ? [] : content.splice(index, kind === 'write' ? 1 : 1 + (length % 3))
    if (kind === 'write') content.splice(index, 0, p(next++, `written ${filler.repeat(length % 4)}`))
    if (kind === 'add') content.splice(place < 0 ? content.length : index, 0, p(next++, `new ${filler.repeat(length)}`))
    if (kind === 'move') content.splice(length % (content.length + 1), 0, ...removed)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), fc.boolean(), async (edits, isTyping) => {
      await site.write(key, ({ content }) => {
        const edited = [...content]
        for (const one of edits) run(edited, one)
        return body(...edited)
      })
      if (isTyping) textAt(live.doc, 3).insert(0, 'typed ')
      await (isTyping ? live.flush() : live.sync())
      const stored = (await site.read(key)).body
      if (JSON.stringify(stored) !== JSON.stringify(shown(live.doc))) throw new Error('the body differs')
    }),
    runsTimes(0.4),
  )
  t.pass()
})

t.test('live processes are told of writes to documents they may hold, and of no others', async (t) => {
  const [opened, other] = [await site.create(body(p(1, 'a'))), await site.create(body(p(1, 'a')))]
  const live = await LiveProcess.open(site, opened)
  const { heard, end } = await listening(t)
  await site.write(other, () => body(p(1, 'b')))
  await site.write(opened, () => body(p(1, 'b')))
  await site.write(opened, () => body(p(1, 'b')))
  await site.write(opened, () => body(p(1, 'c')))
  await live.sync()
  textAt(live.doc, 0).insert(0, 'x')
  await live.flush()
  textAt(live.doc, 0).insert(0, 'y')
  textAt(live.doc, 0).delete(0, 1)
  await live.flush()
  await site.write(opened, () => body(p(1, 'd')))
  textAt(live.doc, 0).insert(0, 'z')
  await live.flush()
  await end()
  const { id } = opened
  t.strictSame(heard, [`${id} 2 0`, `${id} 3 0`, `${id} 4 2 typed`, `${id} 4 3 typed`, `${id} 5 0`, `${id} 6 5`])
})

t.test('a deleted document cannot be opened, and takes its Y document along', async (t) => {
  const key = await site.create(body(p(1, 'a')))
  const live = await LiveProcess.open(site, key)
  textAt(live.doc, 0).insert(0, 'x')
  await live.flush()
  t.equal((await site.client.delete(`/documents/${key.id}`, undefined, { 'if-match': '*' })).status, 204)
  const gone = { code: 'document_not_found' }
  await t.rejects(live.sync(), gone)
  await t.rejects(live.flush(), gone)
  await t.rejects(LiveProcess.open(site, key), gone)
  await live.compact()
  const left = await site.service.database.anyFirst(sql.unsafe`
    SELECT n FROM document_y_states WHERE document_id = ${key.id}
    UNION ALL SELECT n FROM document_y_updates WHERE document_id = ${key.id}`)
  t.strictSame(left, [])
})

t.test('a document of another workspace cannot be opened', async (t) => {
  const key = await site.create(body(p(1, 'a')))
  const other = { ...key, workspace_id: 'ws_00000000000000000000000000' }
  await t.rejects(openLive(site.live, other), { code: 'document_not_found' })
})

t.test(
  'people type, split and leave while programs write: all end with one document and no word is lost',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(randomBody(), fc.array(randomStep(), { minLength: 5, maxLength: 20 }), async (start, steps) => {
        const session = await Session.start(site, start)
        for (const step of steps) await session.run(step)
        await session.finish()
      }),
    )
    t.pass()
  },
)

t.test('processes that hear of a write at the same moment make one step of it', async (t) => {
  const key = await site.create(body(p(1, 'one'), p(2, 'two')))
  const processes = await Promise.all([1, 2, 3].map(() => LiveProcess.open(site, key)))
  await site.write(key, () => body(p(3, 'new'), p(2, 'two'), p(1, 'one')))
  await Promise.all(processes.map((live) => live.sync({ isBehind: true })))
  t.match(await site.head(key), { n: 1, body_seq: 2 })
  for (const { doc } of processes) {
    t.strictSame(shown(doc), body(p(3, 'new'), p(2, 'two'), p(1, 'one')))
    t.strictSame(Y.encodeStateVector(doc), Y.encodeStateVector((processes[0] as LiveProcess).doc))
  }
})

t.test('a process tells its own flushes from those of others that leave the body as it was', async (t) => {
  const key = await site.create(body(p(1, 'a')))
  const [live, other] = [await LiveProcess.open(site, key), await LiveProcess.open(site, key)]
  const { heard, end } = await listening(t)
  textAt(live.doc, 0).insert(0, 'x')
  textAt(live.doc, 0).delete(0, 1)
  await live.flush()
  await end()
  const [change] = heard.map(readChangedBody)
  t.ok(change && live.replica.knows(change))
  t.notOk(change && other.replica.knows(change), 'the other process has to read the row')
  await other.sync()
  t.ok(change && other.replica.knows(change))
  t.strictSame(Y.encodeStateVector(other.doc), Y.encodeStateVector(live.doc))
})

t.test('catching up reads two bodies, however many the history keeps', async (t) => {
  const key = await site.create(body(p(1, 'start')))
  const live = await LiveProcess.open(site, key)
  for (let round = 0; round < 20; round += 1) await site.write(key, () => body(p(1, `round ${round}`)))
  t.equal((await site.keptBodies(key)).length, 21)
  const { n } = await site.head(key)
  const read = await site.run(async ({ tx }) => {
    // The view also counts transactions before this one, until PostgreSQL reports them.
    const countFetched = async () =>
      Number(
        await tx.oneFirst(sql.unsafe`
          SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'document_bodies'`),
      )
    const before = await countFetched()
    await lockedMoves(tx, { ...key, n, isDoubtful: false })
    return (await countFetched()) - before
  })
  t.equal(read, 2)
  await live.sync()
  t.strictSame(shown(live.doc), body(p(1, 'round 19')))
})

// Hears notifications until `end` is called.
async function listening(t: Teardown): Promise<{ heard: string[]; end: () => Promise<void> }> {
  const listener = new pg.Client(site.service.url)
  await listener.connect()
  t.teardown(() => listener.end())
  await listener.query(`LISTEN ${liveBodiesChannel}`)
  const heard: string[] = []
  const over = new Promise<void>((resolve) => {
    listener.on('notification', ({ payload = '' }) => (payload === 'end' ? resolve() : heard.push(payload)))
  })
  const end = async () => {
    await site.service.database.query(sql.unsafe`SELECT pg_notify(${liveBodiesChannel}, 'end')`)
    await over
  }
  return { heard, end }
}
