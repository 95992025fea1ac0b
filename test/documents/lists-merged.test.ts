import fc from 'fast-check'
import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { make } from '../support/documents.ts'
import { runsTimes } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService()

t.test('who sees several workspaces gets the pages of one list, whatever the filter', async (t) => {
  const { reader, places } = await threeWorkspaces()
  const query = fc.record({
    place: fc.constantFrom('', ...places),
    // Quotes and signs of PostgreSQL's query language, letters whose lower case is longer, and parts across words.
    q: fc.constantFrom(
      ...[null, 'a', 'İ', 'ß', "'", "b'", '\\', ' & ', ':*', 'AB', 'b a', "a'b\\", 'late', 'abab', '漢', '字漢字'],
    ),
    sorted: fc.boolean(),
    variants: fc.boolean(),
    locale: fc.constantFrom(null, null, 'de'),
    limit: fc.integer({ min: 20, max: 100 }),
  })
  await fc.assert(
    fc.asyncProperty(query, async ({ place, q, sorted, variants, locale, limit }) => {
      const filter = [place, ...(q === null ? [] : [`q=${encodeURIComponent(q)}`]), `include_variants=${variants}`]
      if (locale !== null) filter.push(`locale=${locale}`)
      const pages = await firstPages(reader, `${filter.join('&')}&limit=${limit}${sorted ? '&sort=updated_at' : ''}`)
      const expected = await plainList({ place, q: q?.trim() ?? null, sorted, variants, locale, limit: 3 * limit })
      t.strictSame(pages, expected, `${filter.join('&')} ${sorted} ${limit}`)
    }),
    runsTimes(1 / 2),
  )
})

t.test('a title is found as it is now, wherever its document has been moved', async (t) => {
  const ada = await signUp()
  const [from, to] = [await base(ada, 'From'), await base(ada, 'To')]
  // So many documents stand before the sought document that the index of titles is asked.
  await fill({ base: from, prefix: 'doc_-', titles: Array.from({ length: 600 }, (_, n) => `Other ${n}`) })
  const { id } = await make(ada, [p('x')], { title: 'Sought', knowledge_base_id: from })
  const found = async (query: string) =>
    (await ada.get(`/documents?${query}`)).body.data.map((item: { id: string }) => item.id)
  t.strictSame(await found('q=ough'), [id])
  await ada.patch(`/documents/${id}`, { title: 'Renamed' })
  t.strictSame(await found('q=ough'), [])
  t.strictSame(await found('q=name'), [id])
  await ada.patch(`/documents/${id}`, { knowledge_base_id: to })
  t.strictSame(await found(`q=name&knowledge_base_id=${from}`), [])
  t.strictSame(await found(`q=name&knowledge_base_id=${to}`), [id])
  const folder = (await ada.post('/folders', { name: 'F', knowledge_base_id: to })).body.data.id
  await ada.patch(`/documents/${id}`, { folder_id: folder })
  t.strictSame(await found(`q=name&folder_id=${folder}`), [id])
  t.strictSame(await found(`folder_id=${folder}`), [id])
  await ada.delete(`/documents/${id}`)
  t.strictSame(await found('q=name'), [])
  t.strictSame((await ada.get(`/folders/${folder}/children`)).body.data, [])
  const rows = await database.oneFirst(sql.type(row(Type.Object({ n: Type.Number() })))`
    SELECT count(*) AS n FROM document_titles t FULL JOIN documents d
      ON d.workspace_id = t.workspace_id AND d.id = t.document_id
    WHERE (d.knowledge_base_id, d.folder_id, d.locale, d.title)
      IS DISTINCT FROM (t.knowledge_base_id, t.folder_id, t.locale, t.title)`)
  t.equal(rows, 0, 'every title stands beside its document')
})

/*
 * Three workspaces of one reader. The first has documents of all kinds of titles. In the second, the titles with `late`
 * come after 600 others, in either order, and are more than the index of titles gives. The third is nearly empty.
 */
async function threeWorkspaces() {
  const email = 'reader@example.test'
  const places: string[] = []
  let reader: Client | null = null
  const parts = ['a', 'B', "'", '\\', ' ', 'İ', 'ß', '&', ':*', '漢', '字', 'ab', '!', 'É']
  const title = (n: number) =>
    Array.from({ length: 4 }, (_, at) => parts[(n * (at + 3) + at * at) % parts.length]).join('')
  const titles = [
    Array.from({ length: 1500 }, (_, n) => `T${title(n)}`),
    Array.from({ length: 2000 }, (_, n) => (n < 600 ? `Early ${n}` : `Late ${title(n)}`)),
    ['late', 'abc'],
  ]
  for (const [index, chosen] of titles.entries()) {
    reader = await signUp({ email, workspace: `W${index}` })
    const owner = await signUp({ workspace: `W${index}` })
    const id = await base(owner, 'Docs')
    const folder = (await owner.post('/folders', { name: 'F', knowledge_base_id: id })).body.data.id
    await fill({ base: id, prefix: `doc_${index}`, titles: chosen })
    await database.query(sql.unsafe`
      UPDATE documents SET folder_id = ${folder} WHERE knowledge_base_id = ${id} AND body_seq % 3 = 0`)
    places.push(`knowledge_base_id=${id}`, `folder_id=${folder}`)
  }
  await database.query(sql.unsafe`ANALYZE`)
  return { reader: reader as Client, places }
}

async function base(client: Client, name: string): Promise<number> {
  return (await client.post('/knowledge-bases', { name })).body.data.id
}

// Adds documents without bodies, whose ids and times follow the order of their titles. Every seventh is a translation.
async function fill(input: { base: number; prefix: string; titles: string[] }): Promise<void> {
  const titles = sql.fragment`unnest(${sql.array(input.titles, 'text')}) WITH ORDINALITY AS n (title, at)`
  const id = sql.fragment`${input.prefix} || '_' || lpad(at::text, 6, '0')`
  await database.query(sql.unsafe`
    INSERT INTO document_directory (id, workspace_id)
    SELECT ${id}, k.workspace_id FROM knowledge_bases k, ${titles} WHERE k.id = ${input.base}`)
  await database.query(sql.unsafe`
    INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
      collapsed_block_ids, version, body_seq, character_count, node_count, updated_at, variant_role, locale)
    SELECT k.workspace_id, ${id}, k.id, title, 'document', false, '{}', 'sha256:' || repeat('0', 64), at, 1, 1,
      now() - at / 2 * interval '1 minute', CASE WHEN at % 7 = 0 THEN 'translation' END,
      CASE WHEN at % 5 = 0 THEN 'de' END
    FROM knowledge_bases k, ${titles} WHERE k.id = ${input.base}`)
}

/** The ids of the first three pages. */
async function firstPages(client: Client, query: string): Promise<string[]> {
  const ids: string[] = []
  for (let page = 0, cursor = ''; page < 3; page += 1) {
    const { status, text, body } = await client.get(`/documents?${query}${cursor}`)
    if (status !== 200) throw new Error(`${status} ${text}`)
    ids.push(...body.data.map(({ id }: { id: string }) => id))
    if (!body.page.has_more) break
    cursor = `&cursor=${body.page.next_cursor}`
  }
  return ids
}

/** The same list, read from one table in one order. */
function plainList(list: {
  place: string
  q: string | null
  sorted: boolean
  variants: boolean
  locale: string | null
  limit: number
}) {
  const [name = '', value] = list.place.split('=')
  const place = list.place === '' ? sql.fragment`true` : sql.fragment`${sql.identifier([name])} = ${Number(value)}`
  const order = list.sorted ? sql.fragment`updated_at DESC, id DESC` : sql.fragment`id`
  return database.anyFirst(sql.type(row(Type.Object({ id: Type.String() })))`
    SELECT id FROM documents
    WHERE ${place} AND (${list.variants || list.locale !== null} OR variant_role IS DISTINCT FROM 'translation')
      AND (${list.locale}::text IS NULL OR locale = ${list.locale})
      AND (${list.q}::text IS NULL OR strpos(lower(title), lower(${list.q})) > 0)
    ORDER BY ${order} LIMIT ${list.limit}`)
}
