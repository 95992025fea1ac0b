import fc from 'fast-check'
import { sql } from '../../shared/database/database.ts'
import type { Client } from '../support/client.ts'
import { eventsOf, refused } from '../support/documents.ts'
import { runsTimes } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const service = await sharedService()
const { database, signUp } = service

t.test('documents and folders stay where they are put, in the folder, in the tree and at the root', async (t) => {
  const ada = await signUp()
  const zoo = await place(ada)
  const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: zoo.base })
  for (const at of [
    { knowledge_base_id: zoo.base, folder_id: folder.id, parent_id: folder.id },
    { knowledge_base_id: zoo.base },
  ]) {
    const documents = await five(ada, '/documents', 'title', at)
    const folders = await five(ada, '/folders', 'name', at)
    const listed = async () => {
      const children = await treeOf(ada, zoo.base, 'manual')
      const below = at.folder_id === undefined ? children : children.find(({ id }) => id === folder.id).children
      const names = below.map(nameOf).filter((name: string) => name !== 'F')
      if (at.folder_id !== undefined) t.strictSame(names, await childrenOf(ada, folder.id, 'manual'))
      return names.join('')
    }
    t.equal(await listed(), 'abcdeABCDE', 'folders first, by name until somebody orders them')
    const [a, b, c, d, e] = documents as [string, string, string, string, string]
    for (const [id, position, expected] of [
      [d, 'first', 'DABCE'],
      [a, { after: c }, 'DBCAE'],
      [e, { before: b }, 'DEBCA'],
      [d, 'last', 'EBCAD'],
      [b, { before: b }, 'EBCAD'],
      [c, { after: b }, 'EBCAD'],
    ] as const) {
      const reply = await ada.patch(`/documents/${id}`, { position })
      t.equal(reply.status, 200, reply.text)
      t.equal(await listed(), `abcde${expected}`)
    }
    const [fa, , fc, fd] = folders as [number, number, number, number]
    for (const [id, position, expected] of [
      [fd, 'first', 'dabce'],
      [fa, { after: String(fc) }, 'dbcae'],
      [fd, { before: fa }, 'bcdae'],
    ] as const) {
      const reply = await ada.patch(`/folders/${id}`, { position })
      t.equal(reply.status, 200, reply.text)
      t.equal(await listed(), `${expected}EBCAD`)
    }
    t.equal((await created(ada, '/documents', { title: '0', ...at })).title, '0')
    t.equal(await listed(), 'bcdaeEBCAD0', 'a new document comes last')
  }
})

t.test('a place is no change of the document: no event, no new time, no new version', async (t) => {
  const ada = await signUp()
  const { base } = await place(ada)
  const [a, b] = await five(ada, '/documents', 'title', { knowledge_base_id: base })
  const before = (await ada.get(`/documents/${a}`)).body.data
  const reply = await ada.patch(`/documents/${a}`, { position: { after: b } })
  t.strictSame(reply.body.data, before)
  t.strictSame(await eventsOf(database, String(a)), ['document.created'])
  const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: base })
  t.strictSame((await ada.patch(`/folders/${folder.id}`, { position: 'first' })).body.data, folder)
  t.equal((await ada.patch(`/documents/${a}`, { title: 'New', position: 'first' })).body.data.title, 'New')
  t.equal((await eventsOf(database, String(a))).length, 2, 'beside a change it is one write')
})

t.test('whoever moves to another parent gets a place there, or comes last', async (t) => {
  const ada = await signUp()
  const { base } = await place(ada)
  const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: base })
  const [a, b, c] = await five(ada, '/documents', 'title', { knowledge_base_id: base, folder_id: folder.id })
  const x = await created(ada, '/documents', { title: 'X', knowledge_base_id: base })
  await ada.patch(`/documents/${c}`, { position: 'first' })
  const moved = await ada.patch(`/documents/${x.id}`, { folder_id: folder.id, position: { after: a } })
  t.equal(moved.status, 200, moved.text)
  t.equal((await childrenOf(ada, folder.id, 'manual')).join(''), 'CAXBDE')
  t.equal((await ada.patch(`/documents/${c}`, { folder_id: null })).status, 200)
  await ada.post('/documents/move', { ids: [x.id], knowledge_base_id: base })
  await ada.post('/documents/move', { ids: [x.id, c], folder_id: folder.id })
  t.equal((await childrenOf(ada, folder.id, 'manual')).join(''), 'ABCDEX')
  const target = await created(ada, '/folders', { name: 'T', knowledge_base_id: base })
  const [one, two] = await five(ada, '/folders', 'name', { parent_id: target.id })
  const reply = await ada.patch(`/folders/${folder.id}`, { parent_id: target.id, position: { before: two } })
  t.equal(reply.status, 200, reply.text)
  t.equal((await childrenOf(ada, target.id, 'manual')).join(''), 'aFbcde')
  t.ok(one)
  t.equal((await childrenOf(ada, folder.id, 'manual')).length, 6, 'and takes its contents along')
  t.equal(b, (await ada.get(`/documents/${b}`)).body.data.id)
})

t.test('what returns from the trash has its old place, and comes last under another parent', async (t) => {
  const ada = await signUp()
  const { base } = await place(ada)
  const at = { knowledge_base_id: base }
  const [folder, other] = [
    await created(ada, '/folders', { name: 'F', ...at }),
    await created(ada, '/folders', { name: 'G', ...at }),
  ]
  const [, , c] = await five(ada, '/documents', 'title', { folder_id: folder.id })
  const [, , inner] = await five(ada, '/folders', 'name', { parent_id: other.id })
  await ada.patch(`/documents/${c}`, { position: 'first' })
  await ada.patch(`/folders/${inner}`, { position: 'first' })
  const restored = async (path: string, body: object) => {
    t.equal((await ada.delete(path)).status, 204)
    const [{ id }] = (await ada.get('/trash')).body.data
    const reply = await ada.post(`/trash/${id}/restore`, body)
    t.equal(reply.status, 200, reply.text)
  }
  await restored(`/documents/${c}`, {})
  t.equal((await childrenOf(ada, folder.id, 'manual')).join(''), 'CABDE')
  await restored(`/folders/${inner}`, {})
  t.equal((await childrenOf(ada, other.id, 'manual')).join(''), 'cabde')
  const placed = await created(ada, '/documents', { title: 'Z', folder_id: other.id })
  const placedFolder = await created(ada, '/folders', { name: 'z', parent_id: folder.id })
  await ada.patch(`/documents/${placed.id}`, { position: 'first' })
  await ada.patch(`/folders/${placedFolder.id}`, { position: 'first' })
  await restored(`/documents/${c}`, { folder_id: other.id })
  t.equal((await childrenOf(ada, other.id, 'manual')).join(''), 'cabdeZC')
  await restored(`/folders/${inner}`, { folder_id: folder.id })
  t.equal((await childrenOf(ada, folder.id, 'manual')).join(''), 'zcABDE')
  await restored(`/folders/${folder.id}`, {})
  t.equal((await childrenOf(ada, folder.id, 'manual')).join(''), 'zcABDE', 'the contents of a folder keep their order')

  const elsewhere = (await place(ada)).base
  const [, , , d] = await five(ada, '/documents', 'title', at)
  await ada.patch(`/documents/${d}`, { position: 'first' })
  await ada.patch(`/documents/${placed.id}`, { folder_id: folder.id, position: 'first' })
  await restored(`/knowledge-bases/${base}?confirm_id=${base}`, {})
  t.equal((await treeOf(ada, base, 'manual')).map(nameOf).join(''), 'FGDABCE', 'and those of a knowledge base')
  await restored(`/folders/${folder.id}`, { knowledge_base_id: elsewhere })
  t.equal((await childrenOf(ada, folder.id, 'manual')).join(''), 'zcZABDE', 'in another knowledge base, too')
  await restored(`/documents/${d}`, { knowledge_base_id: elsewhere })
  t.equal((await treeOf(ada, elsewhere, 'manual')).map(nameOf).join(''), 'FD')
  const kept = await ada.patch(`/documents/${d}`, { knowledge_base_id: base })
  t.equal(kept.status, 200, kept.text)
  t.equal((await treeOf(ada, base, 'manual')).map(nameOf).join(''), 'GABCDE', 'a key does not come back later')
})

t.test('a duplicate stands after its original, and last in another place', async (t) => {
  const ada = await signUp()
  const { base } = await place(ada)
  const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: base })
  const other = await created(ada, '/folders', { name: 'G', knowledge_base_id: base })
  const [, b] = await five(ada, '/documents', 'title', { folder_id: folder.id })
  await five(ada, '/documents', 'title', { folder_id: other.id })
  for (const title of ['x', 'y']) t.equal((await ada.post(`/documents/${b}/duplicate`, { title })).status, 201)
  await ada.post(`/documents/${b}/duplicate`, { title: 'z', folder_id: folder.id })
  t.equal((await childrenOf(ada, folder.id, 'manual')).join(''), 'ABzyxCDE')
  await ada.post(`/documents/${b}/duplicate`, { title: 'z', folder_id: other.id })
  t.equal((await childrenOf(ada, other.id, 'manual')).join(''), 'ABCDEz')
})

for (const sort of ['name', 'updated_at', 'manual']) {
  t.test(`pages of children have every child once, in one order: sort=${sort}`, async (t) => {
    const ada = await signUp()
    const { base } = await place(ada)
    const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: base })
    const documents = await five(ada, '/documents', 'title', { folder_id: folder.id })
    await five(ada, '/documents', 'title', { folder_id: folder.id })
    const folders = await five(ada, '/folders', 'name', { parent_id: folder.id })
    await ada.patch(`/documents/${documents[3]}`, { position: 'first' })
    await ada.patch(`/documents/${documents[1]}`, { position: { after: documents[3] } })
    await ada.patch(`/documents/${documents[2]}`, { heading_numbered: true })
    await ada.patch(`/folders/${folders[3]}`, { position: 'first', name: 'dd' })
    await ada.patch(`/folders/${folders[2]}`, { name: 'cc' })
    const whole = (await ada.get(`/folders/${folder.id}/children?sort=${sort}`)).body.data
    t.equal(whole.length, 15)
    const tree = (await treeOf(ada, base, sort)).find(({ id }) => id === folder.id).children
    t.strictSame(tree.map(nameOf), whole.map(nameOf), 'the tree has the same order')
    const summarised = await ada.get(`/knowledge-bases/${base}/tree?sort=${sort}&include_summary=true`)
    const root = summarised.body.data.children.find(({ id }: { id: number }) => id === folder.id)
    t.strictSame(root.children.map(nameOf), whole.map(nameOf), 'with summaries, too')
    for (const limit of [1, 2, 4, 14]) {
      const paged: unknown[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const next: string = cursor === '' ? '' : `&cursor=${cursor}`
        const { status, text, body } = await ada.get(
          `/folders/${folder.id}/children?sort=${sort}&limit=${limit}${next}`,
        )
        t.equal(status, 200, text)
        paged.push(...body.data)
        cursor = body.page.next_cursor
      }
      t.strictSame(paged, whole, `${limit} at a time`)
    }
    const expected = { name: 'abccddeAABBCCDDEE', manual: 'ddabcceDBAABCCDEE' }[sort]
    if (expected !== undefined) t.equal(whole.map(nameOf).join(''), expected)
    else t.strictSame(whole.slice(0, 6).map(nameOf), ['cc', 'dd', 'b', 'e', 'a', 'C'], 'the last changed first')
  })
}

t.test('a cursor of one order is refused in another, and goes on when the list is ordered anew', async (t) => {
  const ada = await signUp()
  const { base } = await place(ada)
  const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: base })
  const ids = await five(ada, '/documents', 'title', { folder_id: folder.id })
  for (const id of ids) await ada.patch(`/documents/${id}`, { position: 'last' })
  const path = `/folders/${folder.id}/children`
  const { cursor } = { cursor: (await ada.get(`${path}?sort=manual&limit=2`)).body.page.next_cursor }
  refused(t, await ada.get(`${path}?cursor=${cursor}`), {
    status: 400,
    code: 'cursor_sort_mismatch',
    details: { cursor_sort: 'manual', requested_sort: 'name' },
  })
  refused(t, await ada.get(`${path}?sort=title`), { status: 400, code: 'invalid_request' })
  await ada.patch(`/documents/${ids[1]}`, { position: 'first' })
  const rest = (await ada.get(`${path}?sort=manual&limit=5&cursor=${cursor}`)).body.data
  t.equal(rest.map(nameOf).join(''), 'ACDE', 'after the place that the last child has by now')
  await ada.patch(`/documents/${ids[1]}`, { position: 'last' })
  const still = (await ada.get(`${path}?sort=manual&limit=5&cursor=${cursor}`)).body.data
  t.equal(still.map(nameOf).join(''), 'CDEB', 'or after the place that it had, if that comes first')
})

t.test('who reads page by page misses no child that stays, whatever is placed between the pages', async () => {
  const ada = await signUp()
  const { base } = await place(ada)
  type Step = { moved: number; to: 'first' | 'last' | 'before' | 'after'; other: number }
  const step: fc.Arbitrary<Step | null> = fc.option(
    fc.record({
      moved: fc.nat(4),
      to: fc.constantFrom('first' as const, 'last' as const, 'before' as const, 'after' as const),
      other: fc.nat(4),
    }),
  )
  // The last child of the first page goes to the end, which places the unplaced children behind it, too.
  const example: [(Step | null)[], (Step | null)[]] = [[], [{ moved: 0, to: 'last', other: 0 }]]
  // The same with the only child that has a place already.
  const placed: [(Step | null)[], (Step | null)[]] = [
    [{ moved: 3, to: 'first', other: 0 }],
    [{ moved: 3, to: 'last', other: 0 }],
  ]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 3 }), fc.array(step, { maxLength: 5 }), async (before, between) => {
      const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: base })
      const ids = await five(ada, '/documents', 'title', { folder_id: folder.id })
      const staying = new Set(ids)
      const move = async (next: Step | null | undefined) => {
        if (next == null) return
        const { to, other, moved } = next
        const position = to === 'before' || to === 'after' ? { [to]: ids[other] } : to
        staying.delete(String(ids[moved]))
        const reply = await ada.patch(`/documents/${ids[moved]}`, { position })
        if (reply.status !== 200) throw new Error(reply.text)
      }
      for (const next of before) await move(next)
      for (const id of ids) staying.add(id)
      const seen = new Set<string>()
      const steps = [...between]
      let cursor: string | null = ''
      while (cursor !== null) {
        const page = cursor === '' ? '' : `&cursor=${cursor}`
        const { body } = await ada.get(`/folders/${folder.id}/children?sort=manual&limit=1${page}`)
        for (const { id } of body.data) seen.add(id)
        cursor = body.page.next_cursor
        await move(steps.shift())
      }
      const missed = [...staying].filter((id) => !seen.has(String(id)))
      if (missed.length > 0) throw new Error(`missed ${missed}`)
    }),
    { ...runsTimes(1 / 4), examples: [example, placed] },
  )
})

t.test('a cursor is accepted whatever key, title and id the last child has', async (t) => {
  const ada = await signUp()
  const { base } = await place(ada)
  const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: base })
  const at = { folder_id: folder.id, title: '\u0001'.repeat(100) }
  const ids: string[] = []
  for (const letter of 'abc') {
    const id = `doc_${letter.repeat(36)}-${Math.random().toString(36).slice(2)}`
    ids.push((await created(ada, '/documents', { ...at, id })).id)
  }
  const path = `/folders/${folder.id}/children?sort=manual&limit=1`
  const ofKeys = async (keys: (string | null)[]) => {
    for (const [index, key] of keys.entries()) {
      await database.query(
        sql.unsafe`UPDATE document_order SET order_key = ${key} WHERE document_id = ${ids[index] ?? ''}`,
      )
    }
    const listed: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { status, text, body } = await ada.get(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`)
      t.equal(status, 200, text)
      listed.push(body.data[0].id)
      cursor = body.page.next_cursor
    }
    t.strictSame(listed, ids)
  }
  const long = (end: string) => `a0${'V'.repeat(61)}${end}`
  await ofKeys([long('A'), long('B'), long('C')])
  await ofKeys([long('A'), null, null])
})

t.test('positions in a list that is partly placed are those of an array', async () => {
  const ada = await signUp()
  const moves = fc.array(
    fc.record({
      moved: fc.nat(4),
      to: fc.constantFrom('first' as const, 'last' as const, 'before' as const, 'after' as const),
      other: fc.nat(4),
    }),
    { maxLength: 8 },
  )
  for (const kind of ['documents', 'folders'] as const) {
    await fc.assert(
      fc.asyncProperty(moves, fc.nat(5), fc.boolean(), async (steps, equal, atRoot) => {
        const own = (await created(ada, '/knowledge-bases', { name: 'Own' })).id
        const folder = atRoot ? null : (await created(ada, '/folders', { name: 'F', knowledge_base_id: own })).id
        const at = { knowledge_base_id: own, folder_id: folder, parent_id: folder }
        const ids = await five(ada, `/${kind}`, kind === 'documents' ? 'title' : 'name', at)
        const table = sql.identifier([kind === 'documents' ? 'document_order' : 'folders'])
        const name = sql.identifier([kind === 'documents' ? 'title' : 'name'])
        // Some begin with equal keys, as after a restored deletion.
        await database.query(sql.unsafe`
          UPDATE ${table} SET order_key = 'a0' WHERE knowledge_base_id = ${own} AND ${name} <> 'F'
            AND lower(${name}) < ${'abcdef'[equal] ?? ''}`)
        const listed = async () => {
          const { children } = (await ada.get(`/knowledge-bases/${own}/tree?sort=manual`)).body.data
          return (atRoot ? children : children[0].children).map(({ id }: { id: unknown }) => id)
        }
        let expected = await listed()
        for (const { moved, to, other } of steps) {
          const [id, reference] = [ids[moved], ids[other]]
          const position = to === 'before' || to === 'after' ? { [to]: reference } : to
          const reply = await ada.patch(`/${kind}/${id}`, { position })
          if (reply.status !== 200) throw new Error(reply.text)
          if (typeof position === 'string' || id !== reference) {
            const others = expected.filter((one: unknown) => one !== id)
            const index = { first: 0, last: 4, before: others.indexOf(reference), after: others.indexOf(reference) + 1 }
            expected = others.toSpliced(index[to], 0, id)
          }
          const actual = await listed()
          if (actual.join() !== expected.join()) throw new Error(`${actual} instead of ${expected}`)
        }
      }),
      runsTimes(0.15),
    )
  }
})

t.test('a folder finds its place among folders with equal keys, however many digits their ids have', async (t) => {
  const ada = await signUp()
  const { base } = await place(ada)
  await database.query(sql.unsafe`SELECT setval(pg_get_serial_sequence('folder_directory', 'id'), 999997)`)
  const ids = await five(ada, '/folders', 'name', { knowledge_base_id: base })
  t.strictSame([...ids].sort(), [1_000_000, 1_000_001, 1_000_002, 999_998, 999_999], 'as texts in another order')
  const listed = async () => (await treeOf(ada, base, 'manual')).map(({ id }) => id)
  for (const moved of ids) {
    for (const reference of ids.filter((id) => id !== moved)) {
      for (const member of ['before', 'after']) {
        await database.query(sql.unsafe`UPDATE folders SET order_key = 'a0' WHERE knowledge_base_id = ${base}`)
        const expected = (await listed()).filter((id) => id !== moved)
        expected.splice(expected.indexOf(reference) + (member === 'after' ? 1 : 0), 0, moved)
        const reply = await ada.patch(`/folders/${moved}`, { position: { [member]: reference } })
        t.equal(reply.status, 200, reply.text)
        t.strictSame(await listed(), expected)
      }
    }
  }
})

t.test('a position that cannot be is refused with a reason, and nothing moves', async (t) => {
  const ada = await signUp({ workspace: 'order' })
  const viewer = await signUp({ workspace: 'order', role: 'viewer' })
  const eve = await signUp()
  const { base } = await place(ada)
  const folder = await created(ada, '/folders', { name: 'F', knowledge_base_id: base })
  const [a, b] = await five(ada, '/documents', 'title', { knowledge_base_id: base })
  const inside = await created(ada, '/documents', { title: 'I', folder_id: folder.id })
  const sub = await created(ada, '/folders', { name: 'S', parent_id: folder.id })
  const foreign = await created(eve, '/documents', { title: 'E' })
  const document = (position: unknown, client: Client = ada) =>
    client.patch(`/documents/${a}`, { title: 'Z', position })
  const ofFolder = (position: unknown) => ada.patch(`/folders/${folder.id}`, { name: 'Z', position })
  for (const position of [
    null,
    5,
    '',
    'middle',
    {},
    { before: b, after: b },
    { before: null },
    { before: '\u0000' },
    [],
  ]) {
    refused(t, await document(position), { status: 400, code: 'invalid_request' })
    refused(t, await ofFolder(position), { status: 400, code: 'invalid_request' })
  }
  const missing = (id: unknown, field: string) => ({ id, field })
  refused(t, await document({ before: 'doc_no' }), {
    status: 404,
    code: 'document_not_found',
    details: missing('doc_no', 'position.before'),
  })
  refused(t, await document({ after: foreign.id }), { status: 404, code: 'document_not_found' })
  refused(t, await document({ after: 999_999 }), {
    status: 404,
    code: 'folder_not_found',
    details: missing(999_999, 'position.after'),
  })
  refused(t, await document({ after: '9999999999999999' }), { status: 404, code: 'folder_not_found' })
  refused(t, await document({ after: -1 }), { status: 404, code: 'document_not_found' })
  refused(t, await ofFolder({ after: 'doc_no' }), { status: 404, code: 'document_not_found' })
  for (const reply of [
    await document({ after: folder.id }),
    await document({ after: inside.id }),
    await ofFolder({ before: String(a) }),
    await ofFolder({ before: sub.id }),
  ]) {
    refused(t, reply, { status: 422, code: 'invalid_position' })
    t.match(reply.body.error.details, { path: /^\/position\/(before|after)$/ })
  }
  refused(t, await document('first', viewer), { status: 403, code: 'forbidden' })
  const stale = { 'if-match': `"sha256:${'0'.repeat(64)}"` }
  const both = await ada.patch(`/documents/${a}`, { position: { after: folder.id } }, stale)
  refused(t, both, { status: 409, code: 'version_conflict', details: both.body.error.details })
  t.equal((await ada.get(`/documents/${a}`)).body.data.title, 'A', 'a refused position undoes the whole write')
  t.equal((await treeOf(ada, base, 'manual')).map(nameOf).join(''), 'FABCDE')
})

async function place(client: Client) {
  return { base: (await created(client, '/knowledge-bases', { name: 'Zoo' })).id as number }
}

async function created(client: Client, path: string, body: object) {
  const reply = await client.post(path, body)
  if (reply.status !== 201) throw new Error(`POST ${path} answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}

// Creates documents A to E, or folders a to e, in another order, and returns their ids by name.
async function five(client: Client, path: string, member: 'title' | 'name', at: object): Promise<(string | number)[]> {
  const ids = new Map<string, string | number>()
  for (const letter of 'CAEBD') {
    const name = member === 'name' ? letter.toLowerCase() : letter
    ids.set(letter, (await created(client, path, { ...at, [member]: name })).id)
  }
  return [...'ABCDE'].map((letter) => ids.get(letter) as string | number)
}

// biome-ignore lint/suspicious/noExplicitAny: a node of either kind
const nameOf = (node: any): string => node.name ?? node.title

async function childrenOf(client: Client, folder: number, sort: string): Promise<string[]> {
  return (await client.get(`/folders/${folder}/children?sort=${sort}`)).body.data.map(nameOf)
}

// biome-ignore lint/suspicious/noExplicitAny: nodes of either kind
async function treeOf(client: Client, base: number, sort: string): Promise<any[]> {
  return (await client.get(`/knowledge-bases/${base}/tree?sort=${sort}`)).body.data.children
}
