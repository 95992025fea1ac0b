-- The order that people give to the folders and to the documents of one parent. Keys are compared by code point. A row
-- without a key was never placed and comes after all rows with a key, by its name. Several rows may have the same key:
-- their ids decide then.

-- The order of documents, a row for each document. A first position may give a key to thousands of documents. In
-- `documents` that would wait for everybody who writes one of them, and in `document_titles` it would write the index
-- of words again. Triggers keep the rows in step with `documents`; foreign keys would lock the documents.
CREATE TABLE document_order (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  knowledge_base_id bigint NOT NULL,
  folder_id bigint,
  title text NOT NULL,
  order_key text COLLATE "C",
  PRIMARY KEY (workspace_id, document_id)
);

-- A document that gets another parent loses its key. A row that is there before its document has come from the trash,
-- so the same rule decides whether a restored document keeps its key.
CREATE FUNCTION write_document_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO document_order AS o (workspace_id, document_id, knowledge_base_id, folder_id, title)
  VALUES (NEW.workspace_id, NEW.id, NEW.knowledge_base_id, NEW.folder_id, NEW.title)
  ON CONFLICT (workspace_id, document_id) DO UPDATE SET knowledge_base_id = excluded.knowledge_base_id,
    folder_id = excluded.folder_id, title = excluded.title,
    order_key = CASE WHEN o.folder_id IS NOT DISTINCT FROM excluded.folder_id
      AND (o.folder_id IS NOT NULL OR o.knowledge_base_id = excluded.knowledge_base_id) THEN o.order_key END;
  RETURN NULL;
END
$$;

CREATE FUNCTION delete_document_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM document_order o USING gone WHERE o.workspace_id = gone.workspace_id AND o.document_id = gone.id;
  RETURN NULL;
END
$$;

CREATE TRIGGER write_order AFTER INSERT ON documents FOR EACH ROW EXECUTE FUNCTION write_document_order();
CREATE TRIGGER rewrite_order AFTER UPDATE OF title, knowledge_base_id, folder_id ON documents FOR EACH ROW
WHEN ((OLD.title, OLD.knowledge_base_id, OLD.folder_id) IS DISTINCT FROM
      (NEW.title, NEW.knowledge_base_id, NEW.folder_id))
EXECUTE FUNCTION write_document_order();
CREATE TRIGGER delete_order AFTER DELETE ON documents
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_document_order();

-- This takes some eight seconds for a million documents. Meanwhile writes of documents wait, and reads do not.
INSERT INTO document_order (workspace_id, document_id, knowledge_base_id, folder_id, title)
SELECT workspace_id, document_id, knowledge_base_id, folder_id, title FROM document_titles;

-- Each row is in one of these indexes: in a folder or at the root, placed or not. So a page of a list never reads rows
-- of the other kind.
CREATE INDEX document_order_placed_idx ON document_order (workspace_id, folder_id, order_key, document_id)
WHERE folder_id IS NOT NULL AND order_key IS NOT NULL;
CREATE INDEX document_order_unplaced_idx ON document_order (workspace_id, folder_id, title COLLATE "C", document_id)
WHERE folder_id IS NOT NULL AND order_key IS NULL;
CREATE INDEX document_order_root_placed_idx ON document_order (workspace_id, knowledge_base_id, order_key, document_id)
WHERE folder_id IS NULL AND order_key IS NOT NULL;
CREATE INDEX document_order_root_unplaced_idx
ON document_order (workspace_id, knowledge_base_id, title COLLATE "C", document_id)
WHERE folder_id IS NULL AND order_key IS NULL;

-- The order of folders. This comes last, since from here on readers of folders wait, too, until the migration ends.
ALTER TABLE folders ADD COLUMN order_key text COLLATE "C";

-- A key says nothing among other siblings, so a folder that gets another parent loses its key.
CREATE FUNCTION clear_order_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.order_key := NULL;
  RETURN NEW;
END
$$;
CREATE TRIGGER clear_order_key BEFORE UPDATE OF knowledge_base_id, parent_id ON folders FOR EACH ROW
WHEN (OLD.parent_id IS DISTINCT FROM NEW.parent_id
      OR NEW.parent_id IS NULL AND OLD.knowledge_base_id <> NEW.knowledge_base_id)
EXECUTE FUNCTION clear_order_key();

CREATE INDEX folders_placed_idx ON folders (workspace_id, parent_id, order_key, id)
WHERE parent_id IS NOT NULL AND order_key IS NOT NULL;
CREATE INDEX folders_unplaced_idx ON folders (workspace_id, parent_id, name COLLATE "C", id)
WHERE parent_id IS NOT NULL AND order_key IS NULL;
