import fc from 'fast-check'
import { lookupLocale } from '../../shared/localization/resolve.ts'
import { h, p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, type Made, make, put, refused } from '../support/documents.ts'
import { followEvents, type Received } from '../support/event-streams.ts'
import { queryString, searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh } from '../support/workers.ts'

const { signUp } = await startSearchService(t)

type Variant = { id: string; locale: string }

t.test('a read in a locale answers with the best variant, whatever member it names', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [h(1, 'English')])
  const ids = await localise(ada, made, { source: 'en', targets: ['zh', 'zh-Hant', 'fr-CA', 'de'] })
  for (const locale of Object.keys(ids)) {
    if (locale !== 'en') await put(ada, String(ids[locale]), [h(1, locale)])
  }
  for (const [requested, canonical, resolved] of [
    ['en', 'en', 'en'],
    ['EN-us', 'en-US', 'en'],
    ['zh-hant-tw', 'zh-Hant-TW', 'zh-Hant'],
    ['zh-Hans', 'zh-Hans', 'zh'],
    ['zh-x-y', 'zh-x-y', 'zh'],
    ['de-CH-1996', 'de-CH-1996', 'de'],
    ['fr', 'fr', 'en'],
    ['fr-ca', 'fr-CA', 'fr-CA'],
    ['ja', 'ja', 'en'],
  ] as const) {
    for (const from of [made.id, ids['de']]) {
      for (const part of ['', '/content', '/outline', '/read', '/read?view=outline']) {
        const { body, headers } = await ada.get(
          `/documents/${from}${part}${part.includes('?') ? '&' : '?'}locale=${requested}`,
        )
        const { requested_locale, resolved_locale, fallback_used } = body.data
        const expected = [canonical, resolved, resolved !== canonical]
        t.strictSame([requested_locale, resolved_locale, fallback_used], expected, `${requested} ${part}`)
        t.equal(body.data.document_id ?? body.data.id, ids[resolved])
        if (part !== '') t.equal(headers.get('etag'), (await bodyOf(ada, String(ids[resolved]))).etag)
      }
    }
  }
  const plain = (await ada.get(`/documents/${ids['de']}`)).body.data
  t.notOk('requested_locale' in plain, 'without a locale a document is what it is')
  t.equal(plain.locale, 'de')
  refused(t, await ada.get(`/documents/doc_nowhere?locale=de`), {
    status: 404,
    code: 'document_not_found',
    details: { id: 'doc_nowhere' },
  })
})

t.test('without its source a set falls back to the document that was named', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('one')])
  const ids = await localise(ada, made, { source: 'en', targets: ['de', 'fr'] })
  await ada.delete(`/documents/${made.id}`)
  const resolved = async (from: string | undefined, locale: string) => {
    return (await ada.get(`/documents/${from}?locale=${locale}`)).body.data
  }
  t.match(await resolved(ids['de'], 'fr'), { id: ids['fr'], resolved_locale: 'fr', fallback_used: false })
  t.match(await resolved(ids['de'], 'en'), { id: ids['de'], resolved_locale: 'de', fallback_used: true })
})

t.test('a cursor of one language does not go on in another', async (t) => {
  const ada = await signUp()
  const long = Array.from({ length: 40 }, (_, index) => p(`paragraph ${index} ${'word '.repeat(20)}`))
  const made = await make(ada, long)
  await localise(ada, made, { source: 'en', targets: ['de'] })
  const read = (query: object) => ada.get(`/documents/${made.id}/read?${queryString({ max_tokens: 64, ...query })}`)
  const first = (await read({ locale: 'en' })).body.data
  t.ok(first.next_cursor)
  t.equal((await read({ locale: 'en', cursor: first.next_cursor })).status, 200)
  for (const query of [{}, { locale: 'de' }]) {
    const reply = await read({ ...query, cursor: first.next_cursor })
    refused(t, reply, { status: 400, code: 'invalid_cursor' })
  }
})

t.test('lookup shortens a tag from its end and never finds a longer one', (t) => {
  const subtag = fc.constantFrom('en', 'US', 'Latn', 'x', 'a', 'private', '1996')
  const tag = fc.array(subtag, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('-'))
  const property = fc.property(tag, fc.uniqueArray(tag, { maxLength: 6 }), (requested, available) => {
    const found = lookupLocale(requested, new Set(available))
    const prefixes = available.filter((candidate) => requested === candidate || requested.startsWith(`${candidate}-`))
    const endsInSingle = (candidate: string) => candidate !== requested && /(^|-)[a-z0-9]$/i.test(candidate)
    const best = prefixes.filter((candidate) => !endsInSingle(candidate)).sort((a, b) => b.length - a.length)[0]
    return found === (best ?? null)
  })
  fc.assert(property)
  t.end()
})

t.test('lists show sources and ordinary documents, translations only when asked for', async (t) => {
  const ada = await signUp()
  const ordinary = await make(ada, [p('o')], { title: 'apple' })
  const made = await make(ada, [p('s')], { title: 'apricot' })
  const ids = await localise(ada, made, { source: 'en-US', targets: ['de', 'fr'] })
  const list = async (query: string) => {
    const { body } = await ada.get(`/documents?${query}`)
    return body.data.map(({ id }: Variant) => id).sort()
  }
  const all = [ordinary.id, ...Object.values(ids)].sort()
  t.strictSame(await list(''), [ordinary.id, made.id].sort())
  t.strictSame(await list('sort=updated_at'), [ordinary.id, made.id].sort())
  t.strictSame(await list('include_variants=true'), all)
  t.strictSame(await list('include_variants=false&locale=DE'), [ids['de']])
  t.strictSame(await list('locale=en-us'), [made.id])
  t.strictSame(await list('locale=en'), [], 'matched exactly')
  t.strictSame(await list('q=apr&include_variants=1'), Object.values(ids).sort())
  const { body } = await ada.get('/documents?locale=fr')
  t.match(body.data, [{ locale: 'fr', translation_freshness: 'unknown', translated_from_document_id: made.id }])
  const rows: Variant[] = []
  for (let cursor = ''; ; ) {
    const { data, page } = (await ada.get(`/documents?include_variants=1&limit=1${cursor}`)).body
    rows.push(...data)
    if (!page.has_more) break
    cursor = `&cursor=${page.next_cursor}`
  }
  t.strictSame(
    rows.map(({ id }) => id),
    all,
    'page by page',
  )
  const tree = await ada.get(`/knowledge-bases/${body.data[0].knowledge_base_id}/tree`)
  t.strictSame(
    tree.body.data.children.map(({ locale }: Variant) => locale).sort(),
    ['de', 'en-US', 'fr', null].sort(),
    'the tree has them all',
  )
})

t.test('search finds each language where it is asked for, in the words of that language', async (t) => {
  const ada = await signUp()
  // Title and text do not show their language.
  const made = await make(ada, [p('Kindern')], { title: 'x' })
  await untilFresh(ada)
  const found = async (q: string, locale?: string) => {
    const { results, projection } = await searchV2(ada, { q, ...(locale !== undefined && { locale }) })
    t.ok(projection.complete)
    return results.map(({ document_id }: { document_id: string }) => document_id)
  }
  t.strictSame(await found('Kind'), [], 'nothing says that it is German')
  const ids = await localise(ada, made, { source: 'de', targets: ['en'] })
  await untilFresh(ada)
  t.strictSame(await found('Kind'), [made.id], 'the locale says which stemmer')
  t.strictSame(await found('Kind', 'de'), [made.id])
  t.strictSame(await found('Kind', 'en'), [])
  await put(ada, String(ids['en']), [p('Houses')])
  await untilFresh(ada)
  t.strictSame(await found('house'), [], 'translations are out of the default scope')
  t.strictSame(await found('house', 'EN'), [ids['en']])
  t.strictSame(await found('house', 'all'), [ids['en']])
  t.match((await searchV2(ada, { q: 'house', locale: 'en' })).results, [
    { locale: 'en', document_set_id: /^docset_/, document_set_uri: /^svc:\/\/docset\// },
  ])
  t.strictSame((await ada.get('/search?q=house')).body.data, [])
  await ada.delete(`/documents/${made.id}/translations/${ids['en']}`)
  await ada.post(`/documents/${made.id}/translation/deactivate`)
  await untilFresh(ada)
  t.strictSame(await found('Kind'), [], 'an ordinary document again')
  t.strictSame(await found('Kindern', 'de'), [])
})

t.test('the stream of one set or one language shows its documents and nothing else', async (t) => {
  const ada = await signUp()
  await make(ada, [p('other')])
  const made = await make(ada, [p('one')])
  const french = await followEvents(t, ada, { query: '?locale=FR' })
  const ids = await localise(ada, made, { source: 'en', targets: ['de', 'fr'] })
  const setId = (await ada.get(`/documents/${made.id}`)).body.data.document_set_id
  const ofSet = await followEvents(t, ada, { query: `?document_set_id=${setId}`, lastEventId: 0 })
  await put(ada, String(ids['fr']), [p('un')])
  await ada.patch(`/documents/${made.id}/localizations/fr`, { workflow_status: 'in_review' })
  await ada.delete(`/documents/${made.id}/localizations/fr`)
  await ada.patch(`/documents/${made.id}`, { title: 'last' })
  const seen = ({ name, data }: Received) => [name.replace('document.', ''), data.document.locale, data.document_id]
  t.strictSame((await french.until(4)).map(seen), [
    ['created', 'fr', ids['fr']],
    ['content.updated', 'fr', ids['fr']],
    ['metadata.updated', 'fr', ids['fr']],
    ['deleted', 'fr', ids['fr']],
  ])
  const all = (await ofSet.until(7)).map(seen)
  t.strictSame(
    new Set(all.slice(0, 3).map(String)),
    new Set([`created,de,${ids['de']}`, `created,fr,${ids['fr']}`, `metadata.updated,en,${made.id}`]),
  )
  t.strictSame(
    all.slice(3).map(([name]) => name),
    ['content.updated', 'metadata.updated', 'deleted', 'metadata.updated'],
  )
  for (const { data } of ofSet.received) t.equal(data.document.document_set_id, setId)
})

/** Creates a document set and returns the ids of its members by locale. */
async function localise(
  client: Client,
  { id }: Made,
  locales: { source: string; targets: string[] },
): Promise<Record<string, string>> {
  const body = { source_locale: locales.source, target_locales: locales.targets }
  const { status, text, body: reply } = await client.post(`/documents/${id}/translation/activate`, body)
  if (status !== 201) throw new Error(`activate answered ${status}: ${text}`)
  return Object.fromEntries(reply.data.variants.map((variant: Variant) => [variant.locale, variant.id]))
}
