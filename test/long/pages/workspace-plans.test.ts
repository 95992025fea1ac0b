import pg from 'pg'
import { rowsReadBy, statementsOf } from '../../support/plans.ts'
import { sharedService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { signedInVisitor } from '../../support/visitor.ts'

// A statement of a page with 50 items may read so many rows.
const mostRows = 1000

t.test('a page of a knowledge base with 10,000 folders and documents reads only what it shows', async (t) => {
  const service = await sharedService()
  const ada = await service.signUp()
  const { data: base } = (await ada.post('/knowledge-bases', { name: 'Handbook' })).body
  const { data: folder } = (await ada.post('/folders', { name: 'Folder', knowledge_base_id: base.id })).body
  const { data: document } = (await ada.post('/documents', { title: 'Page', folder_id: folder.id, tags: ['x'] })).body
  const client = new pg.Client(service.url)
  await client.connect()
  t.teardown(() => client.end())
  for (const parent of ['NULL', String(folder.id)]) {
    await client.query(`
      WITH issued AS (
        INSERT INTO folder_directory (workspace_id) SELECT workspace_id FROM knowledge_bases, generate_series(1, 10000)
        WHERE id = ${base.id} RETURNING workspace_id, id
      )
      INSERT INTO folders (workspace_id, id, knowledge_base_id, parent_id, name)
      SELECT workspace_id, id, ${base.id}, ${parent}, 'Folder ' || id FROM issued`)
    await client.query(`
      INSERT INTO document_directory (id, workspace_id)
      SELECT 'doc_${parent}' || n, workspace_id FROM knowledge_bases, generate_series(1, 10000) AS n
      WHERE id = ${base.id}`)
    await client.query(`
      INSERT INTO documents (workspace_id, id, knowledge_base_id, folder_id, title, document_type, heading_numbered,
        collapsed_block_ids, version, body_seq, character_count, node_count, tags, tag_keys)
      SELECT workspace_id, 'doc_${parent}' || n, knowledge_base_id, ${parent}, title || n, document_type, false,
        '{}', version, 1, 1, 1, tags, tag_keys
      FROM documents, generate_series(1, 10000) AS n WHERE id = '${document.id}'`)
  }
  await client.query('ANALYZE')
  const visitor = await signedInVisitor(service, { userId: ada.user_id })
  const inner = `/kb/${base.id}/folders/${folder.id}`
  for (const path of [
    `/kb/${base.id}`,
    inner,
    `${inner}?sort=changed`,
    `/kb/${base.id}?tag=x`,
    `/d/${document.id}/move`,
  ]) {
    const pages: string[] = []
    const sent = await statementsOf(async () => {
      pages.push((await visitor.get(path)).html)
      const next = /rel="next" href="([^"]+)"/.exec(pages[0] ?? '')?.[1]?.replaceAll('&amp;', '&') ?? ''
      pages.push((await visitor.get(next.startsWith('?') ? path + next : next)).html)
    })
    t.ok(
      pages.every((html) => html.length > 1000 && html.length < 200_000),
      `${path} stays small: ${pages.map((html) => html.length)}`,
    )
    for (const statement of sent) {
      const { most, plan } = await rowsReadBy(client, statement)
      if (most > mostRows) t.fail(`${path} reads ${most} rows`, { statement: statement.text, plan })
    }
    t.ok(sent.length > 4, `${path} was seen`)
  }
})
