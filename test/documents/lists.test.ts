import fc from 'fast-check'
import { sql } from '../../shared/database/database.ts'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { make, put, refused } from '../support/documents.ts'
import { runsTimes } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService()

t.test('the list pages through every document once, by ascending id', async (t) => {
  const ada = await signUp()
  const chosen = ['doc_b', 'doc_B', 'doc_a-1', 'doc_a_1', 'doc_a1', 'doc_-'].map((id) => id + ada.user_id.slice(-8))
  for (const id of chosen) await make(ada, [p('x')], { id })
  const made = await make(ada, [p('x')])
  const expected = [...chosen, made.id].sort()
  for (const limit of [1, 2, 3, 7, 100]) {
    const pages = await walk(ada, `limit=${limit}`)
    t.strictSame(pages.flat(), expected, `limit ${limit}`)
    t.equal(pages.length, Math.ceil(expected.length / limit))
  }
  const whole = await ada.get('/documents')
  t.strictSame(whole.body.page, { cursor: null, next_cursor: null, has_more: false })
  t.strictSame(
    whole.body.data.find((item: { id: string }) => item.id === made.id),
    (await ada.get(`/documents/${made.id}`)).body.data,
    'an item is what a read returns',
  )
})

t.test('a document that comes or goes while a client pages disturbs no other', async (t) => {
  const ada = await signUp()
  const prefix = `doc_${ada.user_id.slice(-8)}`
  for (const name of 'bdfh') await make(ada, [p('x')], { id: prefix + name })
  const first = (await ada.get('/documents?limit=2')).body
  t.strictSame(idsOf(first.data), [`${prefix}b`, `${prefix}d`])
  await ada.delete(`/documents/${prefix}d`)
  await make(ada, [p('x')], { id: `${prefix}a` })
  await make(ada, [p('x')], { id: `${prefix}g` })
  const rest = (await ada.get(`/documents?limit=10&cursor=${first.page.next_cursor}`)).body
  t.strictSame(idsOf(rest.data), [`${prefix}f`, `${prefix}g`, `${prefix}h`])
  t.equal(rest.page.cursor, first.page.next_cursor)
})

t.test('sorted by time the newest come first, and what is edited while paging is never lost', async (t) => {
  const ada = await signUp()
  const ids: string[] = []
  for (const title of ['1', '2', '3', '4', '5']) ids.push((await make(ada, [p('x')], { title })).id)
  const [one = '', two = '', three = '', four = '', five = ''] = ids
  await setTimes(ids, [1000, 2000, 2000, 3000, 4000])
  const newest = [five, four, ...[two, three].sort().reverse(), one]
  for (const limit of [1, 2, 5]) {
    t.strictSame((await walk(ada, `sort=updated_at&limit=${limit}`)).flat(), newest, `limit ${limit}`)
  }
  const first = (await ada.get('/documents?sort=updated_at&limit=2')).body
  t.strictSame(idsOf(first.data), [five, four])
  await ada.patch(`/documents/${one}`, { title: 'edited while paging' })
  const rest = (await ada.get(`/documents?sort=updated_at&limit=5&cursor=${first.page.next_cursor}`)).body
  t.strictSame(idsOf(rest.data), [two, three].sort().reverse(), 'the edited one has moved ahead')
  t.strictSame(idsOf((await ada.get('/documents?sort=updated_at&limit=1')).body.data), [one])
  await put(ada, two, [p('new body')])
  t.strictSame(idsOf((await ada.get('/documents?sort=updated_at&limit=1')).body.data), [two], 'bodies count as well')
})

t.test('a cursor fits the list it comes from and no other', async (t) => {
  const ada = await signUp()
  for (const title of ['a', 'b', 'c']) await make(ada, [p('x')], { title })
  const cursor = (await ada.get('/documents?limit=1')).body.page.next_cursor
  const timed = (await ada.get('/documents?limit=1&sort=updated_at')).body.page.next_cursor
  refused(t, await ada.get(`/documents?sort=updated_at&cursor=${cursor}`), {
    status: 400,
    code: 'cursor_sort_mismatch',
    details: { cursor_sort: 'id', requested_sort: 'updated_at' },
  })
  refused(t, await ada.get(`/documents?cursor=${timed}`), {
    status: 400,
    code: 'cursor_sort_mismatch',
    details: { cursor_sort: 'updated_at', requested_sort: 'id' },
  })
  t.equal((await ada.get(`/documents?limit=2&cursor=${cursor}`)).status, 200, 'the page size may change')
  const invalid = { status: 400, code: 'invalid_cursor' }
  for (const query of [
    ...[`q=a&cursor=${cursor}`, `knowledge_base_id=1&cursor=${cursor}`, `include_variants=true&cursor=${cursor}`],
    ...[`updated_since=0&cursor=${cursor}`, 'cursor=', 'cursor=nonsense', `cursor=${'A'.repeat(600)}`],
  ]) {
    refused(t, await ada.get(`/documents?${query}`), invalid)
  }
  const foreign = (await ada.get('/knowledge-bases?limit=1')).body.page.next_cursor ?? 'W10'
  refused(t, await ada.get(`/documents?cursor=${foreign}`), invalid)
})

t.test('filters narrow the list, together and alone; a place that is not there has no documents', async (t) => {
  const ada = await signUp()
  const stranger = await signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const folder = (await ada.post('/folders', { name: 'f', knowledge_base_id: base })).body.data.id
  const inner = (await ada.post('/folders', { name: 'g', parent_id: folder })).body.data.id
  const document = async (title: string, place: object) => (await make(ada, [p('x')], { title, ...place })).id
  const root = await document('Root ÄRGER', { knowledge_base_id: base })
  const held = await document('Held', { folder_id: folder })
  const deep = await document('deep root', { folder_id: inner })
  const away = await document('100%_away', { knowledge_base_id: other })
  const list = async (query: string) => idsOf((await ada.get(`/documents?${query}`)).body.data)

  t.strictSame(await list(`knowledge_base_id=${base}`), [root, held, deep].sort())
  t.strictSame(await list(`folder_id=${folder}`), [held], 'direct children only')
  t.strictSame(await list(`folder_id=${inner}&knowledge_base_id=${base}`), [deep])
  t.strictSame(await list(`folder_id=${inner}&knowledge_base_id=${other}`), [])
  t.strictSame(await list('q=root'), [root, deep].sort())
  t.strictSame(await list('q=%20ROOT%20'), [root, deep].sort(), 'trimmed, ignoring case')
  t.strictSame(await list(`q=${encodeURIComponent('ärger')}`), [root], 'beyond ASCII as well')
  t.strictSame(await list(`q=${encodeURIComponent('0%_A')}`), [away], 'no pattern language')
  t.strictSame(await list('q=%25'), [away])
  t.strictSame(await list(`q=root&folder_id=${inner}`), [deep])
  t.strictSame(await list('knowledge_base_id=999999&folder_id=999999'), [])
  t.strictSame(await list('knowledge_base_id=9999999999999999'), [], 'as unknown as any other')
  t.strictSame(await list('folder_id=9007199254740993'), [])
  t.strictSame(await list('include_variants=true'), [root, held, deep, away].sort())
  t.strictSame(await list('locale=de'), [], 'no document has a locale')
  t.strictSame(await list('locale=de&include_variants=1'), [])
  t.strictSame((await stranger.get(`/documents?knowledge_base_id=${base}`)).body.data, [])

  for (const [query, path] of [
    ['limit=0', '?limit'],
    ['limit=101', '?limit'],
    ['limit=1.5', '?limit'],
    ['limit=5&limit=6', '?limit'],
    ['q=', '?q'],
    [`q=${'x'.repeat(201)}`, '?q'],
    ['q=%20', '?q'],
    ['q=a%00b', '?q'],
    ['sort=title', '?sort'],
    ['sort=id', '?sort'],
    ['knowledge_base_id=x', '?knowledge_base_id'],
    ['knowledge_base_id=0', '?knowledge_base_id'],
    [`knowledge_base_id=0${base}`, '?knowledge_base_id'],
    [`knowledge_base_id=${base}.0`, '?knowledge_base_id'],
    ['knowledge_base_id=10000000000000000', '?knowledge_base_id'],
    ['folder_id=-1', '?folder_id'],
    [`folder_id=0${folder}`, '?folder_id'],
    [`folder_id=+${folder}`, '?folder_id'],
    ['include_variants=yes', '?include_variants'],
    ['updated_since=yesterday', '?updated_since'],
  ] as const) {
    const reply = await ada.get(`/documents?${query}`)
    t.match(
      reply,
      { status: 400, body: { error: { code: 'invalid_request', details: { fields: [{ path }] } } } },
      query,
    )
  }
  for (const locale of ['en_US', 'und', '', 'x'.repeat(40)]) {
    refused(t, await ada.get(`/documents?locale=${locale}`), {
      status: 400,
      code: 'invalid_locale',
      details: { locale, field: 'locale' },
    })
  }
  t.equal((await ada.get('/documents?unknown=1')).status, 200)
})

t.test('updated_since takes milliseconds and every ISO form, inclusive, in UTC unless told otherwise', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  const at = Date.UTC(2024, 1, 29, 12, 30, 15, 250)
  await setTimes([id], [at])
  const finds = async (since: string) =>
    (await ada.get(`/documents?updated_since=${encodeURIComponent(since)}`)).body.data.length === 1
  const inclusive = [
    String(at),
    '0',
    '2024-02-29',
    '2024-02-29T12:30',
    '2024-02-29T12:30:15',
    '2024-02-29T12:30:15.250',
    '2024-02-29 12:30:15,25',
    '2024-02-29T12:30:15.250Z',
    '2024-02-29T13:30:15.250+01:00',
    '2024-02-29T13:30:15.250+0100',
    '2024-02-29 13:30:15.25+01',
    '2024-02-29T07:00:15.250-05:30',
    '1950-01-01',
  ]
  for (const since of inclusive) t.ok(await finds(since), since)
  const later = [String(at + 1), '2024-03-01', '2024-02-29T12:30:15.251', '2024-02-29T12:31-00:00', '9999999999999999']
  for (const since of later) t.notOk(await finds(since), since)
  const unescaped = await ada.get('/documents?updated_since=2024-02-29T13:30:15.250+01:00')
  t.equal(unescaped.body.data.length, 1, 'a plus that was not escaped')
  for (const since of [
    ...['', '-1', '1.5', '12345678901234567', '2024-2-9', '2023-02-29', '2024-13-01', '2024-00-10', '2024-01-00'],
    ...['2024-02-29T24:01', '2024-02-29T12:60', '2024-02-29T12:30:61', '2024-02-29T12', '2024-02-29T12:30:15.250 GMT'],
    ...['now'],
  ]) {
    const reply = await ada.get(`/documents?updated_since=${encodeURIComponent(since)}`)
    t.match(reply.body.error, { code: 'invalid_request', details: { fields: [{ path: '?updated_since' }] } }, since)
  }
})

t.test('a client that syncs by updated_since sees every change, however close together', async (t) => {
  const ada = await signUp()
  const ids: string[] = []
  for (let index = 0; index < 6; index++) ids.push((await make(ada, [p('x')])).id)
  const seen = new Map<string, string>()
  let since = 0
  const sync = async () => {
    for (const page of await walkItems(ada, `sort=updated_at&limit=2&updated_since=${since}`)) {
      for (const item of page) {
        seen.set(item.id, item.title)
        since = Math.max(since, item.updated_at)
      }
    }
  }
  await sync()
  for (let round = 0; round < 4; round++) {
    await Promise.all(ids.slice(round).map((id) => ada.patch(`/documents/${id}`, { title: `round ${round}` })))
    await sync()
  }
  const titles = ids.map((_, index) => `round ${Math.min(index, 3)}`)
  t.strictSame(
    ids.map((id) => seen.get(id)),
    titles,
  )
})

t.test('for any set of documents, filters and page size, the pages are the filtered list', async (t) => {
  const ada = await signUp()
  const titles = ['alpha', 'Beta', 'alphabet', 'gamma', 'BETA max', 'delta', 'alp']
  const documents: { id: string; title: string; at: number }[] = []
  for (const [index, title] of titles.entries()) {
    documents.push({ id: (await make(ada, [p('x')], { title })).id, title, at: 1000 + (index % 3) })
  }
  await setTimes(
    documents.map(({ id }) => id),
    documents.map(({ at }) => at),
  )
  const query = fc.record({
    q: fc.constantFrom(null, 'a', 'beta', 'lph', 'zzz'),
    since: fc.constantFrom(null, 999, 1001, 1002, 1003),
    sorted: fc.boolean(),
    limit: fc.integer({ min: 1, max: 8 }),
  })
  await fc.assert(
    fc.asyncProperty(query, async ({ q, since, sorted, limit }) => {
      const filtered = documents
        .filter(({ title, at }) => (q === null || title.toLowerCase().includes(q)) && at >= (since ?? 0))
        .sort((a, b) => (sorted && a.at !== b.at ? b.at - a.at : (a.id < b.id ? -1 : 1) * (sorted ? -1 : 1)))
      const parameters = [
        `limit=${limit}`,
        ...(q === null ? [] : [`q=${q}`]),
        ...(since === null ? [] : [`updated_since=${since}`]),
        ...(sorted ? ['sort=updated_at'] : []),
      ]
      const pages = await walk(ada, parameters.join('&'))
      return JSON.stringify(pages.flat()) === JSON.stringify(filtered.map(({ id }) => id))
    }),
    runsTimes(1 / 4),
  )
  t.pass('for every query')
})

type Item = { id: string; title: string; updated_at: number }

function idsOf(items: Item[]): string[] {
  return items.map(({ id }) => id)
}

async function walk(client: Client, query: string): Promise<string[][]> {
  return (await walkItems(client, query)).map(idsOf)
}

/** Follows the cursors of a list to its end. */
async function walkItems(client: Client, query: string): Promise<Item[][]> {
  const pages: Item[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await client.get(`/documents?${query}${cursor && `&cursor=${cursor}`}`)
    pages.push(body.data)
    if (pages.length > 100) throw new Error('The list does not end')
    cursor = body.page.next_cursor
  }
  return pages
}

async function setTimes(ids: string[], times: number[]): Promise<void> {
  await database.query(sql.unsafe`
    UPDATE documents SET updated_at = to_timestamp(given.at / 1000.0)
    FROM unnest(${sql.array(ids, 'text')}, ${sql.array(times, 'int8')}) AS given (id, at)
    WHERE documents.id = given.id`)
}
