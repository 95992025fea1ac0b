import type pg from 'pg'
import { tokeniserEpoch } from '../../shared/search/text/tokenise.ts'

/**
 * Gives the oldest workspace `documents` documents, a quarter of them in the folder of its fixture, and every other
 * workspace with a fixture `others`. Adds `others` rows of everything else that is listed. Every document is a copy of
 * the first document of its fixture (`createFixture` of test/contract/fixtures.ts).
 */
export async function seedDocuments(
  client: Pick<pg.Client, 'query'>,
  { documents, others }: { documents: number; others: number },
): Promise<void> {
  const many = `generate_series(1, CASE prefix WHEN 'doc_' THEN ${documents} ELSE ${others} END) AS n`
  const some = `generate_series(1, ${others}) AS n`
  for (const statement of [
    // The first document, folder and concept of each workspace, and the prefix of its new ids.
    `
      CREATE TABLE first AS SELECT DISTINCT ON (d.workspace_id) d.*,
        'doc_' || CASE WHEN d.workspace_id = oldest.workspace_id THEN '' ELSE 'b' END AS prefix,
        (SELECT min(id) FROM concepts c WHERE c.workspace_id = d.workspace_id AND name NOT LIKE 'other%') AS concept_id
      FROM documents d, (SELECT workspace_id FROM documents ORDER BY created_at, id LIMIT 1) AS oldest
      WHERE d.folder_id IS NOT NULL AND d.variant_role IS DISTINCT FROM 'translation'
      ORDER BY d.workspace_id, d.id`,
    `INSERT INTO document_directory (id, workspace_id) SELECT prefix || n, workspace_id FROM first, ${many}`,
    `
      INSERT INTO document_sets (workspace_id, id, source_document_id, source_locale, fallback_locale)
      SELECT workspace_id, prefix || 'set' || n, prefix || n, 'de', 'de' FROM first, ${some}`,
    `
      INSERT INTO documents (workspace_id, id, knowledge_base_id, folder_id, title, document_type, heading_numbered,
        collapsed_block_ids, version, body_seq, character_count, node_count, updated_at, document_set_id, locale,
        variant_role, workflow_status, tags, tag_keys, properties)
      SELECT workspace_id, prefix || n, knowledge_base_id, CASE WHEN n % 4 = 0 THEN folder_id END, 'Title ' || n,
        'document', false, '{}', version, 1, 1, 1, now() - n * interval '1 second',
        CASE WHEN n <= ${others} THEN prefix || 'set' || n END, CASE WHEN n <= ${others} THEN 'de' END,
        CASE WHEN n <= ${others} THEN 'source' END, CASE WHEN n <= ${others} THEN 'draft' END,
        labels.tags, labels.tags, labels.properties
      FROM first, ${many}, LATERAL (
        SELECT CASE WHEN n % 40 = 0 THEN ARRAY['common'] ELSE '{}' END AS tags,
          CASE WHEN n % 40 = 0 THEN '{"kind": "common"}'::jsonb ELSE '{}' END AS properties) AS labels`,
    `
      INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
      SELECT workspace_id, prefix || n, 1, version, '{}' FROM first, ${some}`,
    `
      INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
      SELECT workspace_id, id, 10 + n, 'v' || n, '{}' FROM first, ${some}`,
    `
      INSERT INTO document_versions (workspace_id, document_id, seq, body_seq, size)
      SELECT workspace_id, id, 10 + n, 10 + n, 1 FROM first, ${some}`,
    `
      WITH ids AS (INSERT INTO knowledge_base_directory (workspace_id)
        SELECT workspace_id FROM first, ${some} RETURNING workspace_id, id)
      INSERT INTO knowledge_bases (workspace_id, id, name) SELECT workspace_id, id, 'Base' FROM ids`,
    `
      WITH ids AS (INSERT INTO folder_directory (workspace_id)
        SELECT workspace_id FROM first, generate_series(1, ${Math.ceil(others / 4)}) RETURNING workspace_id, id)
      INSERT INTO folders (workspace_id, id, knowledge_base_id, parent_id, name)
      SELECT workspace_id, i.id, knowledge_base_id, folder_id, 'Folder ' || i.id FROM ids i JOIN first USING (workspace_id)`,
    `
      INSERT INTO relations (workspace_id, id, origin, predicate, source_document_id, source_block_id, target_uri,
        target_document_id, anchor_text, created_at)
      SELECT workspace_id, 'rel_' || n, 'inline', 'refers_to', prefix || n, 'b', 'svc://doc/' || id, id, '',
        now() - n * interval '1 second' FROM first, ${some}`,
    `
      INSERT INTO relation_extractions (workspace_id, document_id, source_version, body_seq)
      SELECT workspace_id, prefix || n, version, 1 FROM first, ${some}`,
    `
      INSERT INTO concepts (workspace_id, id, knowledge_base_id, name, normalized_name, canonical_document_id)
      SELECT workspace_id, 'concept_' || n, knowledge_base_id, 'Concept ' || n, 'concept ' || n, prefix || n
      FROM first, ${some}`,
    `
      INSERT INTO concept_aliases (workspace_id, id, concept_id, alias, normalized_alias, origin)
      SELECT workspace_id, 'alias_' || n, 'concept_' || n, 'alias ' || n, 'alias ' || n, 'manual' FROM first, ${some}`,
    `
      INSERT INTO concept_relations (workspace_id, id, subject_concept_id, predicate, object_kind, object_id, origin)
      SELECT workspace_id, 'crel_a' || n, concept_id, 'related_to', 'concept', 'concept_' || n, 'manual'
      FROM first, ${some}
      UNION ALL
      SELECT workspace_id, 'crel_b' || n, 'concept_' || n, 'related_to', 'concept', concept_id, 'manual'
      FROM first, ${some}`,
    `
      INSERT INTO concept_candidates (workspace_id, id, document_id, block_id, name, normalized_name, excerpt,
        extractor, extractor_version, fingerprint, source_version, review_status, knowledge_base_id)
      SELECT workspace_id, 'cand_' || n || status, prefix || n, 'b', 'Title', 'title', '', 'title', '1', n || status,
        version, status, CASE WHEN status = 'accepted' THEN knowledge_base_id END
      FROM first, ${some}, (VALUES ('pending'), ('accepted')) AS s (status)`,
    `
      INSERT INTO translation_audit (workspace_id, id, document_set_id, action, source_document_id, is_agent, details,
        created_at)
      SELECT s.workspace_id, 'aud_' || n, s.id, 'unit.reviewed', s.source_document_id, false, '{}',
        now() - n * interval '1 second'
      FROM document_sets s JOIN documents d ON d.workspace_id = s.workspace_id AND d.document_set_id = s.id
        AND d.variant_role = 'translation', ${some}`,
    `
      INSERT INTO public_shares (workspace_id, document_id, id, created_at)
      SELECT workspace_id, prefix || n, 'shr_' || upper(left(md5(prefix || n), 26)), now() - n * interval '1 second' FROM first, ${some}`,
    `
      INSERT INTO attachments (workspace_id, id, document_id, filename, content_type, size, sha256, created_at)
      SELECT workspace_id, 'att_' || upper(left(md5(prefix || n || part), 26)), CASE part WHEN 'a' THEN id ELSE prefix || n END, 'a.png',
        'image/png', 1, repeat('0', 64), now() - n * interval '1 second'
      FROM first, ${some}, (VALUES ('a'), ('b')) AS p (part)`,
    `
      INSERT INTO attachment_references (workspace_id, attachment_id, document_id)
      SELECT workspace_id, 'att_' || upper(left(md5(prefix || n || 'a'), 26)), prefix || n FROM first, ${some} WHERE n % 2 = 0`,
    `
      INSERT INTO audit_log (workspace_id, document_id, action, request_id, token_id, user_id, method, path, is_agent,
        created_at)
      SELECT workspace_id, CASE part WHEN 'a' THEN id ELSE prefix || n END, 'updateDocument', 'req_' || n, 'tok_1',
        'usr_1', 'PATCH', '/api/v1/documents/x', false, now() - n * interval '1 second'
      FROM first, ${some}, (VALUES ('a'), ('b')) AS p (part)`,
    `
      INSERT INTO search_documents (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline)
      SELECT workspace_id, prefix || n, version, 1, 'Title ' || n, 'en', ${tokeniserEpoch}, '{"ids": ["b"], "headings": []}'
      FROM first, ${many}`,
    `
      INSERT INTO search_blocks (workspace_id, document_id, ord, block_id, top_block_id, type, length, hash, body, tsv)
      SELECT workspace_id, prefix || n, 1, 'b', 'b', 'paragraph', 2, '', 'rare' || n || ' common',
        array_to_tsvector(ARRAY['rare' || n, 'common', '@w' || workspace_id, '@k' || knowledge_base_id])
      FROM first, ${many}`,
    `
      INSERT INTO trash_entries (workspace_id, id, type, document_id, knowledge_base_id, name, path_text, document_count,
        not_restored, deleted_at, expires_at)
      SELECT workspace_id, 'trash_' || n, 'document', prefix || 't' || n, knowledge_base_id, 'Title ' || n, 'Base', 1,
        '{}', now(), now() + interval '1 day'
      FROM first, ${some}`,
    `DROP TABLE first`,
    `ANALYZE`,
  ]) {
    await client.query(statement)
  }
}
