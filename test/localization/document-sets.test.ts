import { sql } from 'slonik'
import { node, p, text } from '../document/build.ts'
import { uploaded } from '../support/attachments.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, eventsOf, make, put, refused } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

// Deletions are final here, so that a set goes with its last member.
const { signUp, database } = await sharedService({ TRASH_RETENTION_DAYS: '0' })
const ada = await signUp()
const families = [
  { plural: 'translations', singular: 'translation', nameOf: ({ id }: Member) => id },
  { plural: 'localizations', singular: 'localization', nameOf: ({ locale }: Member) => locale },
]
type Member = { id: string; locale: string }

t.test('an activated document is the source of a set with a translation for each locale', async (t) => {
  for (const { singular } of families) {
    const { id, version } = await make(ada, [p('one')], {
      title: `${'ä'.repeat(199)}  and more`,
      heading_numbered: true,
    })
    const before = (await ada.get(`/documents/${id}`)).body.data
    const reply = await ada.post(`/documents/${id}/${singular}/activate`, {
      source_locale: 'en-us',
      target_locales: ['iw', 'fr'],
    })
    t.equal(reply.status, 201, reply.text)
    const set = reply.body.data
    t.match(set.id, /^docset_[0-9A-HJKMNP-TV-Z]{26}$/)
    t.equal(reply.headers.get('location'), `/api/v1/document-sets/${set.id}`)
    t.match(set, {
      uri: `svc://docset/${set.id}`,
      source_document_id: id,
      source_locale: 'en-US',
      fallback_locale: 'en-US',
      available_locales: ['en-US', 'fr', 'he'],
    })
    t.strictSame(
      set.variants.map(({ locale }: Member) => locale),
      ['en-US', 'fr', 'he'],
      'the source first',
    )
    t.strictSame(set.source, set.variants[0])
    t.notOk('translation_status_counts' in set.source)
    const french = set.variants[1]
    t.strictSame(french, {
      id: french.id,
      title: 'ä'.repeat(199),
      locale: 'fr',
      variant_role: 'translation',
      workflow_status: 'draft',
      document_set_id: set.id,
      document_set_uri: set.uri,
      translation_freshness: 'unknown',
      translation_status_counts: counts({ missing: 1 }),
      translated_from_document_id: id,
      translated_from_version: null,
    })
    const source = (await ada.get(`/documents/${id}`)).body.data
    t.match(source, {
      document_set_id: set.id,
      document_set_uri: set.uri,
      locale: 'en-US',
      variant_role: 'source',
      workflow_status: 'draft',
      translation_freshness: 'current',
      translated_from_document_id: null,
      translated_from_version: null,
      version,
    })
    t.ok(source.updated_at >= before.updated_at)
    const document = (await ada.get(`/documents/${french.id}`)).body.data
    t.match(document, { knowledge_base_id: source.knowledge_base_id, folder_id: null, heading_numbered: true })
    t.strictSame((await bodyOf(ada, french.id)).blocks.length, 1, 'one empty paragraph')
    t.equal((await bodyOf(ada, french.id)).blocks[0]?.content, undefined)
    t.strictSame(await eventsOf(database, id), ['document.created', 'document.metadata.updated'])
    t.strictSame(await eventsOf(database, french.id), ['document.created'])
    for (const { plural } of families) {
      t.strictSame((await ada.get(`/documents/${french.id}/${plural}`)).body.data, set, 'from any member')
    }
    t.strictSame((await ada.get(`/document-sets/${set.id}`)).body.data, set)
  }
})

t.test('what an activation cannot mean is refused, and nothing is left of it', async (t) => {
  const { id } = await make(ada, [p('one')])
  const activate = (body: object) => ada.post(`/documents/${id}/translation/activate`, body)
  for (const [body, field] of [
    [{ source_locale: 'en_US' }, 'source_locale'],
    [{ source_locale: 'und' }, 'source_locale'],
    [{ source_locale: '' }, 'source_locale'],
    [{ source_locale: `en-x-${'abcdefgh-'.repeat(5)}z` }, 'source_locale'],
    [{ source_locale: 'en', target_locales: ['fr', 'x_y'] }, 'target_locales/1'],
  ] as const) {
    t.match(
      await activate(body),
      { status: 422, body: { error: { code: 'invalid_locale', details: { field } } } },
      field,
    )
  }
  for (const targets of [['en'], ['EN'], ['fr', 'FR'], ['he', 'iw']]) {
    const reply = await activate({ source_locale: 'en', target_locales: targets })
    const path = `/target_locales/${targets.length - 1}`
    t.match(reply, { status: 422, body: { error: { code: 'invalid_translation', details: { fields: [{ path }] } } } })
  }
  for (const body of [
    {},
    { source_locale: 1 },
    { source_locale: 'en', create_mode: 'x' },
    { source_locale: '\ud800' },
  ]) {
    t.match(await activate(body), { status: 400, body: { error: { code: 'invalid_request' } } })
  }
  t.match((await ada.get(`/documents/${id}`)).body.data, { document_set_id: null, locale: null })
  refused(t, await ada.get(`/documents/${id}/translations`), notFound('not_localized', id))
  for (const write of [
    () => ada.post(`/documents/${id}/translations`, { locale: 'fr' }),
    () => ada.post(`/documents/${id}/localization/deactivate`),
    () => ada.patch(`/documents/${id}/translations/doc_x`, { title: 'x' }),
    () => ada.delete(`/documents/${id}/localizations/fr`),
  ]) {
    refused(t, await write(), { status: 409, code: 'localization_not_active' })
  }
  const set = (await activate({ source_locale: 'en' })).body.data
  const details = { document_set_id: set.id }
  refused(t, await activate({ source_locale: 'x_y' }), { status: 409, code: 'localization_already_active', details })
})

t.test('a copied structure has the source’s blocks and attributes, new ids and none of its sentences', async (t) => {
  const table = node('table', {}, node('tableRow', {}, node('tableHeader', { colspan: 2 }, p('cell'))))
  const { id, version, blocks } = await make(ada, [
    node('heading', { level: 3, textAlign: 'center' }, 'Title'),
    p('a ', text('bold', 'bold'), node('hardBreak'), node('inlineImage', { src: 'https://x.test/a.png' })),
    node('codeBlock', { language: 'js' }, 'let a = 1'),
    node('image', { src: 'https://x.test/b.png', alt: 'b' }),
    p(node('inlineImage', { src: 'https://x.test/c.png' })),
    node('horizontalRule'),
    node('taskList', {}, node('taskItem', { checked: true }, p('errand'))),
    node('callout', { kind: 'tip' }, p('careful')),
    table,
    node('blockMath', { latex: 'x^2' }),
  ])
  const set = await activate(ada, id, { source_locale: 'en', target_locales: ['de'], create_mode: 'copy_structure' })
  const german = set.variants[1]
  t.equal(german.translated_from_version, version)
  t.equal(german.translation_freshness, 'outdated')
  t.strictSame(german.translation_status_counts, counts({ missing: 5 }))
  const copy = await bodyOf(ada, german.id)
  t.strictSame(
    copy.blocks.map(({ type }) => type),
    blocks.map(({ type }) => type),
  )
  const ids = (body: unknown) => JSON.stringify(body).match(/block_[0-9A-Z]{26}/g) ?? []
  t.equal(ids(copy.blocks).length, ids(blocks).length, 'as many blocks')
  t.strictSame(
    ids(copy.blocks).filter((block) => (ids(blocks) as string[]).includes(block)),
    [],
    'under ids of their own',
  )
  const { content: _none, ...heading } = copy.blocks[0] as never as { content?: unknown }
  t.match(heading, { type: 'heading', attrs: { level: 3, textAlign: 'center' } })
  const written = JSON.stringify(copy.blocks)
  for (const gone of ['Title', '"bold"', 'errand', 'careful', 'cell', 'a.png']) t.notMatch(written, gone)
  for (const kept of ['let a = 1', 'b.png', 'c.png', 'x^2', '"checked":true', '"kind":"tip"', '"colspan":2']) {
    t.match(written, kept)
  }
  const again = await put(ada, german.id, copy.blocks)
  t.equal(again.body.data.version, copy.version, 'the copy is in normal form')
})

t.test('a copy shows the pictures of its source, dead ones too, and keeps the others from being deleted', async (t) => {
  const { id } = await make(ada, [p('one')])
  const [kept, lost] = [await uploaded(ada, { documentId: id }), await uploaded(ada, { documentId: id })]
  const picture = (attachmentId: string) => node('image', { attachmentId })
  await put(ada, id, [picture(kept), picture(lost)])
  await put(ada, id, [picture(kept)])
  t.equal((await ada.delete(`/attachments/${lost}`)).status, 204)
  t.equal((await ada.post(`/documents/${id}/versions/2/rollback`, undefined, { 'if-match': '*' })).status, 200)
  const set = await activate(ada, id, { source_locale: 'en', target_locales: ['fr'], create_mode: 'copy_structure' })
  const french = set.variants[1].id
  const shown = (await bodyOf(ada, french)).blocks.map(({ attrs }) => attrs['attachmentId'])
  t.strictSame(shown, [kept, lost])
  const reply = await ada.delete(`/attachments/${kept}`)
  t.match(reply, { status: 409, body: { error: { code: 'attachment_referenced' } } })
  t.strictSame([...reply.body.error.details.document_ids].sort(), [id, french].sort())
})

t.test('translations are added by any member, once for each locale', async (t) => {
  const { id } = await make(ada, [p('one')], { title: 'Source' })
  const set = await activate(ada, id, { source_locale: 'en' })
  const french = await ada.post(`/documents/${id}/translations`, { locale: 'FR' })
  t.equal(french.status, 201, french.text)
  t.equal(french.headers.get('location'), `/api/v1/documents/${french.body.data.id}`)
  t.match(french.body.data, { locale: 'fr', title: 'Source', document_set_id: set.id, variant_role: 'translation' })
  const german = await ada.post(`/documents/${french.body.data.id}/localizations`, {
    locale: 'de-Latn-DE',
    create_mode: 'copy_structure',
  })
  t.equal(german.status, 201, german.text)
  t.equal(german.body.data.translated_from_document_id, id, 'from the source')
  for (const [locale, existing] of [
    ['fr', french.body.data.id],
    ['en', id],
  ]) {
    const details = { locale, document_id: existing }
    const reply = await ada.post(`/documents/${id}/translations`, { locale })
    refused(t, reply, { status: 409, code: 'locale_exists', details })
  }
  const details = { locale: 'fr_FR', field: 'locale' }
  const malformed = await ada.post(`/documents/${id}/translations`, { locale: 'fr_FR' })
  refused(t, malformed, { status: 422, code: 'invalid_locale', details })
  const key = { 'idempotency-key': 'once' }
  const [first, second] = [
    await ada.post(`/documents/${id}/translations`, { locale: 'it' }, key),
    await ada.post(`/documents/${id}/translations`, { locale: 'it' }, key),
  ]
  t.strictSame([first.status, second.status], [201, 201])
  t.equal(second.headers.get('idempotent-replayed'), 'true')
  t.strictSame(second.body.data, first.body.data)
  const tree = await ada.get(`/knowledge-bases/${(await ada.get(`/documents/${id}`)).body.data.knowledge_base_id}/tree`)
  t.match(tree.text, first.body.data.id, 'the tree has variants')
})

t.test('title and workflow status of every member can be changed, and only changes are announced', async (t) => {
  for (const { plural, nameOf } of families) {
    const { id } = await make(ada, [p('one')], { title: 'Source' })
    const set = await activate(ada, id, { source_locale: 'en', target_locales: ['fr'] })
    const [source, french] = set.variants
    const path = `/documents/${id}/${plural}/${nameOf(french)}`
    const changed = await ada.patch(path, { title: ' Titre ', workflow_status: 'published' })
    t.match(changed, { status: 200, body: { data: { title: 'Titre', workflow_status: 'published', locale: 'fr' } } })
    const { updated_at } = (await ada.get(`/documents/${french.id}`)).body.data
    t.strictSame((await ada.patch(path, { workflow_status: 'published' })).body.data, changed.body.data)
    t.strictSame((await ada.patch(path, {})).body.data, changed.body.data)
    t.equal((await ada.get(`/documents/${french.id}`)).body.data.updated_at, updated_at)
    t.strictSame(await eventsOf(database, french.id), ['document.created', 'document.metadata.updated'])
    t.match((await ada.patch(path, { workflow_status: 'draft' })).body.data, { workflow_status: 'draft' })
    const ofSource = await ada.patch(`/documents/${french.id}/${plural}/${nameOf(source)}`, {
      workflow_status: 'in_review',
    })
    t.match(ofSource, { status: 200, body: { data: { id, workflow_status: 'in_review', variant_role: 'source' } } })
    for (const body of [
      { title: '' },
      { title: '  ' },
      { title: 'x'.repeat(201) },
      { workflow_status: 'done' },
      { title: null },
    ]) {
      t.match(await ada.patch(path, body), { status: 400, body: { error: { code: 'invalid_request' } } })
    }
    t.equal((await ada.patch(path, { title: '👩‍👩‍👧'.repeat(40) })).status, 200, '200 code points')
  }
})

t.test('a translation’s title keeps its limit on every path, and an old longer one blocks nothing', async (t) => {
  const { id } = await make(ada, [p('one')])
  const french = (await activate(ada, id, { source_locale: 'en', target_locales: ['fr'] })).variants[1].id
  const viewer = await signUp({ role: 'viewer', workspace: ada.email })
  for (const client of [ada, viewer]) {
    const reply = await client.patch(`/documents/${french}`, { title: 'x'.repeat(201) })
    refused(t, reply, { status: 400, code: 'invalid_request', details: reply.body.error.details })
    t.match(reply.body.error.details, { fields: [{ path: '/title' }] })
  }
  const longest = '👩'.repeat(200)
  t.match(await ada.patch(`/documents/${french}`, { title: ` ${longest} ` }), { body: { data: { title: longest } } })
  t.equal((await ada.patch(`/documents/${id}`, { title: 'x'.repeat(500) })).status, 200, 'the source keeps its own')
  await database.query(sql.unsafe`UPDATE documents SET title = ${'x'.repeat(201)} WHERE id = ${french}`)
  t.match(await ada.patch(`/documents/${french}`, { heading_numbered: true }), {
    status: 200,
    body: { data: { heading_numbered: true, title: 'x'.repeat(201) } },
  })
})

t.test('paths that name no member are refused', async (t) => {
  const { id } = await make(ada, [p('one')])
  const other = await make(ada, [p('two')])
  await activate(ada, id, { source_locale: 'en', target_locales: ['fr'] })
  const foreign = (await activate(ada, other.id, { source_locale: 'en', target_locales: ['fr', 'de'] })).variants[1]
  for (const [path, name] of [
    [`translations/${foreign.id}`, foreign.id],
    ['translations/doc_nowhere', 'doc_nowhere'],
    ['translations/nonsense', 'nonsense'],
    ['localizations/DE', 'de'],
  ]) {
    const expected = notFound('translation_not_found', String(name))
    refused(t, await ada.patch(`/documents/${id}/${path}`, {}), expected)
    refused(t, await ada.delete(`/documents/${id}/${path}`), expected)
  }
  const details = { locale: 'f_r', field: 'locale' }
  for (const reply of [
    await ada.patch(`/documents/${id}/localizations/f_r`, {}),
    await ada.delete(`/documents/${id}/localizations/f_r`),
  ]) {
    refused(t, reply, { status: 400, code: 'invalid_locale', details })
  }
  refused(t, await ada.get('/document-sets/docset_x'), notFound('document_set_not_found', 'docset_x'))
  const unknown = `docset_${'0'.repeat(26)}`
  refused(t, await ada.get(`/document-sets/${unknown}`), notFound('document_set_not_found', unknown))
  refused(t, await ada.get('/documents/doc_nowhere/translations'), notFound('document_not_found', 'doc_nowhere'))
})

t.test('a set shrinks to its source, which can be made an ordinary document again', async (t) => {
  const { id } = await make(ada, [p('one')])
  const set = await activate(ada, id, { source_locale: 'en', target_locales: ['fr', 'de'] })
  const [, german, french] = set.variants
  const cannot = { status: 409, code: 'cannot_delete_source', details: { document_set_id: set.id } }
  refused(t, await ada.delete(`/documents/${french.id}/translations/${id}`), cannot)
  refused(t, await ada.delete(`/documents/${id}/localizations/en`), cannot)
  const deactivate = () => ada.post(`/documents/${id}/translation/deactivate`)
  refused(t, await deactivate(), { status: 409, code: 'translations_exist', details: { locales: ['de', 'fr'] } })
  t.equal((await ada.delete(`/documents/${id}/translations/${french.id}`)).status, 204)
  t.equal((await ada.delete(`/documents/${german.id}/localizations/de`)).status, 204, 'by its own path')
  t.equal((await ada.get(`/documents/${french.id}`)).status, 404)
  t.strictSame(await eventsOf(database, french.id), ['document.created', 'document.deleted'])
  const deletion = await database.oneFirst(sql.unsafe`
    SELECT document FROM events WHERE document_id = ${french.id} AND name = 'document.deleted'`)
  t.match(deletion, { locale: 'fr', document_set_id: set.id }, 'a deletion can be filtered for')
  const reply = await deactivate()
  t.match(reply, {
    status: 200,
    body: { data: { id, document_set_id: null, locale: null, variant_role: null, workflow_status: null } },
  })
  refused(t, await ada.get(`/document-sets/${set.id}`), notFound('document_set_not_found', set.id))
  refused(t, await deactivate(), { status: 409, code: 'localization_not_active' })
  const activations = ['document.created', 'document.metadata.updated', 'document.metadata.updated']
  t.strictSame(await eventsOf(database, id), activations)
  t.equal((await ada.post(`/documents/${id}/localization/activate`, { source_locale: 'fr' })).status, 201, 'and again')
})

t.test('translations outlive their source, and the last one takes the set along', async (t) => {
  const { id } = await make(ada, [p('one')])
  const set = await activate(ada, id, {
    source_locale: 'en',
    target_locales: ['fr', 'de'],
    create_mode: 'copy_structure',
  })
  const [, german, french] = set.variants
  t.equal((await ada.delete(`/documents/${id}`)).status, 204)
  const left = (await ada.get(`/document-sets/${set.id}`)).body.data
  t.match(left, { source: null, source_document_id: id, source_locale: 'en', available_locales: ['de', 'fr'] })
  t.strictSame(
    left.variants.map(({ translation_freshness }: never) => translation_freshness),
    ['unknown', 'unknown'],
  )
  t.match((await ada.get(`/documents/${french.id}`)).body.data, {
    translation_freshness: 'unknown',
    translated_from_document_id: id,
  })
  const missing = { status: 409, code: 'source_document_missing', details: { document_set_id: set.id } }
  refused(t, await ada.post(`/documents/${french.id}/translations`, { locale: 'it' }), missing)
  const exist = { status: 409, code: 'translations_exist', details: { locales: ['de', 'fr'] } }
  refused(t, await ada.post(`/documents/${french.id}/translation/deactivate`), exist)
  t.equal((await ada.patch(`/documents/${french.id}/localizations/fr`, { title: 'x' })).status, 200)
  t.equal((await ada.delete(`/documents/${french.id}/localizations/fr`)).status, 204)
  t.equal(await auditCount(set.id), 5, 'the audit is there as long as the set is')
  t.equal((await ada.delete(`/documents/${german.id}`)).status, 204)
  refused(t, await ada.get(`/document-sets/${set.id}`), notFound('document_set_not_found', set.id))
  t.equal(await auditCount(set.id), 0)
})

t.test('a set goes with the folder or knowledge base of its members', async (t) => {
  const base = (await ada.post('/knowledge-bases', { name: 'Base' })).body.data.id
  const folder = (await ada.post('/folders', { name: 'Folder', knowledge_base_id: base })).body.data.id
  const inFolder = await make(ada, [p('one')], { folder_id: folder })
  const atRoot = await make(ada, [p('one')], { knowledge_base_id: base })
  const first = await activate(ada, inFolder.id, { source_locale: 'en', target_locales: ['fr'] })
  const second = await activate(ada, atRoot.id, { source_locale: 'en', target_locales: ['fr'] })
  t.match((await ada.get(`/documents/${first.variants[1].id}`)).body.data, {
    folder_id: folder,
    knowledge_base_id: base,
  })
  t.equal((await ada.patch(`/documents/${second.variants[1].id}`, { folder_id: folder })).status, 200)
  t.equal((await ada.delete(`/folders/${folder}`)).status, 204)
  t.equal((await ada.get(`/document-sets/${first.id}`)).status, 404)
  t.strictSame((await ada.get(`/document-sets/${second.id}`)).body.data.available_locales, ['en'])
  t.equal((await ada.delete(`/knowledge-bases/${base}`, { confirm_id: base })).status, 204)
  t.equal((await ada.get(`/document-sets/${second.id}`)).status, 404)
})

t.test('the audit says who did what, and with which program', async (t) => {
  const { id } = await make(ada, [p('one')])
  const agent = { 'user-agent': 'scribe/2.1 (translation agent)' }
  const activation = { source_locale: 'en', target_locales: ['fr'] }
  const set = (await ada.post(`/documents/${id}/translation/activate`, activation, agent)).body.data
  const french = set.variants[1]
  await ada.patch(`/documents/${id}/localizations/fr`, { title: 'Un' })
  await ada.patch(`/documents/${id}/localizations/fr`, { title: 'Un' })
  const italian = (await ada.post(`/documents/${id}/translations`, { locale: 'it' })).body.data
  await ada.delete(`/documents/${id}/localizations/it`)
  const ofSet = { document_set_id: set.id, source_document_id: id, unit_id: null, job_id: null }
  const person = { user_id: ada.user_id, token_id: ada.token_id }
  for (const path of ['translation-audit', 'localization-audit']) {
    const { body } = await ada.get(`/documents/${french.id}/${path}`)
    const of = ({ action, locale, target_document_id }: Record<string, string>) => [action, locale, target_document_id]
    t.strictSame(body.data.map(of), [
      ['translation.deleted', 'it', italian.id],
      ['translation.added', 'it', italian.id],
      ['translation.updated', 'fr', french.id],
      ['translation.added', 'fr', french.id],
      ['set.activated', 'en', null],
    ])
    const client = { client_name: 'translation agent', client_version: '2.1', is_agent: true }
    t.match(body.data[4], { ...ofSet, id: /^aud_/, actor: { ...person, ...client } })
    t.match(body.data[0], { ...ofSet, actor: { ...person, is_agent: false } })
  }
})

t.test('the audit of a set tells of every translation that is gone, whichever way it went', async (t) => {
  const { id } = await make(ada, [p('one')])
  const set = await activate(ada, id, { source_locale: 'en', target_locales: ['fr', 'de', 'it'] })
  const target = (locale: string) => set.variants.find((member: Member) => member.locale === locale).id
  const { knowledge_base_id } = (await ada.get(`/documents/${id}`)).body.data
  const folder = (await ada.post('/folders', { name: 'Old', knowledge_base_id })).body.data.id
  t.equal((await ada.patch(`/documents/${target('it')}`, { folder_id: folder })).status, 200)
  const agent = { 'user-agent': 'scribe/2.1 (translation agent)' }
  for (const path of [
    `/documents/${id}/translations/${target('fr')}`,
    `/documents/${target('de')}`,
    `/folders/${folder}`,
  ]) {
    t.equal((await ada.delete(path, undefined, agent)).status, 204)
  }
  const { data } = (await ada.get(`/documents/${id}/translation-audit`)).body
  const gone = data.filter(({ action }: { action: string }) => action === 'translation.deleted')
  t.match(
    gone,
    ['it', 'de', 'fr'].map((locale) => ({
      document_set_id: set.id,
      source_document_id: id,
      target_document_id: target(locale),
      locale,
      actor: { user_id: ada.user_id, client_version: '2.1', is_agent: true },
    })),
  )
  t.equal(gone.length, 3, 'each once')
})

t.test('who may not see a set does not find it, and who may not write leaves it as it is', async (t) => {
  const { id } = await make(ada, [p('one')])
  const set = await activate(ada, id, { source_locale: 'en', target_locales: ['fr'] })
  const french = set.variants[1]
  const stranger = await signUp()
  const viewer = await signUp({ workspace: 'shared', role: 'viewer' })
  const editor = await signUp({ workspace: 'shared', role: 'editor' })
  const shared = await make(editor, [p('one')])
  const writes = (client: Client, document: string, target: string) => [
    client.post(`/documents/${document}/translation/activate`, { source_locale: 'en' }),
    client.post(`/documents/${document}/localizations`, { locale: 'it' }),
    client.patch(`/documents/${document}/translations/${target}`, { title: 'x' }),
    client.delete(`/documents/${document}/localizations/fr`),
    client.post(`/documents/${document}/translation/deactivate`),
  ]
  for (const reply of await Promise.all(writes(stranger, id, french.id))) {
    refused(t, reply, notFound('document_not_found', id))
  }
  refused(t, await stranger.get(`/document-sets/${set.id}`), notFound('document_set_not_found', set.id))
  refused(t, await stranger.get(`/documents/${id}/translations`), notFound('document_not_found', id))
  for (const reply of await Promise.all(writes(viewer, shared.id, 'doc_x'))) {
    t.match(reply, { status: 403, body: { error: { code: 'forbidden' } } })
  }
  await activate(editor, shared.id, { source_locale: 'en' })
  for (const reply of (await Promise.all(writes(viewer, shared.id, 'doc_x'))).slice(2, 4)) {
    t.match(reply, { status: 404, body: { error: { code: 'translation_not_found' } } })
  }
  const reader = await signUp({ email: ada.email, scopes: 'read_only' })
  for (const reply of await Promise.all(writes(reader, id, french.id))) {
    t.match(reply, { status: 403, body: { error: { code: 'insufficient_scope' } } })
  }
  t.strictSame((await reader.get(`/document-sets/${set.id}`)).body.data, set)
})

t.test('translations count against the quota of documents, all of an activation at once', async (t) => {
  const eve = await (await sharedService({ QUOTA_DOCUMENTS: '5' })).signUp()
  const { id } = await make(eve, [p('one')])
  for (const title of ['two', 'three']) await eve.post('/documents', { title })
  const attempt = (targets: string[]) =>
    eve.post(`/documents/${id}/translation/activate`, { source_locale: 'en', target_locales: targets })
  const exceeded = { status: 409, code: 'quota_exceeded', details: { quota: 'documents', limit: 5, used: 3 } }
  refused(t, await attempt(['fr', 'de', 'it']), exceeded)
  t.equal((await eve.get(`/documents/${id}`)).body.data.document_set_id, null)
  t.equal((await attempt(['fr', 'de'])).status, 201)
  const full = { ...exceeded, details: { ...exceeded.details, used: 5 } }
  refused(t, await eve.post(`/documents/${id}/translations`, { locale: 'zh' }), full)
  t.equal((await eve.get('/me/quota')).body.data.usage.documents, 5)
})

function notFound(code: string, id: string) {
  return { status: 404, code, details: { id } }
}

function counts(given: object): object {
  return {
    missing: 0,
    machine_translated: 0,
    manually_edited: 0,
    current: 0,
    source_changed: 0,
    conflict: 0,
    ignored: 0,
    ...given,
  }
}

async function activate(client: Client, id: string, body: object) {
  const reply = await client.post(`/documents/${id}/translation/activate`, body)
  if (reply.status !== 201) throw new Error(`activate answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}

async function auditCount(setId: string): Promise<number> {
  return Number(
    await database.oneFirst(sql.unsafe`SELECT count(*) FROM translation_audit WHERE document_set_id = ${setId}`),
  )
}
