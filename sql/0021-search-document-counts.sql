-- How many documents there are (decisions 2.8, document_count): every search says so, and to count them anew took longer
-- than the search. A change of documents adds a row to its group, so that no two writers ever wait for each other; what
-- is in a group is the sum of its rows. A sweep brings the rows of a group together.
CREATE TABLE document_counts (
  workspace_id text NOT NULL,
  n bigint GENERATED ALWAYS AS IDENTITY,
  -- The group: what a search can be narrowed to.
  knowledge_base_id bigint NOT NULL,
  locale text,
  variant_role text,
  count bigint NOT NULL,
  PRIMARY KEY (workspace_id, n)
);

INSERT INTO document_counts (workspace_id, knowledge_base_id, locale, variant_role, count)
SELECT workspace_id, knowledge_base_id, locale, variant_role, count(*) FROM documents GROUP BY 1, 2, 3, 4;

-- The rows of a deleted workspace add up to nothing and are swept away; a foreign key would refuse them.
CREATE FUNCTION count_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO document_counts (workspace_id, knowledge_base_id, locale, variant_role, count)
    VALUES (OLD.workspace_id, OLD.knowledge_base_id, OLD.locale, OLD.variant_role, -1);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO document_counts (workspace_id, knowledge_base_id, locale, variant_role, count)
    VALUES (NEW.workspace_id, NEW.knowledge_base_id, NEW.locale, NEW.variant_role, 1);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER count_documents AFTER INSERT OR DELETE ON documents FOR EACH ROW EXECUTE FUNCTION count_documents();

CREATE TRIGGER count_moved_documents AFTER UPDATE OF knowledge_base_id, locale, variant_role ON documents FOR EACH ROW
WHEN ((OLD.knowledge_base_id, OLD.locale, OLD.variant_role) IS DISTINCT FROM
      (NEW.knowledge_base_id, NEW.locale, NEW.variant_role))
EXECUTE FUNCTION count_documents();
