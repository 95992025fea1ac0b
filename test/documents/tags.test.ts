import fc from 'fast-check'
import { sql } from '../../shared/database/database.ts'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, eventsOf, make, put, refused } from '../support/documents.ts'
import { runsTimes } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService()

t.test('tags and properties are part of a document wherever it is shown', async (t) => {
  const ada = await signUp()
  const metadata = {
    tags: ['  Water ', 'milk', 'WATER'],
    properties: { status: 'done', priority: 2.5, checked: false, owners: ['ada', 'grace'] },
  }
  const shown = { ...metadata, tags: ['Water', 'milk'] }
  const created = await ada.post('/documents', { title: 'Cows', ...metadata })
  t.match(created, { status: 201, body: { data: shown } })
  const { id } = created.body.data
  t.match((await ada.get(`/documents/${id}`)).body.data, shown)
  t.match((await ada.get('/documents')).body.data, [shown])
  const plain = (await ada.post('/documents', { title: 'Plain' })).body.data
  t.match(plain, { tags: [], properties: {} })
  const duplicate = await ada.post(`/documents/${id}/duplicate`)
  t.match(duplicate, { status: 201, body: { data: shown } }, 'a duplicate has them too')
  await ada.delete(`/documents/${id}`)
  const entry = (await ada.get('/trash')).body.data[0].id
  t.match((await ada.post(`/trash/${entry}/restore`)).body.data, shown, 'and they come back from the trash')
  t.same(await idsOf(ada, 'tag=milk'), [id, duplicate.body.data.id].sort(), 'and are found again')
})

t.test('a PATCH of tags and properties changes metadata alone, and nothing when nothing changes', async (t) => {
  const ada = await signUp()
  const { id, etag, version } = await make(ada, [p('text')], { tags: ['one'], properties: { a: 1, b: 'x' } })
  const patch = (body: object) => ada.patch(`/documents/${id}`, body)
  t.match((await patch({ tags: ['two', 'ONE'] })).body.data, { tags: ['two', 'one'], version }, 'keeps the spelling')
  t.same((await patch({ properties_patch: { a: null, c: [], d: true } })).body.data.properties, {
    b: 'x',
    c: [],
    d: true,
  })
  const last = (await patch({ properties: { e: 'e' } })).body.data
  t.same(last.properties, { e: 'e' })
  const events = await eventsOf(database, id)
  t.same(
    events.slice(1),
    Array.from({ length: 3 }, () => 'document.metadata.updated'),
  )
  for (const same of [{ tags: ['TWO', 'one'] }, { properties: { e: 'e' } }, { properties_patch: { gone: null } }]) {
    t.same((await patch(same)).body.data, last)
  }
  t.same(await eventsOf(database, id), events, 'a write without a change has no event')
  t.same((await patch({ tags: [], properties: {} })).body.data.tags, [])
  t.equal((await bodyOf(ada, id)).etag, etag)
  t.equal((await put(ada, id, [p('changed')], etag)).status, 200)
  const minimal = await ada.call('PATCH', `/documents/${id}`, {
    body: { tags: ['small'] },
    headers: { prefer: 'return=minimal' },
  })
  t.same(Object.keys(minimal.body.data), ['id', 'version'])
})

t.test('programs that add and remove tags of one document at the same time lose nothing of each other', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('text')], { tags: ['Kept', 'old'] })
  const patches = [
    { add: ['KEPT', 'one'] },
    { add: ['two'], remove: ['OLD'] },
    { remove: ['none'] },
    { add: ['three'] },
  ]
  const replies = await Promise.all(patches.map((tags_patch) => ada.patch(`/documents/${id}`, { tags_patch })))
  for (const { status, text } of replies) t.equal(status, 200, text)
  const { tags } = (await ada.get(`/documents/${id}`)).body.data
  t.same([...tags].sort(), ['Kept', 'one', 'three', 'two'])
  const events = await eventsOf(database, id)
  const same = await ada.patch(`/documents/${id}`, { tags_patch: { add: ['ONE'], remove: ['old'] } })
  t.same(same.body.data.tags, tags)
  t.same(await eventsOf(database, id), events, 'a write without a change has no event')
})

t.test('what a tag or property may not be is refused with the rule, and nothing is written', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('text')], { tags: ['kept'], properties: { kept: 1 } })
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, n]))
  const wrong: [body: object, path: string, message: RegExp][] = [
    [{ tags: [' '] }, '/tags/0', /1 to 64 characters after trimming/],
    [{ tags: ['x'.repeat(65)] }, '/tags/0', /1 to 64 characters/],
    [{ tags: ['a\u0000'] }, '/tags/0', /U\+0000/],
    [{ tags: Array.from({ length: 51 }, (_, n) => `t${n}`) }, '/tags', /at most 50 items, not 51/],
    [{ tags: 'a' }, '/tags', /an array/],
    [{ tags: null }, '/tags', /an array/],
    [{ properties: [] }, '/properties', /an object/],
    [{ properties: { '1a': 1 } }, '/properties/1a', /name that matches/],
    [{ properties: { [`a/${'~'.repeat(200)}`]: 1 } }, `/properties/a~1${'~0'.repeat(62)}`, /name that matches/],
    [{ properties: { a: null } }, '/properties/a', /a string of at most 1000 characters/],
    [{ properties: { a: {} } }, '/properties/a', /a string/],
    [{ properties: { a: 'x'.repeat(1001) } }, '/properties/a', /at most 1000|0 to 1000/],
    [{ properties: { a: [1] } }, '/properties/a/0', /a string/],
    [{ properties: { a: Array.from({ length: 51 }, () => 'x') } }, '/properties/a', /at most 50 items, not 51/],
    [{ properties: { a: ['x'.repeat(1001)] } }, '/properties/a/0', /1000/],
    [{ properties: many(51) }, '/properties', /at most 50 members, not 51/],
    [{ properties: large('a') }, '/properties', /262144 bytes/],
  ]
  for (const [body, path, message] of wrong) {
    for (const reply of [
      await ada.patch(`/documents/${id}`, body),
      await ada.post('/documents', { title: 'a', ...body }),
    ]) {
      t.equal(reply.status, 400, JSON.stringify(body).slice(0, 80))
      const [field] = reply.body.error.details.fields
      t.equal(field.path, path)
      t.match(field.message, message)
    }
  }
  const patches: [body: object, path: string][] = [
    [{ properties: {}, properties_patch: {} }, '/properties_patch'],
    [{ tags: [], tags_patch: {} }, '/tags_patch'],
    [{ tags_patch: { add: Array.from({ length: 50 }, (_, n) => `t${n}`) } }, '/tags_patch'],
    [{ tags_patch: { remove: [' '] } }, '/tags_patch/remove/0'],
    [{ properties_patch: many(50) }, '/properties_patch'],
    [{ properties_patch: { 'no name': null } }, '/properties_patch/no name'],
    [{ properties_patch: { a: { b: 1 } } }, '/properties_patch/a'],
  ]
  for (const [body, path] of patches) {
    const reply = await ada.patch(`/documents/${id}`, body)
    t.match(reply, { status: 400, body: { error: { details: { fields: [{ path }] } } } }, path)
  }
  t.match((await ada.get(`/documents/${id}`)).body.data, { tags: ['kept'], properties: { kept: 1 } })
  t.equal((await ada.patch(`/documents/${id}`, { properties: large('a', 100) })).status, 200)
  const reply = await ada.patch(`/documents/${id}`, { properties_patch: large('b', 170) })
  t.match(reply, { status: 400, body: { error: { details: { fields: [{ path: '/properties_patch' }] } } } })
  const most = { tags: Array.from({ length: 50 }, (_, n) => `${'😀'.repeat(62)}${n + 10}`), properties: many(50) }
  t.match((await ada.patch(`/documents/${id}`, most)).body.data, most, 'the limits themselves are allowed')
})

t.test('properties_patch gives what RFC 7386 says, for any properties and any patch', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('text')])
  const name = fc.constantFrom('a', 'b', 'c', 'constructor', 'toString', 'x-1')
  const value = fc.oneof(
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.array(fc.string()),
  )
  const storable = (json: unknown) => {
    const text = JSON.stringify(json)
    return !text.includes('\\u0000') && !/\\ud[89a-f]/.test(text)
  }
  const properties = fc.dictionary(name, value).filter(storable)
  const patch = fc.dictionary(name, fc.option(value)).filter(storable)
  await fc.assert(
    fc.asyncProperty(properties, patch, async (before, change) => {
      await ada.patch(`/documents/${id}`, { properties: before })
      const { status, body } = await ada.patch(`/documents/${id}`, { properties_patch: change })
      t.equal(status, 200)
      const expected = Object.entries({ ...before, ...change }).filter(([, entry]) => entry !== null)
      t.same(body.data.properties, JSON.parse(JSON.stringify(Object.fromEntries(expected))))
    }),
    runsTimes(0.6),
  )
})

t.test('lists are narrowed by all tags and properties that are asked for', async (t) => {
  const ada = await signUp()
  await ada.post('/knowledge-bases', { name: 'First' })
  const base = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const documents = {
    a: { tags: ['Straße', 'x'], properties: { n: 5, s: '5', l: ['5', 'b'], f: true } },
    b: { tags: ['STRASSE', 'y'], properties: { n: 5.5, s: 'true', l: ['x=y'] } },
    c: { tags: ['x', 'y'], properties: { n: 1e21, l: [], s: '' }, knowledge_base_id: base },
    d: {},
  }
  const ids: Record<string, string> = {}
  for (const [name, members] of Object.entries(documents)) {
    ids[name] = (await make(ada, [p('x')], { title: `Title ${name}`, ...members })).id
  }
  const finds = async (query: string, names: string) => {
    const expected = [...names].map((name) => ids[name]).sort()
    t.same(await idsOf(ada, query), expected, query)
    t.same((await idsOf(ada, `${query}&q=title`)).sort(), expected, `${query} by title`)
    t.same((await idsOf(ada, `${query}&sort=updated_at`)).sort(), expected, `${query} by time`)
  }
  await finds('tag=strasse', 'ab')
  await finds('tag=%20stra%C3%9Fe%20&tag=X', 'a')
  await finds('tag=x&tag=y', 'c')
  await finds('tag=x&tag=missing', '')
  await finds(`tag=x&knowledge_base_id=${base}`, 'c')
  await finds('property[n]=5', 'a')
  await finds('property[n]=5.0', 'a')
  await finds('property[n]=1e21', 'c')
  await finds('property[s]=5', 'a')
  await finds('property[s]=5.0', '')
  await finds('property[s]=', 'c')
  await finds('property[f]=true', 'a')
  await finds('property[s]=true', 'b')
  await finds('property[l]=5', 'a')
  await finds('property%5Bl%5D=x%3Dy', 'b')
  await finds('property[l]=5&property[l2]=b', '')
  await finds('tag=y&property[n]=5.5&property[l]=x%3Dy', 'b')
  const page = (await ada.get('/documents?tag=x&limit=1')).body.page
  t.equal(page.has_more, true)
  refused(t, await ada.get(`/documents?tag=y&limit=1&cursor=${page.next_cursor}`), {
    status: 400,
    code: 'invalid_cursor',
  })
  const next = (await ada.get(`/documents?tag=x&limit=1&cursor=${page.next_cursor}`)).body.data
  t.same(
    next.map(({ id }: { id: string }) => id),
    [[ids['a'], ids['c']].sort()[1]],
  )
  const malformed: [query: string, path: string][] = [
    ['tag=', '?tag[0]'],
    [`tag=${'x'.repeat(65)}`, '?tag[0]'],
    [Array.from({ length: 51 }, (_, n) => `tag=${n}`).join('&'), '?tag'],
    ['property[1]=a', '?property[1]'],
    ['property[]=a', '?property[]'],
    ['property[a]=1&property[a]=2', '?property[a]'],
    [`property[a]=${'x'.repeat(1001)}`, '?property[a]'],
    ['property[a]=%00', '?property[a]'],
  ]
  for (const [query, path] of malformed) {
    const reply = await ada.get(`/documents?${query}`)
    t.match(reply, { status: 400, body: { error: { details: { fields: [{ path }] } } } }, query)
  }
})

t.test('a list finds tagged documents wherever they stand among many others', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')], { tags: ['rare'], properties: { kind: 'rare' } })
  await copyDocument(id, { count: 1200, tag: 'common', tagged: 700 })
  const common = await idsOf(ada, 'tag=common&limit=100')
  t.equal(new Set(common).size, 700)
  t.same(common, [...common].sort())
  t.same(await idsOf(ada, 'tag=rare'), [id])
  t.same(await idsOf(ada, 'property[kind]=rare&sort=updated_at'), [id])
  const byTime = await idsOf(ada, 'tag=common&limit=90&sort=updated_at')
  t.same([...byTime].sort(), common)
})

// Writes copies of a document, the last `tagged` of which have a tag.
async function copyDocument(id: string, { count, tag, tagged }: { count: number; tag: string; tagged: number }) {
  await database.query(sql.unsafe`
    INSERT INTO document_directory (id, workspace_id)
    SELECT id || '-' || lpad(n::text, 6, '0'), workspace_id FROM documents, generate_series(1, ${count}) AS n
    WHERE id = ${id}`)
  await database.query(sql.unsafe`
    INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
      collapsed_block_ids, version, body_seq, character_count, node_count, updated_at, tags, tag_keys)
    SELECT workspace_id, id || '-' || lpad(n::text, 6, '0'), knowledge_base_id, title, document_type, false, '{}',
      version, 1, 1, 1, now() + n * interval '1 second', v.tags, v.tags
    FROM documents, generate_series(1, ${count}) AS n,
      LATERAL (SELECT CASE WHEN n > ${count - tagged} THEN ARRAY[${tag}] ELSE '{}' END AS tags) AS v
    WHERE id = ${id}`)
}

async function idsOf(client: Client, query: string): Promise<string[]> {
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const { status, body, text } = await client.get(`/documents?${query}${cursor}`)
    if (status !== 200) throw new Error(text)
    ids.push(...body.data.map(({ id }: { id: string }) => id))
    if (!body.page.has_more) return ids
    cursor = `&cursor=${body.page.next_cursor}`
  }
}

// Properties of `count` thousand characters, which are more than allowed together by default.
function large(prefix: string, count = 300): Record<string, string[]> {
  const names = Array.from({ length: Math.ceil(count / 50) }, (_, n) => `${prefix}${n}`)
  return Object.fromEntries(
    names.map((name, n) => [name, Array.from({ length: Math.min(50, count - 50 * n) }, () => 'x'.repeat(1000))]),
  )
}
