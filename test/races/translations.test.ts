import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { p } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { eventsOf, make, put } from '../support/documents.ts'
import { raceRounds } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'

const { signUp, database } = await sharedService()

// Document sets of which no member is left, not even in the trash.
const setsWithoutMembers = sql.fragment`document_sets s
  WHERE NOT EXISTS (SELECT FROM documents d WHERE d.document_set_id = s.id)
    AND NOT EXISTS (SELECT FROM trash_rows r WHERE r.table_name = 'documents' AND r.row ->> 'document_set_id' = s.id)`

t.test('of activations at once one makes the set, and the others find it', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const { id } = await make(ada, [p('one')])
    const activation = { source_locale: 'en', target_locales: ['fr', 'de'] }
    const replies = await Promise.all([
      ...[1, 2, 3].map(() => ada.post(`/documents/${id}/translation/activate`, activation)),
      ...(round % 2 === 0 ? [put(ada, id, [p('two')])] : [ada.patch(`/documents/${id}`, { title: 'other' })]),
    ])
    const made = expect(t, replies.slice(0, 3), { 201: 1, 409: 2 })
    t.strictSame(
      codesOf(replies).filter((code) => code !== undefined),
      Array(2).fill('localization_already_active'),
    )
    const set = (await ada.get(`/documents/${id}/translations`)).body.data
    t.equal(set.id, made[0]?.body.data.id)
    t.equal(await countOf(sql.fragment`documents WHERE translated_from_document_id = ${id}`), 2)
  }
})

t.test('of additions at once each locale is made once', async (t) => {
  const ada = await signUp()
  for (const _ of raceRounds) {
    const id = await activated(ada, ['fr'])
    const locales = ['it', 'de', 'it', 'fr', 'it', 'pt']
    const replies = await Promise.all(locales.map((locale) => ada.post(`/documents/${id}/translations`, { locale })))
    expect(t, replies, { 201: 3, 409: 3 })
    t.strictSame(
      codesOf(replies).filter((code) => code !== undefined),
      Array(3).fill('locale_exists'),
    )
    const set = (await ada.get(`/documents/${id}/translations`)).body.data
    t.strictSame(set.available_locales, ['de', 'en', 'fr', 'it', 'pt'])
  }
})

t.test('a source that is deleted while translations are added leaves whole ones or none', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const id = await activated(ada, [])
    const calls = [
      ...['it', 'de'].map((locale) => () => ada.post(`/documents/${id}/translations`, { locale })),
      () => ada.delete(`/documents/${id}`),
      ...['fr', 'pt'].map(
        (locale) => () => ada.post(`/documents/${id}/localizations`, { locale, create_mode: 'copy_structure' }),
      ),
    ]
    const replies = await Promise.all(shuffled(calls, round).map((call) => call()))
    const added = replies.filter(({ status }) => status === 201).map(({ body }) => body.data)
    for (const { status, body } of replies) {
      if (status !== 201 && status !== 204)
        t.ok(
          ['document_not_found', 'source_document_missing', 'localization_not_active'].includes(body.error.code),
          body.error.code,
        )
    }
    for (const variant of added) {
      const set = (await ada.get(`/document-sets/${variant.document_set_id}`)).body.data
      t.equal(set.source, null)
      t.equal(set.variants.length, added.length)
      t.equal((await ada.get(`/documents/${variant.id}/content`)).status, 200)
    }
    if (added.length === 0) {
      t.equal(await countOf(sql.fragment`${setsWithoutMembers} AND s.source_document_id = ${id}`), 0)
    }
  }
})

t.test('whoever deletes the last member of a set takes the set along', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const id = await activated(ada, ['fr', 'de', 'it'])
    const set = (await ada.get(`/documents/${id}/translations`)).body.data
    const deletions = set.variants.map((variant: { id: string; variant_role: string }) => {
      const isSource = variant.variant_role === 'source'
      const path =
        isSource || round % 2 === 0 ? `/documents/${variant.id}` : `/documents/${variant.id}/translations/${variant.id}`
      return () => ada.delete(path)
    })
    const reads = [1, 2, 3].map(() => () => ada.get(`/document-sets/${set.id}`))
    const calls = shuffled([...deletions, ...reads], round)
    const replies = await Promise.all(calls.map((call) => call()))
    for (const reply of replies) t.ok([200, 204, 404].includes(reply.status), reply.text)
    t.equal(replies.filter(({ status }) => status === 204).length, 4)
    t.equal((await ada.get(`/document-sets/${set.id}`)).status, 404)
    // The set waits for its members as long as one of them is in the trash.
    for (const entry of (await ada.get('/trash')).body.data) await ada.delete(`/trash/${entry.id}`)
    t.equal(await countOf(sql.fragment`document_sets WHERE id = ${set.id}`), 0)
    t.equal(await countOf(sql.fragment`translation_audit WHERE document_set_id = ${set.id}`), 0)
  }
})

t.test('a set is deactivated or extended, never both', async (t) => {
  const ada = await signUp()
  for (const round of raceRounds) {
    const id = await activated(ada, [])
    const calls = [
      () => ada.post(`/documents/${id}/translation/deactivate`),
      () => ada.post(`/documents/${id}/translations`, { locale: 'fr' }),
      () => ada.post(`/documents/${id}/localization/deactivate`),
    ]
    const replies = await Promise.all(shuffled(calls, round).map((call) => call()))
    const [done, ...others] = replies.filter(({ status }) => status < 300)
    t.ok(done, 'one succeeds')
    t.strictSame(others, [])
    for (const { body } of replies) {
      t.ok([undefined, 'localization_not_active', 'translations_exist'].includes(body.error?.code), body.error?.code)
    }
    const source = (await ada.get(`/documents/${id}`)).body.data
    t.equal(source.document_set_id === null, done?.status === 200)
    t.equal(
      await countOf(sql.fragment`documents WHERE translated_from_document_id = ${id}`),
      done?.status === 200 ? 0 : 1,
    )
  }
})

t.test('what is translated in a knowledge base that is being deleted goes with it', async (t) => {
  const ada = await signUp()
  const other = (await ada.post('/knowledge-bases', { name: 'other' })).body.data.id
  for (const round of raceRounds) {
    const base = (await ada.post('/knowledge-bases', { name: 'x' })).body.data.id
    const id = await activated(ada, ['fr'], { knowledge_base_id: base })
    const plain = await make(ada, [p('plain')], { knowledge_base_id: base })
    const moves = round % 2 === 0
    const calls = [
      () => ada.post(`/documents/${id}/translations`, { locale: 'it' }),
      () => ada.post(`/documents/${plain.id}/translation/activate`, { source_locale: 'en', target_locales: ['fr'] }),
      () => ada.delete(`/knowledge-bases/${base}`, { confirm_id: base }),
      () => ada.delete(`/documents/${id}/localizations/fr`),
      ...(moves ? [() => ada.patch(`/documents/${id}`, { knowledge_base_id: other })] : []),
    ]
    const replies = await Promise.all(shuffled(calls, round).map((call) => call()))
    for (const { status, text } of replies) t.ok([200, 201, 204, 404, 409].includes(status), text)
    t.equal(await countOf(sql.fragment`documents WHERE knowledge_base_id = ${base}`), 0)
    t.equal(await countOf(setsWithoutMembers), 0, 'no set is left without members')
  }
})

t.test('a reader in a language that is being deleted gets the next best one', async (t) => {
  const ada = await signUp()
  for (const _ of raceRounds) {
    const id = await activated(ada, ['fr', 'fr-CA'])
    const read = () => ada.get(`/documents/${id}/content?locale=fr-CA`)
    const replies = await Promise.all([
      read(),
      ada.delete(`/documents/${id}/localizations/fr-CA`),
      read(),
      ada.delete(`/documents/${id}/localizations/fr`),
      ...[1, 2, 3, 4].map(read),
    ])
    for (const { status, text } of replies) t.ok(status === 200 || status === 204, text)
    t.equal((await read()).body.data.document_id, id)
    t.strictSame(await eventsOf(database, id), ['document.created', 'document.metadata.updated'])
  }
})

/** The id of a new source in English with the given translations. */
async function activated(client: Client, targets: string[], members: object = {}): Promise<string> {
  const { id } = await make(client, [p('one'), p('two')], members)
  const activation = { source_locale: 'en', target_locales: targets }
  const reply = await client.post(`/documents/${id}/translation/activate`, activation)
  if (reply.status !== 201) throw new Error(`activate answered ${reply.status}: ${reply.text}`)
  return id
}

// Asserts the number of replies by status, and returns the successful replies.
function expect(t: Test, replies: readonly Reply[], expected: Record<number, number>): Reply[] {
  const found = Object.groupBy(replies, ({ status }) => status)
  const counts = Object.fromEntries(Object.entries(found).map(([status, list]) => [status, list?.length]))
  t.strictSame(counts, expected, replies.map(({ text }) => text.slice(0, 200)).join('\n'))
  return replies.filter(({ status }) => status < 300)
}

function codesOf(replies: readonly Reply[]): (string | undefined)[] {
  return replies.map(({ body }) => body?.error?.code)
}

// Every round starts with another call.
function shuffled<T>(calls: readonly T[], round: number): T[] {
  const first = round % calls.length
  return [...calls.slice(first), ...calls.slice(0, first)]
}

async function countOf(rows: ReturnType<typeof sql.fragment>): Promise<number> {
  return database.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`SELECT count(*) FROM ${rows}`)
}
