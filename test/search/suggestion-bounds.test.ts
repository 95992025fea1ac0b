import pg from 'pg'
import { sql } from '../../shared/database/database.ts'
import { searchTopK } from '../../shared/search/search.ts'
import type { SearchScope } from '../../shared/search/statement/request.ts'
import { countInScope } from '../../shared/search/statement/vocabulary.ts'
import { rowsReadBy, statementsOf } from '../support/plans.ts'
import { writeBlocks } from '../support/search-blocks.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

// The first documents have 2,400 blocks with `system`. The last document has a single one, behind all others.
const service = await sharedService()
const texts = Array.from({ length: 3600 }, (_, index) => (index % 3 === 2 ? 'some other words' : 'the system runs'))
const { scope, workspaceId, ids } = await writeBlocks(service, {
  texts: [...texts, 'filler', 'filler', 'configure the system', 'filler', 'filler', 'a sistem of others'],
  documents: 3,
})
await learn(workspaceId, ['system', 'sistem', 'configure'])
const last = { ...scope, filters: { documentId: ids[2] ?? '' } }
const client = new pg.Client(service.url)
await client.connect()
t.teardown(() => client.end())

t.test('a word of the chosen documents is kept, however often it stands in others', async (t) => {
  t.equal(await suggestionOf('system configre', last), 'system configure')
  t.equal(await suggestionOf('sistem configre', last), 'sistem configure')
  t.equal(await suggestionOf('systm configre', last), 'system configure', 'and confirmed for another word')
})

t.test('a word of which not all blocks were looked at is not said to be unknown', async (t) => {
  const asked = { tsqueries: ["'system'", "'configure'", "'absent'"], scope: last, most: 1 }
  t.strictSame(await countInScope(service.database, { ...asked, blocksInList: null }), ['unknown', 1, 0])
  t.strictSame(await countInScope(service.database, { ...asked, blocksInList: 1202 }), [1, 1, 0])
  t.strictSame(await countInScope(service.database, { ...asked, blocksInList: 900 }), [1, 1, 0])
})

t.test('suggesting reads no blocks of other workspaces', async (t) => {
  const small = await writeBlocks(service, { texts: ['a system to configure', 'another letter'], documents: 1 })
  await learn(small.workspaceId, ['system', 'configure', 'letter'])
  await service.database.query(sql.unsafe`VACUUM ANALYZE search_blocks`)
  const sent = await statementsOf(async () => {
    t.equal(await suggestionOf('system configre', small.scope), 'system configure')
  })
  const counting = sent.filter(({ text }) => text.includes('AS asked (tsquery, n)'))
  t.ok(counting.length > 1)
  for (const statement of counting) {
    const { most, plan } = await rowsReadBy(client, statement)
    t.ok(most <= 20, `at most 20 rows: ${most} in\n${plan}`)
  }
})

t.test('an answer with hits does not fail because its suggestion takes too long', async (t) => {
  await client.query('BEGIN')
  await client.query('LOCK TABLE search_words IN ACCESS EXCLUSIVE MODE')
  const { hits, suggestion } = await searchTopK(service.database, search('system runs configre', scope))
  await client.query('ROLLBACK')
  t.ok(hits.length > 0)
  t.equal(suggestion, null)
  t.equal(
    (await searchTopK(service.database, search('system runs configre', scope))).suggestion,
    'system runs configure',
  )
})

async function suggestionOf(q: string, scope: SearchScope): Promise<string | null> {
  return (await searchTopK(service.database, search(q, scope))).suggestion
}

function search(q: string, scope: SearchScope) {
  return { q, scope, limit: 10, relax: true }
}

async function learn(workspaceId: string, words: readonly string[]): Promise<void> {
  await service.database.query(sql.unsafe`
    INSERT INTO search_words (workspace_id, word)
    SELECT ${workspaceId}, word FROM unnest(${sql.array([...words], 'text')}) AS word`)
}
