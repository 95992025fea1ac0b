import { sql } from '../../shared/database/database.ts'
import { blockVector } from '../../shared/search/index/vector.ts'
import { blockTypeLexeme, scopeLexemes } from '../../shared/search/text/lexemes.ts'
import { tokeniserEpoch } from '../../shared/search/text/tokenise.ts'
import type { TestService } from './service.ts'

/**
 * Writes indexed blocks into documents of a new workspace, as the worker would have written them. `titles` are the
 * titles in the index, in the order of the documents; without them the index has no titles.
 */
export async function writeBlocks(
  service: TestService,
  {
    texts,
    documents,
    type = 'paragraph',
    titles = [],
  }: { texts: readonly string[]; documents: number; type?: 'paragraph' | 'title'; titles?: readonly string[] },
) {
  const ada = await service.signUp()
  const base: number = (await ada.post('/knowledge-bases', { name: 'Base' })).body.data.id
  const created = Array.from({ length: documents }, () =>
    ada.post('/documents', { title: 'Text', knowledge_base_id: base }),
  )
  const ids: string[] = (await Promise.all(created)).map(({ body }) => body.data.id)
  const workspaceId = String(
    await service.database.oneFirst(sql.unsafe`SELECT workspace_id FROM documents WHERE id = ${ids[0] ?? ''}`),
  )
  const scopes = scopeLexemes({ workspaceId, knowledge_base_id: base, locale: null })
  const rowOf = (text: string, at: { index: number; ord: number; type: string }) => ({
    document_id: ids[at.index % documents],
    ord: at.ord,
    type: at.type,
    body: text,
    ...blockVector({
      text,
      language: 'en',
      isTitle: at.type === 'title',
      isHeading: false,
      scopes: [...scopes, blockTypeLexeme(at.type)],
    }),
  })
  const rows = [
    ...texts.map((text, index) => rowOf(text, { index, ord: index + 1, type })),
    ...titles.map((text, index) => rowOf(text, { index, ord: 0, type: 'title' })),
  ]
  for (const statement of [
    sql.unsafe`
      INSERT INTO search_documents (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline)
      SELECT workspace_id, id, version, body_seq, title, 'en', ${tokeniserEpoch}, '{"ids":[],"headings":[]}'
      FROM documents WHERE workspace_id = ${workspaceId}`,
    sql.unsafe`INSERT INTO search_languages (workspace_id, language) VALUES (${workspaceId}, 'en')`,
    sql.unsafe`
      INSERT INTO search_blocks (workspace_id, document_id, ord, type, length, hash, body, tsv)
      SELECT ${workspaceId}, document_id, ord, type, length, '', body, tsv::tsvector
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS b (document_id text, ord bigint, type text, length int, body text, tsv text)`,
    sql.unsafe`DELETE FROM stale_projections WHERE workspace_id = ${workspaceId}`,
    sql.unsafe`ANALYZE search_blocks`,
  ]) {
    await service.database.query(statement)
  }
  const scope = { workspaceIds: [workspaceId], locale: 'default' as const }
  return { scope, workspaceId, ids }
}
