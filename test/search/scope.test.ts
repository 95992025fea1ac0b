import { sql } from '../../shared/database/database.ts'
import type { Client } from '../support/client.ts'
import { queryString, searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { rewrite, startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)

t.test('a search in one knowledge base answers about that one alone', async (t) => {
  const ada = await service.signUp()
  const [one, two] = [await createBase(ada, 'One'), await createBase(ada, 'Two')]
  const document = await write(ada, 'a lone badger', { knowledge_base_id: one })
  await write(ada, 'another badger', { knowledge_base_id: two })
  await untilFresh(ada)

  for (const mode of ['topk', 'exhaustive']) {
    const { results, projection } = await searchV2(ada, { q: 'badger', knowledge_base_id: one, mode })
    t.strictSame(results.map(idOf), [document.id])
    t.equal(projection.document_count, 1)
  }
  t.equal((await searchV2(ada, { q: 'badger' })).results.length, 2)
  t.strictSame((await ada.get(`/search?q=badger&knowledge_base_id=${one}`)).body.data.map(idOf), [document.id])

  const bob = await service.signUp()
  for (const [client, id] of [
    [ada, 987_654_321],
    [bob, one],
    [ada, '9007199254740991'],
    [ada, '9999999999999999'],
  ] as const) {
    const { results, projection } = await searchV2(client, { q: 'badger', knowledge_base_id: id })
    t.strictSame(results, [], 'an unknown one is empty, not missing')
    t.match(projection, { document_count: 0, complete: true })
    t.strictSame((await client.get(`/search?q=badger&knowledge_base_id=${id}`)).body.data, [])
  }
  for (const path of ['/search', '/search/v2']) {
    const reply = await ada.get(`${path}?q=badger&knowledge_base_id=0${one}`)
    t.match(reply, { status: 400, body: { error: { details: { fields: [{ path: '?knowledge_base_id' }] } } } })
  }
})

t.test('translations are searched only when their language is asked for', async (t) => {
  const ada = await service.signUp()
  const ordinary = await write(ada, 'ordinary gecko')
  const source = await write(ada, 'first')
  const translation = await write(ada, 'first')
  await localise(source.id, { locale: 'en-US', role: 'source' })
  await localise(translation.id, { locale: 'de', role: 'translation' })
  await rewrite(ada, source.id, 'source gecko')
  await rewrite(ada, translation.id, 'translated gecko')
  await untilFresh(ada)

  const found = async (locale?: string) => {
    const query = { q: 'gecko', mode: 'exhaustive', ...(locale !== undefined && { locale }) }
    const { results, projection } = await searchV2(ada, query)
    t.equal(projection.document_count, results.length, `document_count for ${locale}`)
    return results.map(idOf)
  }
  t.strictSame(await found(), [ordinary.id, source.id].sort())
  t.strictSame(await found('all'), [ordinary.id, source.id, translation.id].sort())
  t.strictSame(await found('DE'), [translation.id])
  t.strictSame(await found('en-us'), [source.id])
  t.strictSame(await found('en'), [], 'a locale is matched exactly')
  t.match((await searchV2(ada, { q: 'gecko', locale: 'de' })).results, [{ locale: 'de' }])
  t.strictSame((await ada.get('/search?q=gecko')).body.data.map(idOf).sort(), [ordinary.id, source.id].sort())
  for (const locale of ['en_US', 'und', '', 'x'.repeat(40)]) {
    const reply = await ada.get(`/search/v2?${queryString({ q: 'gecko', locale })}`)
    t.match(reply, { status: 400, body: { error: { code: 'invalid_locale', details: { field: 'locale' } } } }, locale)
  }
})

t.test('nobody finds what belongs to a workspace that they are not a member of', async (t) => {
  const workspace = `Shared ${Math.random()}`
  const [ada, bob, eve] = [await service.signUp({ workspace }), await service.signUp(), await service.signUp()]
  await write(ada, 'the secret platypus')
  await write(bob, 'another platypus')
  await untilFresh(ada)
  await untilFresh(bob)
  for (const mode of ['topk', 'exhaustive']) {
    const { results, projection } = await searchV2(eve, { q: 'platypus', mode })
    t.strictSame(results, [])
    t.match(projection, { document_count: 0, stale_document_count: 0, stale_document_ids: [], complete: true })
  }
  t.strictSame((await eve.get('/search?q=platypus')).body.data, [])
  const viewer = await service.signUp({ email: bob.email, workspace, role: 'viewer' })
  const both = await searchV2(viewer, { q: 'platypus' })
  t.strictSame(both.results.map(matched).sort(), ['another platypus', 'the secret platypus'])
  t.equal(both.projection.document_count, 2)
})

type Hit = { document_id: string; context: { before: string | null; match: string; after: string | null } }

const idOf = (hit: Hit) => hit.document_id
const matched = ({ context }: Hit) => `${context.before ?? ''}${context.match}${context.after ?? ''}`

async function createBase(client: Client, name: string): Promise<number> {
  return (await client.post('/knowledge-bases', { name })).body.data.id
}

async function localise(id: string, { locale, role }: { locale: string; role: string }): Promise<void> {
  await service.database.query(sql.unsafe`
    UPDATE documents SET locale = ${locale}, variant_role = ${role} WHERE id = ${id}`)
}
