import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { blockId, p, text } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, eventsOf, type Made, make, put, refused } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService({ VERSIONS_RETENTION: '1000' })
const writers = Array.from({ length: 50 }, (_, index) => index)

t.test('of fifty writers with one guard one wins each version, and the others learn what it changed', async (t) => {
  const ada = await signUp()
  const made = await make(ada, writers.map(paragraph))
  let { version } = made
  for (let round = 0; round < 3; round++) {
    const replies = await Promise.all(
      writers.map((writer) => patch(ada, made, { writer, word: `round ${round}`, guard: version })),
    )
    const winners = writers.filter((writer) => replies[writer]?.status === 200)
    t.equal(winners.length, 1)
    const [winner = -1] = winners
    const next: string = replies[winner]?.body.data.version
    const conflict = {
      status: 409,
      code: 'version_conflict',
      details: { provided: version, current_version: next, changed_block_ids: [idOf(made, winner)] },
    }
    for (const [writer, reply] of replies.entries()) if (writer !== winner) refused(t, reply, conflict)
    version = next
  }
  t.equal((await bodyOf(ada, made.id)).version, version)
  t.equal((await ada.get(`/documents/${made.id}/versions`)).body.data.length, 3, 'only winners leave a version')
})

t.test('losers come through by the conflict alone, and every version has one successor', async (t) => {
  const ada = await signUp()
  const made = await make(ada, writers.map(paragraph))
  const successors = new Map<string, string>()
  let conflicts = 0
  await Promise.all(
    writers.slice(0, 20).map(async (writer) => {
      for (let guard = made.version; ; ) {
        const { status, body } = await patch(ada, made, { writer, word: 'done', guard })
        if (status === 200) {
          t.notOk(successors.has(guard), 'one winner for each version')
          successors.set(guard, body.data.version)
          return
        }
        conflicts += 1
        const { changed_block_ids: changed, current_version: current } = body.error.details
        if (status !== 409 || changed.includes(idOf(made, writer))) throw new Error(JSON.stringify(body))
        guard = current
      }
    }),
  )
  t.ok(conflicts > 0, 'they did meet')
  const chain = [made.version]
  for (let next = successors.get(made.version); next !== undefined; next = successors.get(next)) chain.push(next)
  t.equal(chain.length, 21)
  const now = await bodyOf(ada, made.id)
  t.equal(chain.at(-1), now.version)
  t.strictSame(
    textsOf(now),
    writers.map((writer) => (writer < 20 ? 'done' : String(writer))),
  )
})

t.test('without guards fifty writers lose no block, and each finds its write in the history', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('first')])
  const replies = await Promise.all(
    writers.map((writer) =>
      ada.post(`/documents/${made.id}/blocks`, {
        position: writer % 2 === 0 ? { document_end: true } : { document_start: true },
        nodes: [paragraph(writer)],
      }),
    ),
  )
  t.strictSame(new Set(replies.map(({ status }) => status)), new Set([201]))
  const now = await bodyOf(ada, made.id)
  t.strictSame([...textsOf(now)].sort(), ['first', ...writers.map(String)].sort())

  const versions = (await ada.get(`/documents/${made.id}/versions`)).body.data
  t.strictSame(
    versions.map(({ seq }: { seq: number }) => seq),
    writers.map((index) => 50 - index),
    'versions without a gap',
  )
  const history = await storedBodies(made.id)
  t.equal(history.length, 51)
  t.strictSame(
    new Set(history.slice(1).map(({ version }) => version)),
    new Set(replies.map(({ body }) => body.data.version)),
  )
  for (const [index, { ids }] of history.entries()) t.equal(ids.length, index + 1, 'each adds one block')
  for (const [index, { ids }] of history.slice(1).entries()) {
    t.ok(
      history[index]?.ids.every((id) => ids.includes(id)),
      'and keeps the rest',
    )
  }
  t.strictSame(await eventsOf(database, made.id), [
    'document.created',
    ...writers.map(() => 'document.content.updated'),
  ])
})

t.test('writers of different blocks guarded by those blocks never disturb each other', async (t) => {
  const ada = await signUp()
  const made = await make(ada, writers.map(paragraph))
  const blocks = (await ada.get(`/documents/${made.id}/blocks`)).body.data
  const hashes: string[] = blocks.map(({ hash }: { hash: string }) => hash)
  const replies = await Promise.all(
    writers.map((writer) => patch(ada, made, { writer, word: `new ${writer}`, guard: hashes[writer] ?? '' })),
  )
  t.strictSame(new Set(replies.map(({ status }) => status)), new Set([200]))
  t.strictSame(
    textsOf(await bodyOf(ada, made.id)),
    writers.map((writer) => `new ${writer}`),
  )

  const { hash } = (await ada.get(`/documents/${made.id}/blocks/${idOf(made, 7)}`)).body.data
  const rivals = await Promise.all(
    writers.slice(0, 20).map((rival) => patch(ada, made, { writer: 7, word: `rival ${rival}`, guard: hash })),
  )
  t.equal(rivals.filter(({ status }) => status === 200).length, 1, 'of one block one wins')
  t.equal(rivals.filter(({ status }) => status === 409).length, 19)
})

t.test('batches, replacements and deletions in parallel are each whole or not at all', async (t) => {
  const ada = await signUp()
  const made = await make(ada, writers.map(paragraph))
  const batches = writers.slice(0, 15).map((batch) => {
    const nodes = ['a', 'b', 'c'].map((part) => p(`${batch}${part}`))
    const operations = [
      { op: 'delete', block_id: idOf(made, batch) },
      { op: 'insert', position: { before_block_id: idOf(made, 40) }, nodes },
      ...(batch % 5 === 0 ? [{ op: 'delete', block_id: blockId('A') }] : []),
    ]
    return ada.post(`/documents/${made.id}/batch`, { operations })
  })
  const deletions = writers
    .slice(10, 25)
    .map((writer) => ada.delete(`/documents/${made.id}/blocks/${idOf(made, writer)}`))
  const [batched, deleted] = await Promise.all([Promise.all(batches), Promise.all(deletions)])
  const texts = textsOf(await bodyOf(ada, made.id))
  for (const [batch, { status }] of batched.entries()) {
    const start = texts.indexOf(`${batch}a`)
    const found = start === -1 ? [] : texts.slice(start, start + 3)
    t.strictSame(found, status === 200 ? [`${batch}a`, `${batch}b`, `${batch}c`] : [], `batch ${batch}: ${status}`)
    if (batch % 5 === 0) t.equal(status, 422)
    else if (batch < 10) t.equal(status, 200)
  }
  for (const [index, { status }] of deleted.entries()) {
    const rival = batched[index + 10]?.status
    if (rival === 200) t.equal(status, 404, 'the batch was first')
    else t.equal(status, 200)
  }
  t.strictSame(texts.filter((word) => /^\d+$/.test(word)).map(Number), [0, 5, ...writers.slice(25)])
})

t.test('rollbacks among writes restore exactly what their version held', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('0')])
  for (const word of ['1', '2', '3', '4']) await put(ada, made.id, [p(word)])
  const path = `/documents/${made.id}`
  const replies = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      index % 2 === 0
        ? ada.post(`${path}/versions/${(index % 4) + 1}/rollback`, undefined, { 'if-match': '*' })
        : put(ada, made.id, [p(`w${index}`)]),
    ),
  )
  for (const { status, body } of replies) {
    t.equal(status, 200)
    const { restored_seq: seq, document } = body.data
    if (seq !== undefined) t.equal(document.content[0].content[0].text, String(seq - 1))
  }
  t.equal((await ada.get(`${path}/versions`)).body.data.length, 28)
})

t.test('of creates with the same id one makes the document, in whichever workspace', async (t) => {
  const [ada, bob] = [await signUp(), await signUp()]
  const base = async (client: Client) => (await client.post('/knowledge-bases', { name: 'x' })).body.data.id as number
  const [adas, bobs] = [await base(ada), await base(bob)]
  for (let round = 0; round < 3; round++) {
    const id = `doc_race-${round}-${ada.user_id.slice(-6)}`
    const create = (client: Client, knowledge_base_id: number) =>
      client.post('/documents', { title: 'x', id, knowledge_base_id })
    const replies = await Promise.all(writers.slice(0, 12).map((n) => (n % 2 ? create(ada, adas) : create(bob, bobs))))
    t.equal(replies.filter(({ status }) => status === 201).length, 1)
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      refused(t, reply, { status: 409, code: 'document_id_conflict', details: { id } })
    }
    t.strictSame(await eventsOf(database, id), ['document.created'])
  }
})

function paragraph(writer: number) {
  return p(String(writer))
}

function idOf(made: Made, writer: number): string {
  return made.blocks[writer]?.attrs.id ?? ''
}

function patch(client: Client, made: Made, write: { writer: number; word: string; guard: string }): Promise<Reply> {
  const path = `/documents/${made.id}/blocks/${idOf(made, write.writer)}`
  return client.patch(path, { content: [text(write.word)] }, { 'if-match': `"${write.guard}"` })
}

function textsOf({ blocks }: Made): string[] {
  return blocks.map(({ content }) => String(content?.[0]?.text ?? ''))
}

const History = row(Type.Object({ version: Type.String(), body: Type.String() }))

/** All bodies that a document has had, oldest first, with the ids of their blocks. */
async function storedBodies(id: string): Promise<{ version: string; ids: string[] }[]> {
  const rows = await database.any(sql.type(History)`
    SELECT version, body FROM document_bodies WHERE document_id = ${id} ORDER BY body_seq`)
  return rows.map(({ version, body }) => ({
    version,
    ids: body.split('\n').map((line) => (JSON.parse(line) as { attrs: { id: string } }).attrs.id),
  }))
}
