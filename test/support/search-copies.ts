/**
 * Copies every document with its index so many times. The copies have the words, the times and the authors of their
 * originals. The id of a copy is the id of its original, `_` and a number from 1.
 */
export async function copyIndexedDocuments(
  ask: (statement: string, values: unknown[]) => Promise<unknown>,
  times: number,
): Promise<void> {
  await ask(copies, [times])
}

const copies = `
  WITH copied AS (
    SELECT d.*, d.id || '_' || n AS copy FROM documents d, generate_series(1, $1::int) AS n
  ), listed AS (
    INSERT INTO document_directory (id, workspace_id) SELECT copy, workspace_id FROM copied
  ), described AS (
    INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
      collapsed_block_ids, version, body_seq, character_count, node_count, created_by, updated_by, updated_at)
    SELECT workspace_id, copy, knowledge_base_id, title, document_type, heading_numbered, collapsed_block_ids,
      version, body_seq, character_count, node_count, created_by, updated_by, updated_at
    FROM copied
  ), indexed AS (
    INSERT INTO search_documents (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline,
      indexed_at, rows_at, row_ords, row_positions, row_block_ids)
    SELECT s.workspace_id, d.copy, s.source_version, s.body_seq, s.title, s.language, s.epoch, s.outline,
      s.indexed_at, s.rows_at, s.row_ords, s.row_positions, s.row_block_ids
    FROM search_documents s JOIN copied d ON d.workspace_id = s.workspace_id AND d.id = s.document_id
  )
  INSERT INTO search_blocks (workspace_id, document_id, ord, block_id, top_block_id, type, length, hash, body, tsv)
  SELECT b.workspace_id, d.copy, b.ord, b.block_id, b.top_block_id, b.type, b.length, b.hash, b.body, b.tsv
  FROM search_blocks b JOIN copied d ON d.workspace_id = b.workspace_id AND d.id = b.document_id`
