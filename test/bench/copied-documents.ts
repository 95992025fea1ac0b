import type { Site } from '../support/site.ts'

/**
 * Copies documents into their knowledge bases, each of them `times` times, without the jobs and events of a write. The
 * id of a copy is the id of its original, `_` and a number from 1.
 */
export async function copyDocuments(
  { ask }: Site,
  { ids, times }: { ids: readonly string[]; times: number },
): Promise<void> {
  await ask(copies, [ids, times])
}

const copies = `
  WITH copied AS (
    SELECT d.workspace_id, d.id AS original, d.id || '_' || n AS id
    FROM documents d, generate_series(1, $2::int) n WHERE d.id = ANY($1::text[])
  ), listed AS (
    INSERT INTO document_directory (id, workspace_id) SELECT id, workspace_id FROM copied
  ), described AS (
    INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
      collapsed_block_ids, version, body_seq, character_count, node_count)
    SELECT c.workspace_id, c.id, d.knowledge_base_id, 'Copy', d.document_type, d.heading_numbered,
      d.collapsed_block_ids, d.version, 1, d.character_count, d.node_count
    FROM copied c JOIN documents d ON d.id = c.original
  )
  INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
  SELECT c.workspace_id, c.id, 1, b.version, b.body FROM copied c JOIN document_bodies b ON b.document_id = c.original`
