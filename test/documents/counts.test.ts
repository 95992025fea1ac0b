import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { write } from '../support/workers.ts'

const service = await startTestService(t)
const { database } = service

t.test('a search counts the documents that are there, whatever happens to them at once', async (t) => {
  const ada = await service.signUp()
  const bases = await Promise.all(
    ['One', 'Two'].map(async (name) => (await ada.post('/knowledge-bases', { name })).body.data.id as number),
  )
  const [one, two] = bases as [number, number]
  const live = async (index: number) => {
    const { id } = await write(ada, 'a dormouse', { knowledge_base_id: one })
    if (index % 3 === 0) await ada.patch(`/documents/${id}`, { knowledge_base_id: two })
    if (index % 4 === 0) await ada.delete(`/documents/${id}`)
  }
  await Promise.all(Array.from({ length: 60 }, (_, index) => live(index)))
  t.strictSame(await difference(), [])
  const counted = async (query: object) => (await searchV2(ada, { q: 'x', ...query })).projection.document_count
  t.strictSame(await Promise.all([counted({}), counted({ knowledge_base_id: two })]), [45, 15])
  // Each of the two groups has as many rows as there were transactions at once, and these twenty connections.
  t.ok((await rows()) <= 40, 'few rows are left')

  await ada.delete(`/knowledge-bases/${one}?confirm_id=${one}`)
  t.strictSame(await difference(), [])
  t.strictSame(await Promise.all([counted({}), counted({ knowledge_base_id: two })]), [15, 15])
  await ada.delete(`/knowledge-bases/${two}?confirm_id=${two}`)
  t.equal(await rows(), 0)
})

t.test('a workspace that goes leaves nothing to be counted', async (t) => {
  const ada = await service.signUp()
  await Promise.all(Array.from({ length: 3 }, () => write(ada, 'a shrew')))
  await database.query(sql.unsafe`DELETE FROM workspaces`)
  t.equal(await rows(), 0)
})

function rows(): Promise<number> {
  return database.oneFirst(sql.type(row(Type.Object({ count: Type.Integer() })))`SELECT count(*) FROM document_counts`)
}

/** Returns the groups whose stored count is not the number of their documents. */
function difference() {
  return database.any(sql.unsafe`
    SELECT workspace_id, knowledge_base_id, locale, variant_role, sum(count) FROM (
      SELECT workspace_id, knowledge_base_id, locale, variant_role, count FROM document_counts
      UNION ALL SELECT workspace_id, knowledge_base_id, locale, variant_role, -1 FROM documents) AS counted
    GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0`)
}
