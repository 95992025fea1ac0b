-- Changes of documents add to a row of their group that no other transaction holds, instead of a row of their own: a
-- group has as many rows as transactions have ever changed it at once, searches add up a few of them however many
-- documents were written, and nothing has to be swept together.

WITH gone AS (DELETE FROM document_counts RETURNING *)
INSERT INTO document_counts (workspace_id, knowledge_base_id, locale, variant_role, count)
SELECT workspace_id, knowledge_base_id, locale, variant_role, sum(count) FROM gone
GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0;

-- Room for the next version of a row beside it, since no index covers its count.
ALTER TABLE document_counts SET (fillfactor = 50);

DROP TRIGGER count_documents ON documents;
DROP TRIGGER count_moved_documents ON documents;
DROP FUNCTION count_documents();

CREATE FUNCTION add_to_document_count(workspace text, base bigint, language text, role text, difference bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  free bigint;
BEGIN
  SELECT c.n INTO free FROM document_counts c
  WHERE c.workspace_id = workspace AND c.knowledge_base_id = base AND c.locale IS NOT DISTINCT FROM language
    AND c.variant_role IS NOT DISTINCT FROM role
  LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    UPDATE document_counts c SET count = c.count + difference WHERE c.workspace_id = workspace AND c.n = free;
  ELSE
    INSERT INTO document_counts (workspace_id, knowledge_base_id, locale, variant_role, count)
    VALUES (workspace, base, language, role, difference);
  END IF;
END
$$;

-- Once a statement, so that the deletion of a large knowledge base changes each group once.
CREATE FUNCTION count_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_to_document_count(workspace_id, knowledge_base_id, locale, variant_role,
    CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END)
  FROM changed GROUP BY workspace_id, knowledge_base_id, locale, variant_role;
  RETURN NULL;
END
$$;

CREATE TRIGGER count_inserted_documents AFTER INSERT ON documents
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_documents();

CREATE TRIGGER count_deleted_documents AFTER DELETE ON documents
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_documents();

CREATE FUNCTION count_moved_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_to_document_count(OLD.workspace_id, OLD.knowledge_base_id, OLD.locale, OLD.variant_role, -1);
  PERFORM add_to_document_count(NEW.workspace_id, NEW.knowledge_base_id, NEW.locale, NEW.variant_role, 1);
  RETURN NULL;
END
$$;

CREATE TRIGGER count_moved_documents AFTER UPDATE OF knowledge_base_id, locale, variant_role ON documents FOR EACH ROW
WHEN ((OLD.knowledge_base_id, OLD.locale, OLD.variant_role) IS DISTINCT FROM
      (NEW.knowledge_base_id, NEW.locale, NEW.variant_role))
EXECUTE FUNCTION count_moved_document();

-- Deferred: by then its documents are gone, and its rows add up to nothing.
CREATE FUNCTION forget_document_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM document_counts WHERE workspace_id = OLD.workspace_id AND knowledge_base_id = OLD.id;
  RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER forget_document_counts AFTER DELETE ON knowledge_bases DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION forget_document_counts();
