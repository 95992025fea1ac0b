import pg from 'pg'
import { searchTopK } from '../../shared/search/search.ts'
import type { DocumentFilters } from '../../shared/search/statement/request.ts'
import { rowsReadBy, statementsOf } from '../support/plans.ts'
import { textOf } from '../support/ranked-texts.ts'
import { writeBlocks } from '../support/search-blocks.ts'
import { copyIndexedDocuments } from '../support/search-copies.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

// 10,080 documents of two blocks. The documents were changed one minute after the other, a hundredth by another user.
const documents = 10_080
const service = await startTestService(t)
const texts = Array.from({ length: 240 }, (_, index) => textOf(index))
const { scope } = await writeBlocks(service, { texts, documents: 120 })
const client = new pg.Client(service.url)
await client.connect()
t.teardown(() => client.end())
await copyIndexedDocuments((statement, values) => client.query(statement, values), documents / 120 - 1)
await client.query(`
  INSERT INTO users SELECT (jsonb_populate_record(u, '{"id": "usr_other", "email": "other@example.test"}')).*
  FROM users u LIMIT 1`)
await client.query(`
  UPDATE documents d SET updated_at = now() - n * interval '1 minute', node_count = 2,
    updated_by = CASE WHEN n % 100 = 7 THEN 'usr_other' ELSE updated_by END
  FROM (SELECT id, row_number() OVER (ORDER BY md5(id)) AS n FROM documents) AS numbered WHERE numbered.id = d.id`)
await client.query('DELETE FROM stale_projections')
await client.query('VACUUM ANALYZE')

t.test('a search among few of very many documents reads these documents alone', async (t) => {
  const filters: Record<string, DocumentFilters> = {
    'changed in the last hundred minutes': { updatedAfter: Date.now() - 100.5 * 60_000 },
    'changed by one user': { updatedBy: 'usr_other' },
  }
  for (const [name, narrowed] of Object.entries(filters)) {
    for (const sort of ['relevance', 'updated_at'] as const) {
      const search = { q: 'kernel memory', scope: { ...scope, filters: narrowed }, limit: 10, relax: true, sort }
      const sent = await statementsOf(async () => {
        const { hits, projection } = await searchTopK(service.database, search)
        t.ok(hits.length > 0)
        t.ok(Math.abs(projection.document_count - documents / 100) <= 1)
      })
      const read = sent.filter(({ text }) => text.includes('FROM documents d'))
      t.ok(read.length > 0)
      // PostgreSQL may plan a statement for its values, or keep one plan for all values.
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`SET plan_cache_mode = ${mode}`)
        for (const statement of read) {
          const { most, plan } = await rowsReadBy(client, statement)
          t.ok(most <= 600, `${name}, ${sort}, ${mode}: at most 600 rows: ${most} in\n${plan}`)
        }
      }
    }
  }
})
