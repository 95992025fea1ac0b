-- The order that people give to the folders and to the documents of one parent. Keys are compared by code point. A row
-- without a key was never placed and comes after all rows with a key. Several rows may have the same key: their ids
-- decide then.
ALTER TABLE folders ADD COLUMN order_key text COLLATE "C";
ALTER TABLE documents ADD COLUMN order_key text COLLATE "C";
-- The copy by which the children of a folder are read in their order. An index of `documents` would be written again by
-- every write of a body.
ALTER TABLE document_titles ADD COLUMN order_key text COLLATE "C";

-- A key says nothing among other siblings, so a folder or document that gets another parent loses its key.
CREATE FUNCTION clear_order_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.order_key := NULL;
  RETURN NEW;
END
$$;

CREATE TRIGGER clear_order_key BEFORE UPDATE OF knowledge_base_id, folder_id ON documents FOR EACH ROW
WHEN (OLD.folder_id IS DISTINCT FROM NEW.folder_id
      OR NEW.folder_id IS NULL AND OLD.knowledge_base_id <> NEW.knowledge_base_id)
EXECUTE FUNCTION clear_order_key();
CREATE TRIGGER clear_order_key BEFORE UPDATE OF knowledge_base_id, parent_id ON folders FOR EACH ROW
WHEN (OLD.parent_id IS DISTINCT FROM NEW.parent_id
      OR NEW.parent_id IS NULL AND OLD.knowledge_base_id <> NEW.knowledge_base_id)
EXECUTE FUNCTION clear_order_key();

CREATE OR REPLACE FUNCTION write_document_title() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO document_titles (workspace_id, document_id, knowledge_base_id, folder_id, locale, title, order_key)
  VALUES (NEW.workspace_id, NEW.id, NEW.knowledge_base_id, NEW.folder_id, NEW.locale, NEW.title, NEW.order_key)
  ON CONFLICT (workspace_id, document_id) DO UPDATE SET knowledge_base_id = excluded.knowledge_base_id,
    folder_id = excluded.folder_id, locale = excluded.locale, title = excluded.title, order_key = excluded.order_key;
  RETURN NULL;
END
$$;

DROP TRIGGER rewrite_title ON documents;
CREATE TRIGGER rewrite_title AFTER UPDATE OF title, knowledge_base_id, folder_id, locale, order_key ON documents
FOR EACH ROW
WHEN ((OLD.title, OLD.knowledge_base_id, OLD.folder_id, OLD.locale, OLD.order_key) IS DISTINCT FROM
      (NEW.title, NEW.knowledge_base_id, NEW.folder_id, NEW.locale, NEW.order_key))
EXECUTE FUNCTION write_document_title();

CREATE INDEX document_titles_order_idx ON document_titles (workspace_id, folder_id, order_key, document_id)
WHERE folder_id IS NOT NULL AND order_key IS NOT NULL;
