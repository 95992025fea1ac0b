import { sql } from '../../shared/database/database.ts'
import { h, node, p, text, ul } from '../document/build.ts'
import { bodyOf, put, refused } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { edit, ok, review, statusesOf, translate, unitsOf } from '../support/translations.ts'

const { signUp, database } = await sharedService()

t.test('units are the paragraphs and headings with text, at any depth, in the order of the source', async (t) => {
  const ada = await signUp()
  const { source, target, setId } = await translate(ada, [
    h(1, 'Title'),
    p(),
    p('  '),
    ul(p('item ', text('bold', 'bold'))),
    node('codeBlock', {}, 'code'),
    node('blockquote', {}, p('quoted')),
    p(node('inlineMath', { latex: 'x' })),
  ])
  const units = await unitsOf(ada, target)
  const { version } = await bodyOf(ada, target)
  t.match(units, [
    { position: 0, block_type: 'heading', source_text: 'Title', status: 'missing', freshness: 'unknown', origin: null },
    { position: 1, block_type: 'paragraph', source_text: 'item **bold**', target_text: null },
    { position: 2, block_type: 'paragraph', source_text: 'quoted', reviewed_at: null, reviewed_by: null },
  ])
  t.equal(units.length, 3)
  for (const unit of units) {
    t.match(unit, {
      document_set_id: setId,
      source_document_id: source.id,
      target_document_id: target,
      source_locale: 'en',
      target_locale: 'fr',
      source_version: source.version,
      target_version: version,
    })
    t.match(unit.target_block_ids, [/^block_/], 'the copied structure is mapped')
  }
})

t.test('a list of units is found by translation or locale, filtered by status, and paged', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one'), p('two'), p('three')])
  const [first] = await unitsOf(ada, target)
  await edit(ada, target, { block: first?.target_block_ids[0] ?? '', text: 'un' })
  const path = `/documents/${source.id}/translation-units`
  t.strictSame(ok(await ada.get(`${path}?locale=FR&status=missing`)).data.length, 2)
  t.strictSame(ok(await ada.get(`${path}?locale=fr&target_document_id=${target}`)).data.length, 3)
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const { data, page } = ok(await ada.get(`${path}?locale=fr&limit=2${cursor}`))
    seen.push(...data.map((unit: { source_text: string }) => unit.source_text))
    if (!page.has_more) break
    cursor = `&cursor=${page.next_cursor}`
  }
  t.strictSame(seen, ['one', 'two', 'three'])

  refused(t, await ada.get(path), { status: 400, code: 'invalid_request' })
  refused(t, await ada.get(`${path}?locale=de`), { status: 404, code: 'translation_not_found' })
  refused(t, await ada.get(`${path}?locale=e_n`), { status: 400, code: 'invalid_locale' })
  refused(t, await ada.get(`${path}?locale=`), { status: 400, code: 'invalid_locale' })
  refused(t, await ada.get(`${path}?locale=fr&status=done`), { status: 400, code: 'invalid_request' })
  refused(t, await ada.get(`${path}?target_document_id=${source.id}`), { status: 404, code: 'translation_not_found' })
  await ok(await ada.post(`/documents/${source.id}/translations`, { locale: 'de' }))
  refused(t, await ada.get(`${path}?locale=de&target_document_id=${target}`), { status: 400, code: 'invalid_request' })
  const bob = await signUp()
  refused(t, await bob.get(`${path}?locale=fr`), { status: 404, code: 'document_not_found' })
  const single = await ada.post('/documents', { title: 'single' })
  refused(t, await ada.get(`/documents/${single.body.data.id}/translation-units?locale=fr`), {
    status: 404,
    code: 'not_localized',
  })
})

t.test('a unit keeps its id as long as its text lives, through edits, moves and retyping', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one'), p('two'), ul(p('three'))])
  const ids = async () => Object.fromEntries((await unitsOf(ada, target)).map((u) => [u.source_text, u.id]))
  const before = await ids()
  const [one, two, list] = source.blocks
  if (one === undefined || two === undefined || list === undefined) throw new Error('blocks')
  const moved = [list, { ...two, type: 'heading', attrs: { ...two.attrs, level: 2 } }, p('new'), one]
  ok(await put(ada, source.id, moved))
  const after = await ids()
  t.match(after, { one: before['one'], two: before['two'], three: before['three'], new: /^tu_/ })
  t.strictSame(Object.keys(after), ['three', 'two', 'new', 'one'])
  await edit(ada, source.id, { block: one.attrs.id, text: '' })
  t.notOk('one' in (await ids()), 'a blank text is no unit')
  await edit(ada, source.id, { block: one.attrs.id, text: 'one' })
  t.not((await ids())['one'], before['one'], 'what comes back is another unit')
  ok(await ada.post(`/documents/${source.id}/versions/1/rollback`, undefined, { 'if-match': '*' }))
  t.strictSame(Object.keys(await ids()), ['one', 'two', 'three'])
})

t.test('work of people is told from what the source did meanwhile', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one'), p('two')])
  const [one, two] = await unitsOf(ada, target)
  const freshness = async () => ok(await ada.get(`/documents/${target}`)).data.translation_freshness as string
  const block = one?.target_block_ids[0] ?? ''
  await edit(ada, target, { block, text: 'un' })
  t.strictSame(await statusesOf(ada, target), ['manually_edited', 'missing'])
  t.equal(await freshness(), 'outdated')
  await edit(ada, source.id, { block: one?.source_block_id ?? '', text: 'one!' })
  t.strictSame(await statusesOf(ada, target), ['conflict', 'missing'])
  ok(await review(ada, target, { unit: one?.id ?? '', review_status: 'current' }))
  ok(await review(ada, target, { unit: two?.id ?? '', review_status: 'ignored' }))
  t.strictSame(await statusesOf(ada, target), ['current', 'ignored'])
  t.equal(await freshness(), 'current')
  const { version } = await bodyOf(ada, source.id)
  t.equal(ok(await ada.get(`/documents/${target}`)).data.translated_from_version, version)
  await edit(ada, source.id, { block: one?.source_block_id ?? '', text: 'one?' })
  t.strictSame(await statusesOf(ada, target), ['source_changed', 'ignored'])
  t.equal(await freshness(), 'outdated')
  const set = ok(await ada.get(`/documents/${source.id}/translations`)).data
  t.match(set.variants[1].translation_status_counts, { source_changed: 1, ignored: 1, missing: 0, conflict: 0 })
  t.notOk('translation_status_counts' in set.variants[0])
})

t.test('a review is held against the translation the person saw', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one'), p('two')])
  const [unit] = await unitsOf(ada, target)
  const path = `/documents/${source.id}/translation-units/${unit?.id}`
  const body = { target_document_id: target, review_status: 'current' }
  refused(t, await ada.patch(path, body), {
    status: 428,
    code: 'precondition_required',
    details: { missing: ['If-Match'] },
  })
  const { etag, version } = await bodyOf(ada, target)
  await edit(ada, target, { block: unit?.target_block_ids[0] ?? '', text: 'un' })
  const stale = await ada.patch(path, body, { 'if-match': etag })
  t.match(stale.body.error, { code: 'version_conflict', details: { provided: version } })
  t.equal(stale.headers.get('etag'), (await bodyOf(ada, target)).etag)
  t.strictSame(await statusesOf(ada, target), ['manually_edited', 'missing'])
  refused(t, await ada.patch(path, { ...body, review_status: 'missing' }, { 'if-match': '*' }), {
    status: 400,
    code: 'invalid_request',
  })
  for (const id of [source.id, 'nope']) {
    refused(t, await ada.patch(path, { ...body, target_document_id: id }, { 'if-match': '*' }), {
      status: 404,
      code: 'translation_not_found',
      details: { id, field: 'target_document_id' },
    })
  }
  refused(t, await ada.patch(`${path}0`, body, { 'if-match': '*' }), { status: 404, code: 'unit_not_found' })
  const viewer = await signUp({ role: 'viewer', workspace: ada.email })
  refused(t, await viewer.patch(path, body, { 'if-match': '*' }), { status: 403, code: 'forbidden' })
  refused(t, await viewer.patch(`${path}0`, body), { status: 404, code: 'unit_not_found' })
  refused(t, await viewer.post(`/documents/${source.id}/translations/doc_x/prepare`), {
    status: 404,
    code: 'translation_not_found',
  })
  const reader = await signUp({ workspace: ada.email, scopes: 'read_only' })
  refused(t, await reader.patch(path, body, { 'if-match': '*' }), { status: 403, code: 'insufficient_scope' })
  refused(t, await (await signUp()).patch(path, body, { 'if-match': '*' }), { status: 404, code: 'document_not_found' })

  const elsewhere = (await bodyOf(ada, source.id)).blocks[0]?.attrs.id
  const wrong = await review(ada, target, {
    unit: unit?.id ?? '',
    review_status: 'current',
    target_block_ids: [elsewhere],
  })
  t.match(wrong.body.error, { code: 'block_not_found', details: { path: '/target_block_ids/0', block_id: elsewhere } })
  t.equal(wrong.status, 422)
  const [, second] = await unitsOf(ada, target)
  const both = [...(second?.target_block_ids ?? []), ...(unit?.target_block_ids ?? [])]
  const mapped = ok(
    await review(ada, target, { unit: second?.id ?? '', review_status: 'current', target_block_ids: both }),
  )
  t.match(mapped.data, { target_block_ids: both, target_text: 'un', status: 'current', reviewed_by: ada.user_id })
})

t.test('preparing maps a translation that somebody wrote alone, and changes no word and no review', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [h(1, 'Title'), p('one'), p('two')], { mode: 'blank' })
  t.equal(ok(await ada.get(`/documents/${target}`)).data.translation_freshness, 'unknown')
  ok(await put(ada, target, [p('un'), h(1, 'Titre'), p('deux'), p('trois')]))
  t.strictSame(await statusesOf(ada, target), ['missing', 'missing', 'missing'])
  const path = `/documents/${source.id}/translations/${target}/prepare`
  t.match(ok(await ada.post(path, { align: 'none' })).data, { unit_count: 3, mapped: 0 })
  const before = await bodyOf(ada, target)
  t.match(ok(await ada.post(path)).data, {
    unit_count: 3,
    mapped: 3,
    target_document_id: target,
    source_version: source.version,
    target_version: before.version,
    status_counts: { manually_edited: 3, missing: 0 },
  })
  t.strictSame((await bodyOf(ada, target)).version, before.version)
  t.strictSame(
    (await unitsOf(ada, target)).map(({ target_text }) => target_text),
    ['Titre', 'un', 'deux'],
  )
  t.equal(ok(await ada.get(`/documents/${target}`)).data.translation_freshness, 'current')
  t.match(ok(await ada.post(path)).data, { mapped: 0 }, 'a second time changes nothing')
  await edit(ada, source.id, { block: source.blocks[1]?.attrs.id ?? '', text: 'one!' })
  t.strictSame(await statusesOf(ada, target), ['manually_edited', 'manually_edited', 'manually_edited'])
  const viewer = await signUp({ role: 'viewer', workspace: ada.email })
  refused(t, await viewer.post(path), { status: 403, code: 'forbidden' })
  refused(t, await ada.post(path, { align: 'by_magic' }), { status: 400, code: 'invalid_request' })
})

t.test('a preparation maps no block twice, and drops units of texts that are gone', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one'), p('two')], { mode: 'blank' })
  ok(await put(ada, target, [p('deux'), p('un')]))
  const [, second] = await unitsOf(ada, target)
  const [deux, un] = (await bodyOf(ada, target)).blocks.map(({ attrs }) => attrs.id)
  ok(await review(ada, target, { unit: second?.id ?? '', review_status: 'current', target_block_ids: [deux] }))
  await database.query(sql.unsafe`
    INSERT INTO translation_units (workspace_id, id, target_document_id, source_block_id, source_hash)
    SELECT workspace_id, 'tu_01KAM5Z8Q00000000000000000', target_document_id, 'block_01KAM5Z8Q00000000000000000', 'x'
    FROM translation_units WHERE id = ${second?.id ?? ''}`)
  t.match(ok(await ada.post(`/documents/${source.id}/translations/${target}/prepare`)).data, {
    unit_count: 2,
    mapped: 1,
  })
  t.strictSame(
    (await unitsOf(ada, target)).map(({ source_text, target_block_ids }) => [source_text, target_block_ids]),
    [
      ['one', [un]],
      ['two', [deux]],
    ],
  )
})

t.test('without its source a translation lives on without units', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one')])
  const [unit] = await unitsOf(ada, target)
  ok(await ada.delete(`/documents/${source.id}`))
  t.strictSame(await unitsOf(ada, target), [])
  t.equal(ok(await ada.get(`/documents/${target}`)).data.translation_freshness, 'unknown')
  const missing = { status: 409, code: 'source_document_missing' }
  refused(t, await review(ada, target, { unit: unit?.id ?? '', review_status: 'current' }), missing)
  refused(t, await ada.post(`/documents/${target}/translations/${target}/prepare`), missing)
  refused(t, await ada.post(`/documents/${target}/translation-jobs`), missing)
  await edit(ada, target, { block: (await bodyOf(ada, target)).blocks[0]?.attrs.id ?? '', text: 'un' })
})

t.test('the audit tells who did what to a set, newest first, by both names', async (t) => {
  const ada = await signUp()
  const { source, target, setId } = await translate(ada, [p('one')])
  const [unit] = await unitsOf(ada, target)
  const agent = { 'user-agent': 'robot/1.2 (my agent)', 'if-match': '*' }
  const path = `/documents/${source.id}`
  ok(
    await ada.patch(
      `${path}/translation-units/${unit?.id}`,
      { target_document_id: target, review_status: 'ignored' },
      agent,
    ),
  )
  ok(await ada.post(`${path}/translations/${target}/prepare`, {}))
  const { data, page } = ok(await ada.get(`${path}/translation-audit`))
  t.strictSame(page, { cursor: null, next_cursor: null, has_more: false })
  const actions = data.map(({ action }: { action: string }) => action)
  t.strictSame(actions.slice(0, 2), ['translation.prepared', 'unit.reviewed'])
  t.ok(actions.includes('set.activated'))
  t.match(data[1], {
    id: /^aud_/,
    document_set_id: setId,
    source_document_id: source.id,
    target_document_id: target,
    locale: 'fr',
    unit_id: unit?.id,
    job_id: null,
    actor: {
      user_id: ada.user_id,
      token_id: ada.token_id,
      client_name: 'my agent',
      client_version: '1.2',
      is_agent: true,
    },
    details: { review_status: 'ignored', status_before: 'missing' },
  })
  t.strictSame(ok(await ada.get(`/documents/${target}/localization-audit`)).data, data)
  const first = ok(await ada.get(`${path}/translation-audit?limit=1`))
  const rest = ok(await ada.get(`${path}/translation-audit?limit=100&cursor=${first.page.next_cursor}`))
  t.strictSame([...first.data, ...rest.data], data)
  const stranger = await signUp()
  refused(t, await stranger.get(`${path}/translation-audit`), { status: 404, code: 'document_not_found' })
  refused(t, await stranger.get(`${path}/translation-audit?cursor=x`), { status: 400, code: 'invalid_cursor' })
})
