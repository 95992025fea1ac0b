import * as Y from 'yjs'
import { sql } from '../../shared/database/database.ts'
import { t } from '../support/tap.ts'
import { body, p } from './blocks.ts'
import { LiveProcess, Site, shown, textAt } from './site.ts'

/*
 * What people find in the history of a document that was edited live, whose names stand there, and what is refused.
 */

const site = await Site.start(t, { VERSIONS_RETENTION: '4', DOCUMENT_MAX_BYTES: '4096' })

t.test('a session of editing keeps the state before it and the state after it', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'))))
  await type(live, 'one ', 'before')
  await type(live, 'two ', 'none')
  await type(live, 'three ', 'after')
  t.strictSame(await texts(live), ['three two one start', 'start'])
  await live.flush(site.caller, 'after')
  t.strictSame(await texts(live), ['three two one start', 'start'], 'an unchanged state is not kept twice')
  await type(live, 'four ', 'before')
  t.strictSame(await texts(live), ['three two one start', 'start'], 'the newest version is the state before')
  await live.flush(site.caller, 'after')
  t.strictSame(await texts(live), ['four three two one start', 'three two one start', 'start'])
})

t.test('a session with one change keeps the states before and after it', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'))))
  await type(live, 'only ', 'before')
  await live.flush(site.caller, 'after')
  t.strictSame(await texts(live), ['only start', 'start'])
  t.match((await site.read(live.key)).document, { version_seq: 2 })
})

t.test('opening and closing a document keeps no version of a session without typing', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'))))
  textAt(live.doc, 0).insert(0, 'x')
  textAt(live.doc, 0).delete(0, 1)
  t.match(await live.flush(site.caller, 'before'), { changed: false })
  t.strictSame(await texts(live), [])
})

t.test('a version of a session names the last typist, and so does the document', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'))))
  const bob = await site.colleague('editor')
  await type(live, 'Ada ', 'before')
  textAt(live.doc, 0).insert(0, 'Bob ')
  await live.flush(bob, 'after')
  const { data } = (await site.client.get(`/documents/${live.key.id}/versions`)).body
  t.match(data, [
    { seq: 2, created_by: bob.userId },
    { seq: 1, created_by: site.caller.userId },
  ])
  t.equal((await site.read(live.key)).document.updated_by, bob.userId)
})

t.test('people roll back what was typed, also while text is on its way', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'), p(2, 'other'))))
  await type(live, 'bad ', 'before')
  textAt(live.doc, 1).insert(5, ' on its way')
  const rollback = await site.client.post(`/documents/${live.key.id}/versions/1/rollback`, undefined, {
    'if-match': '*',
  })
  t.equal(rollback.status, 200)
  await live.flush()
  const want = body(p(1, 'start'), p(2, 'other on its way'))
  t.strictSame((await site.read(live.key)).body, want)
  t.strictSame(shown(live.doc), want)
  t.strictSame(await texts(live), ['bad start other', 'start other'])
})

t.test('as many versions are kept as the setting says, with their bodies and no others', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'))))
  for (let round = 0; round < 6; round += 1) {
    await type(live, `${round} `, 'none')
    await type(live, `${round}! `, round % 2 === 0 ? 'after' : 'before')
    if (round === 3) await site.write(live.key, ({ content }) => body(...content, p(9, 'written')))
  }
  const kept = await texts(live)
  t.equal(kept.length, 4)
  const { document } = await site.read(live.key)
  const referred = await site.service.database.anyFirst(sql.unsafe`
    SELECT body_seq FROM document_versions WHERE document_id = ${live.key.id}
    UNION SELECT ${document.body_seq} ORDER BY body_seq`)
  t.strictSame(await site.keptBodies(live.key), referred)
})

t.test('what a person typed is stored although the person may not write any more', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'))))
  const bob = await site.colleague('editor')
  textAt(live.doc, 0).insert(0, 'Bob ')
  await site.service.database.query(sql.unsafe`DELETE FROM memberships WHERE user_id = ${bob.userId}`)
  await live.flush(bob)
  t.match((await site.read(live.key)).document, { updated_by: bob.userId })
  t.strictSame((await site.read(live.key)).body, body(p(1, 'Bob start')))
})

t.test('what a person typed outlives the account of that person', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'))))
  const bob = await site.colleague('editor')
  textAt(live.doc, 0).insert(0, 'Bob ')
  await site.service.database.query(sql.unsafe`DELETE FROM users WHERE id = ${bob.userId}`)
  await live.flush(bob, 'before')
  await live.flush(bob, 'after')
  t.match((await site.read(live.key)).document, { updated_by: null })
  t.strictSame((await site.read(live.key)).body, body(p(1, 'Bob start')))
  const { data } = (await site.client.get(`/documents/${live.key.id}/versions`)).body
  t.match(data, [{ created_by: null }, { created_by: null }])
})

t.test('a body over the limit of bytes is refused, and its text is kept until it fits', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'))))
  textAt(live.doc, 0).insert(0, 'x'.repeat(5000))
  await t.rejects(live.flush(), { code: 'document_too_large', details: { limit: 4096, unit: 'bytes' } })
  t.match(await site.head(live.key), { n: 0 })
  await site.write(live.key, ({ content }) => body(...content, p(2, 'written')))
  await live.sync()
  textAt(live.doc, 0).delete(0, 4999)
  await live.flush()
  t.strictSame((await site.read(live.key)).body, body(p(1, 'xstart'), p(2, 'written')))
})

t.test('text that is typed and deleted without end does not fill the database', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'start'))))
  const bound = 8 * 4096
  // Yjs merges what is typed and deleted again, but the log holds both until it is folded.
  for (let round = 0; round < 40; round += 1) {
    textAt(live.doc, 0).insert(0, 'x'.repeat(3000))
    textAt(live.doc, 0).delete(0, 3000)
    await live.flush()
    t.ok((await storedBytes(live.key.id)) <= bound)
  }
  t.strictSame((await site.read(live.key)).body, body(p(1, 'start')))
  // Many names of clients cannot be folded.
  const names = async () => {
    for (let round = 0; round < 3000; round += 1) {
      const browser = new Y.Doc()
      browser.getText('elsewhere').insert(0, 'x')
      live.pending.push(Y.encodeStateAsUpdate(browser))
    }
    await live.flush()
  }
  await t.rejects(names(), { code: 'document_too_large', details: { limit: bound, unit: 'bytes' } })
  t.ok((await storedBytes(live.key.id)) <= bound)
  live.pending = []
  await site.write(live.key, ({ content }) => body(...content, p(2, 'written')))
  await live.flush()
  t.strictSame((await site.read(live.key)).body, body(p(1, 'start'), p(2, 'written')), 'writes of the API still arrive')
})

async function type(live: LiveProcess, word: string, version: Parameters<LiveProcess['flush']>[1]): Promise<void> {
  textAt(live.doc, 0).insert(0, word)
  await live.flush(site.caller, version)
}

/** The texts of the versions of a document, newest first. */
async function texts(live: LiveProcess): Promise<string[]> {
  const rows = await site.service.database.anyFirst(sql.unsafe`
    SELECT b.body FROM document_versions v JOIN document_bodies b USING (workspace_id, document_id, body_seq)
    WHERE v.document_id = ${live.key.id} ORDER BY v.seq DESC`)
  return (rows as string[]).map((text) =>
    Array.from(text.matchAll(/"text":"([^"]*)"/g), ([, found]) => found).join(' '),
  )
}

async function storedBytes(id: string): Promise<number> {
  const bytes = await site.service.database.oneFirst(sql.unsafe`
    SELECT octet_length(state)::int + (
      SELECT coalesce(sum(octet_length(update)), 0)::int FROM document_y_updates WHERE document_id = ${id})
    FROM document_y_states WHERE document_id = ${id}`)
  return bytes as number
}
