import pg from 'pg'
import type { Client } from '../../support/client.ts'
import { rowsReadBy, statementsOf } from '../../support/plans.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'

/*
 * Manual orders of long lists: what a position, a duplicate and a page read and write among 10,000 siblings.
 */

const siblings = 10_000
const service = await startTestService(t, { QUOTA_DOCUMENTS: '100000' })
const client = new pg.Client(service.url)
await client.connect()
t.teardown(() => client.end())

for (const place of ['a folder', 'the root'] as const) {
  t.test(`who places a document among 10,000 in ${place} waits for no writer, and writes keys alone`, async (t) => {
    const ada = await service.signUp()
    const { base, folder, ids } = await longList(ada)
    if (place === 'the root') await client.query(`UPDATE documents SET folder_id = NULL WHERE folder_id = $1`, [folder])
    const [moved = ''] = ids
    const before = await rowsOf(base)
    // Each of the others is being written.
    await client.query('BEGIN')
    await client.query(`SELECT FROM documents WHERE knowledge_base_id = $1 AND id <> $2 FOR UPDATE`, [base, moved])
    const last = await ada.patch(`/documents/${moved}`, { position: 'last' })
    const between = await ada.patch(`/documents/${moved}`, { position: { after: ids[5000] } })
    await client.query('ROLLBACK')
    t.equal(last.status, 200, last.text)
    t.equal(between.status, 200, between.text)
    t.equal(await placedIn(base), siblings)
    t.strictSame(await rowsOf(base), before, 'no document and no title was written')
    const expected = [...ids.slice(1, 5001), moved, ...ids.slice(5001)]
    const tree = (await ada.get(`/knowledge-bases/${base}/tree?sort=manual`)).body.data.children
    const listed = place === 'the root' ? tree.slice(1) : tree[0].children
    t.strictSame(
      listed.map(({ id }: { id: string }) => id),
      expected,
    )
    await client.query('ANALYZE document_order')
    const reading = await statementsOf(async () => {
      for (const position of ['first', { before: ids[9000] }, { after: ids[20] }, 'last']) {
        t.equal((await ada.patch(`/documents/${ids[7000]}`, { position })).status, 200)
      }
    })
    const ofOrder = reading.filter(({ text }) => /^\s*SELECT/.test(text) && text.includes('document_order'))
    t.ok(ofOrder.length > 0)
    for (const statement of ofOrder) {
      const { most, plan } = await rowsReadBy(client, statement)
      t.ok(most <= 20, `a move in a placed list reads ${most} rows`, { statement: statement.text, plan })
    }
  })
}

t.test('a duplicate in a list that nobody has ordered leaves the list in the order of titles', async (t) => {
  const ada = await service.signUp()
  const { base, ids } = await longList(ada)
  const [first, , third] = [ids[9000], ids[9001], ids[9002]]
  const copies: string[] = []
  for (const body of [{}, {}, { title: 'Document 09000!' }]) {
    const reply = await ada.post(`/documents/${first}/duplicate`, body)
    t.equal(reply.status, 201, reply.text)
    copies.push(reply.body.data.id)
  }
  t.equal(await placedIn(base), 9002, 'only a title that belongs elsewhere needs a place')
  await client.query(`UPDATE document_order SET order_key = NULL WHERE knowledge_base_id = $1`, [base])
  await ada.delete(`/documents/${copies.pop()}`)
  await ada.patch(`/documents/${first}`, { title: 'Document 09002, or so' })
  const [{ children }] = (await ada.get(`/knowledge-bases/${base}/tree?sort=manual`)).body.data.children
  const around = children.slice(8999, 9006).map(({ id }: { id: string }) => id)
  t.strictSame(around, [ids[8999], ...copies, ids[9001], third, first, ids[9003]], 'so a new title moves it')
})

t.test('a page in the manual order reads no more than a page, whoever is placed', async (t) => {
  const ada = await service.signUp()
  const { base, folder, ids } = await longList(ada)
  for (const placed of [0, siblings / 2 + 25, siblings]) {
    await client.query(
      `UPDATE document_order SET order_key = CASE WHEN title <= $2 COLLATE "C" THEN 'a' || title END
       WHERE knowledge_base_id = $1`,
      [base, titleOf(placed - 1)],
    )
    await client.query('VACUUM ANALYZE document_order')
    const path = `/folders/${folder}/children?sort=manual`
    for (const seen of [0, siblings / 2, siblings - 100]) {
      let cursor = ''
      for (let count = 0; count < seen; count += 100) {
        cursor = `&cursor=${(await ada.get(`${path}&limit=100${cursor}`)).body.page.next_cursor}`
      }
      const statements = await statementsOf(async () => {
        const { data } = (await ada.get(`${path}&limit=50${cursor}`)).body
        t.strictSame(
          data.map(({ id }: { id: string }) => id),
          ids.slice(seen, seen + 50),
        )
      })
      for (const statement of statements) {
        const { most, plan } = await rowsReadBy(client, statement)
        if (most > 200) t.fail(`${placed} are placed: a page after ${seen} reads ${most} rows`, { plan })
      }
    }
  }
})

const titleOf = (index: number) => `Document ${String(index).padStart(5, '0')}`

/** Makes a folder with 10,000 documents, and returns their ids in the order of their titles. */
async function longList(ada: Client) {
  const base: number = (await ada.post('/knowledge-bases', { name: 'Long' })).body.data.id
  const folder: number = (await ada.post('/folders', { name: 'F', knowledge_base_id: base })).body.data.id
  const first: string = (await ada.post('/documents', { title: titleOf(0), folder_id: folder })).body.data.id
  await client.query(
    `INSERT INTO document_directory (id, workspace_id)
     SELECT $1 || '_' || n, workspace_id FROM documents, generate_series(1, $2::int - 1) AS n WHERE id = $1`,
    [first, siblings],
  )
  for (const [table, id, members] of [
    ['documents', 'id', `jsonb_build_object('title', 'Document ' || lpad(n::text, 5, '0'))`],
    ['document_bodies', 'document_id', `'{}'`],
  ]) {
    await client.query(
      `INSERT INTO ${table} SELECT r.* FROM ${table} t, generate_series(1, $2::int - 1) AS n,
         jsonb_populate_record(t, jsonb_build_object('${id}', $1 || '_' || n) || ${members}) AS r
       WHERE t.${id} = $1`,
      [first, siblings],
    )
  }
  await client.query('ANALYZE')
  return { base, folder, ids: [first, ...Array.from({ length: siblings - 1 }, (_, index) => `${first}_${index + 1}`)] }
}

/** The versions of all rows of documents and of their titles. */
async function rowsOf(base: number) {
  const { rows } = await client.query(
    `SELECT (SELECT sum(xmin::text::bigint) FROM documents WHERE knowledge_base_id = $1) AS documents,
       (SELECT sum(xmin::text::bigint) FROM document_titles WHERE knowledge_base_id = $1) AS titles`,
    [base],
  )
  return rows
}

async function placedIn(base: number): Promise<number> {
  const { rows } = await client.query(
    `SELECT count(*)::int FROM document_order WHERE knowledge_base_id = $1 AND order_key IS NOT NULL`,
    [base],
  )
  return rows[0].count
}
