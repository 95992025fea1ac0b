import { computationLoad } from '../../shared/computations/compute.ts'
import { p } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, eventsOf, make, put, refused } from '../support/documents.ts'
import { onlyLong } from '../support/run-options.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService({ VERSIONS_RETENTION: '1000' })

const filler = 'some words of a long text '.repeat(10)

/** Blocks of about 450 kB in total, whose texts all begin with the word. */
function large(word: string) {
  return Array.from({ length: 1500 }, (_, index) => p(`${word} ${index} ${filler}`))
}

t.test('the event loop neither reads nor compares a large body, and a small body costs no thread', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('small')])
  const idle = computationLoad().ends.done
  await put(ada, made.id, [p('still small')])
  t.equal(computationLoad().ends.done, idle)
  t.equal((await put(ada, made.id, large('a'))).status, 200)
  t.equal(computationLoad().ends.done, idle + 2, 'it was read, then normalised and compared, in threads')
})

t.test('of large bodies written over each other none is lost or mixed', onlyLong, async (t) => {
  const ada = await signUp()
  const made = await make(ada, large('first'))
  const words = ['a', 'b', 'c', 'd', 'e']
  const replies = await Promise.all(words.map((word) => put(ada, made.id, large(word))))
  t.strictSame(
    replies.map(({ status }) => status),
    words.map(() => 200),
  )
  for (const [index, reply] of replies.entries()) t.equal(wordOf(reply.body.data.document.content), words[index])
  t.equal((await versionsOf(ada, made.id)).length, words.length)
  t.equal((await eventsOf(database, made.id)).length, 1 + words.length)
  t.ok(words.includes(wordOf((await bodyOf(ada, made.id)).blocks)))
})

t.test('of large bodies with the same guard one wins, and the others learn that they have lost', async (t) => {
  const ada = await signUp()
  const made = await make(ada, large('first'))
  const replies = await Promise.all(['a', 'b', 'c'].map((word) => put(ada, made.id, large(word), made.etag)))
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 409, 409])
  const winner = replies.find(({ status }) => status === 200)
  for (const reply of replies.filter(({ status }) => status === 409)) {
    t.match(reply.body.error, { code: 'version_conflict', details: { current_version: winner?.body.data.version } })
    t.equal(reply.body.error.details.changed_block_ids.length, 100)
  }
  t.equal((await versionsOf(ada, made.id)).length, 1)
})

t.test('a block changed while a large body is prepared is in the history, never half in the body', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('first')])
  const [block] = made.blocks
  const patch = () => ada.patch(`/documents/${made.id}/blocks/${block?.attrs.id}`, { node: p('patched') })
  const writing = put(ada, made.id, large('second'))
  const patches: Reply[] = []
  for (let ended = false; !ended; ) {
    patches.push(await patch())
    ended = await Promise.race([writing.then(() => true), new Promise<false>((next) => setImmediate(next, false))])
  }
  t.equal((await writing).status, 200)
  // The new body has new block ids, so the block no longer exists.
  for (const { status } of patches) t.ok(status === 200 || status === 404, String(status))
  const won = patches.filter(({ status }) => status === 200).length
  t.ok(won > 0, 'they did meet')
  t.equal((await versionsOf(ada, made.id)).length, won + 1, 'each write that was acknowledged has its version')
  t.notOk((await bodyOf(ada, made.id)).blocks.some(({ content }) => content?.[0]?.text === 'patched'))
})

t.test('edits of blocks of a large body do not lose each other', onlyLong, async (t) => {
  const ada = await signUp()
  const made = await make(ada, large('first'))
  const chosen = made.blocks.slice(0, 8)
  const replies = await Promise.all(
    chosen.map((block, index) =>
      ada.patch(`/documents/${made.id}/blocks/${block.attrs.id}`, { node: p(`edit ${index}`) }),
    ),
  )
  t.strictSame(
    replies.map(({ status, body }) => [status, body.data?.text]),
    chosen.map((_, index) => [200, `edit ${index}`]),
  )
  const { blocks } = await bodyOf(ada, made.id)
  t.strictSame(
    blocks.slice(0, 9).map(({ content }) => content?.[0]?.text?.slice(0, 7)),
    [...chosen.map((_, index) => `edit ${index}`), 'first 8'],
  )
})

t.test(
  'a large insertion and a large batch answer as small ones do, also when they are repeated',
  onlyLong,
  async (t) => {
    const ada = await signUp()
    const made = await make(ada, large('first').slice(0, 300))
    const nodes = large('new').slice(0, 1000)
    const insert = () =>
      ada.post(
        `/documents/${made.id}/blocks`,
        { position: { document_start: true }, nodes },
        { 'idempotency-key': 'i' },
      )
    const inserted = await insert()
    t.equal(inserted.status, 201)
    t.equal(inserted.body.data.blocks.length, 1000)
    t.match(inserted.body.data.blocks[7], { text: `new 7 ${filler.trim()}`, version: inserted.body.data.version })
    const again = await insert()
    t.equal(again.headers.get('idempotent-replayed'), 'true')
    t.strictSame(again.body.data, inserted.body.data)
    const other = await ada.post(
      `/documents/${made.id}/blocks`,
      { position: { document_end: true }, nodes },
      { 'idempotency-key': 'i' },
    )
    refused(t, other, { status: 409, code: 'idempotency_key_reused' })
    const operations = inserted.body.data.block_ids
      .slice(0, 100)
      .map((block_id: string) => ({ op: 'replace', block_id, node: p(`batched ${filler}`) }))
    const batched = await ada.post(`/documents/${made.id}/batch`, { operations })
    t.equal(batched.body.data.applied, 100)
    t.equal((await bodyOf(ada, made.id)).version, batched.body.data.version)
  },
)

t.test('what is wrong with a large body is told as with a small one', onlyLong, async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a')])
  const wrong = Array.from({ length: 30 }, () => ({ op: 'insert', nodes: 5 }))
  const sent = (unread: string) => ada.post(`/documents/${made.id}/batch`, { operations: wrong, unread })
  const [small, big] = [await sent(''), await sent('x'.repeat(500_000))]
  t.equal(small.status, 400)
  t.strictSame(big.body.error.details, small.body.error.details)
  t.equal(big.body.error.details.fields.length, 20)

  const broken = (space: string) =>
    ada.call('POST', '/documents', { raw: `{"title":"a",${space}"content":}` }).then(({ body }) => body.error)
  t.match(await broken(''), { code: 'invalid_json', message: /at line 1, column 24, expected a value/ })
  t.match(await broken(`\n${' '.repeat(500_000)}\n`), { message: /at line 3, column 11, expected a value/ })

  const unknown = { attrs: { id: 'block_x' }, type: 'paragraph' }
  refused(t, await put(ada, made.id, [...large('a'), unknown]), {
    status: 422,
    code: 'invalid_block_id',
    details: { path: '/document/content/1500', reason: 'a block id is block_ and a ULID in upper case' },
  })
  t.equal((await ada.put('/documents/doc_gone/content', largeInput(), { 'if-match': '*' })).status, 404)
})

t.test('the stale guard of a large body is refused before the body is worked out', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('a')])
  const before = computationLoad().ends.done
  const reply = await ada.put(`/documents/${made.id}/content`, largeInput(), { 'if-match': '"sha256:0"' })
  t.equal(reply.status, 409)
  t.equal(computationLoad().ends.done - before, 1, 'it was only read')
})

function largeInput() {
  return { format: 'tiptap-json', document: { type: 'doc', content: large('a') } }
}

async function versionsOf(client: Client, id: string): Promise<unknown[]> {
  return (await client.get(`/documents/${id}/versions`)).body.data
}

/** The word with which all texts begin. Fails when the texts come from several bodies. */
function wordOf(blocks: readonly { content?: readonly { text?: string }[] }[]): string {
  const words = new Set(blocks.map(({ content }) => content?.[0]?.text?.split(' ')[0] ?? ''))
  if (words.size !== 1) throw new Error(`texts of ${[...words].join(', ')}`)
  return [...words].join()
}
