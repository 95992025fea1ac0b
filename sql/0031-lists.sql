-- Indexes and a table with which a list reads one page, not the whole knowledge base.

-- A list that is sorted by time and narrowed to a knowledge base reads this index in its order. Without the index
-- PostgreSQL reads the documents of the whole workspace by time until enough of them are in the knowledge base. For an
-- archive of old documents that is nearly the whole workspace.
CREATE INDEX documents_base_updated_at_idx ON documents (workspace_id, knowledge_base_id, updated_at DESC, id DESC);
-- A list that is sorted by time and narrowed to a folder reads this index. The index replaces the index by folder and
-- id, since document_titles has such an index and is written less often.
CREATE INDEX documents_folder_updated_at_idx ON documents (workspace_id, folder_id, updated_at DESC, id DESC)
WHERE folder_id IS NOT NULL;
DROP INDEX documents_folder_id_idx;

-- The children of a folder in the order in which they are listed.
CREATE INDEX folders_parent_name_idx ON folders (workspace_id, parent_id, name COLLATE "C", id);
DROP INDEX folders_parent_id_idx;

-- Titles, places and locales of documents, apart from their rows. Every write of a body changes a row of documents, and
-- would write the title into the indexes of titles again. Triggers keep the table in step; foreign keys would cost
-- more.
CREATE TABLE document_titles (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  knowledge_base_id bigint NOT NULL,
  folder_id bigint,
  locale text,
  title text NOT NULL,
  PRIMARY KEY (workspace_id, document_id)
);

-- The words by which the index finds a part of a title. At each character of the title, in lower case, begins a word of
-- three characters, or fewer at the end. So a part of a title is the beginning of a word or a sequence of words. Two
-- more words say where the document is. All words begin with a letter for the kind of word and a hash of the workspace.
CREATE FUNCTION title_words(workspace text, base bigint, folder bigint, title text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
DECLARE
  tenant text := left(md5(workspace), 12);
  letters text[] := string_to_array(lower(title), NULL);
  words text[] := ARRAY['b' || tenant || base];
BEGIN
  IF folder IS NOT NULL THEN words := words || ('f' || tenant || folder); END IF;
  FOR at IN 1 .. cardinality(letters) LOOP
    words := words || ('t' || tenant || array_to_string(letters[at : at + 2], ''));
  END LOOP;
  RETURN array_to_tsvector(words);
END
$$;

-- A query for the words that every title has which contains the part, in the knowledge base and folder where these are
-- not null. A title with these words may still not contain the part.
CREATE FUNCTION title_words_of_part(workspace text, base bigint, folder bigint, part text) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  tenant text := left(md5(workspace), 12);
  letters text[] := string_to_array(lower(part), NULL);
  wanted text;
BEGIN
  SELECT string_agg(
    '''t' || tenant || replace(replace(array_to_string(letters[at : at + 2], ''), '\', '\\'), '''', '''''') || ''''
      || CASE WHEN cardinality(letters) < 3 THEN ':*' ELSE '' END, ' & ')
  INTO wanted FROM generate_series(1, greatest(1, cardinality(letters) - 2)) AS at;
  IF base IS NOT NULL THEN wanted := wanted || ' & ''b' || tenant || base || ''''; END IF;
  IF folder IS NOT NULL THEN wanted := wanted || ' & ''f' || tenant || folder || ''''; END IF;
  RETURN wanted::tsquery;
END
$$;

CREATE FUNCTION write_document_title() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO document_titles (workspace_id, document_id, knowledge_base_id, folder_id, locale, title)
  VALUES (NEW.workspace_id, NEW.id, NEW.knowledge_base_id, NEW.folder_id, NEW.locale, NEW.title)
  ON CONFLICT (workspace_id, document_id) DO UPDATE SET knowledge_base_id = excluded.knowledge_base_id,
    folder_id = excluded.folder_id, locale = excluded.locale, title = excluded.title;
  RETURN NULL;
END
$$;

CREATE FUNCTION delete_document_titles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM document_titles t USING gone WHERE t.workspace_id = gone.workspace_id AND t.document_id = gone.id;
  RETURN NULL;
END
$$;

CREATE TRIGGER write_title AFTER INSERT ON documents FOR EACH ROW EXECUTE FUNCTION write_document_title();
CREATE TRIGGER rewrite_title AFTER UPDATE OF title, knowledge_base_id, folder_id, locale ON documents FOR EACH ROW
WHEN ((OLD.title, OLD.knowledge_base_id, OLD.folder_id, OLD.locale) IS DISTINCT FROM
      (NEW.title, NEW.knowledge_base_id, NEW.folder_id, NEW.locale))
EXECUTE FUNCTION write_document_title();
CREATE TRIGGER delete_titles AFTER DELETE ON documents
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_document_titles();

INSERT INTO document_titles (workspace_id, document_id, knowledge_base_id, folder_id, locale, title)
SELECT workspace_id, id, knowledge_base_id, folder_id, locale, title FROM documents;

CREATE INDEX document_titles_locale_idx ON document_titles (workspace_id, locale, document_id) WHERE locale IS NOT NULL;
CREATE INDEX document_titles_folder_id_idx ON document_titles (workspace_id, folder_id, document_id)
WHERE folder_id IS NOT NULL;
-- The children of a folder in the order in which they are listed.
CREATE INDEX document_titles_folder_title_idx
ON document_titles (workspace_id, folder_id, title COLLATE "C", document_id) WHERE folder_id IS NOT NULL;
-- Each reader looks through the entries that are not sorted into the index yet. The limit of 256 kB keeps these few.
CREATE INDEX document_titles_words_idx ON document_titles
USING gin (title_words(workspace_id, knowledge_base_id, folder_id, title)) WITH (gin_pending_list_limit = 256);
-- ANALYZE would cut 30,000 titles into words for statistics on which no plan depends.
ALTER INDEX document_titles_words_idx ALTER COLUMN 1 SET STATISTICS 0;
