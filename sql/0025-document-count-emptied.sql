-- A knowledge base that is deleted finds its counts, and what has been counted down to nothing leaves no row behind.
CREATE INDEX IF NOT EXISTS document_counts_knowledge_base_id_idx
ON document_counts (workspace_id, knowledge_base_id);

CREATE OR REPLACE FUNCTION add_to_document_count(
  workspace text, base bigint, language text, role text, difference bigint
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  free record;
BEGIN
  SELECT c.n, c.count INTO free FROM document_counts c
  WHERE c.workspace_id = workspace AND c.knowledge_base_id = base AND c.locale IS NOT DISTINCT FROM language
    AND c.variant_role IS NOT DISTINCT FROM role
  LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND AND free.count + difference = 0 THEN
    DELETE FROM document_counts c WHERE c.workspace_id = workspace AND c.n = free.n;
  ELSIF FOUND THEN
    UPDATE document_counts c SET count = c.count + difference WHERE c.workspace_id = workspace AND c.n = free.n;
  ELSE
    INSERT INTO document_counts (workspace_id, knowledge_base_id, locale, variant_role, count)
    VALUES (workspace, base, language, role, difference);
  END IF;
END
$$;
