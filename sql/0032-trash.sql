-- The trash: what was deleted and can be restored. A deletion moves rows here from the tables that everything reads, so
-- nothing that was deleted is visible anywhere else.

-- An entry is what one deletion deleted: a document, a folder with everything in it, or a knowledge base. The ids refer
-- to nothing that exists. knowledge_base_id and parent_folder_id say where the thing was; a knowledge base names
-- itself.
CREATE TABLE trash_entries (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL,
  type text NOT NULL CHECK (type IN ('document', 'folder', 'knowledge_base')),
  document_id text COLLATE "C",
  folder_id bigint,
  knowledge_base_id bigint NOT NULL,
  parent_folder_id bigint,
  name text NOT NULL,
  path_text text NOT NULL,
  document_count integer NOT NULL,
  -- What cannot be restored, in words of the API.
  not_restored text[] NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  deleted_by text REFERENCES users ON DELETE SET NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (workspace_id, id),
  CHECK ((type = 'document') = (document_id IS NOT NULL)),
  CHECK ((type = 'folder') = (folder_id IS NOT NULL))
);
CREATE INDEX trash_entries_knowledge_base_id_idx ON trash_entries (workspace_id, knowledge_base_id, id);
CREATE INDEX trash_entries_deleted_by_idx ON trash_entries (deleted_by);
-- The entries whose name contains a text, found as documents are by their titles (0031).
CREATE INDEX trash_entries_words_idx ON trash_entries
USING gin (title_words(workspace_id, knowledge_base_id, NULL::bigint, name)) WITH (gin_pending_list_limit = 256);
ALTER INDEX trash_entries_words_idx ALTER COLUMN 1 SET STATISTICS 0;

-- A row of another table as it was deleted. document_id is the document that the row belonged to. Some rows belong to
-- two documents: units to a translation and its source, relations to both ends. Then the second one is
-- other_document_id. A large value is not part of `row` but has a column of its own, by its type: PostgreSQL copies it
-- as it is stored, compressed, whereas JSON would be compressed anew.
CREATE TABLE trash_rows (
  workspace_id text NOT NULL,
  entry_id text COLLATE "C" NOT NULL,
  table_name text COLLATE "C" NOT NULL,
  n bigint GENERATED ALWAYS AS IDENTITY,
  document_id text COLLATE "C",
  other_document_id text COLLATE "C",
  row jsonb NOT NULL,
  large_text text,
  large_bytes bytea,
  large_json jsonb,
  PRIMARY KEY (workspace_id, entry_id, table_name, n),
  FOREIGN KEY (workspace_id, entry_id) REFERENCES trash_entries ON DELETE CASCADE
);

-- In which entry a document is.
CREATE UNIQUE INDEX trash_rows_document_key ON trash_rows (workspace_id, document_id) WHERE table_name = 'documents';
-- Whether a document set has members in the trash.
CREATE INDEX trash_rows_document_set_idx ON trash_rows (workspace_id, (row ->> 'document_set_id'))
  WHERE table_name = 'documents' AND row ->> 'document_set_id' IS NOT NULL;
-- Whether the file of an attachment is still needed.
CREATE INDEX trash_rows_attachment_idx ON trash_rows (workspace_id, (row ->> 'id')) WHERE table_name = 'attachments';
-- The relations of which no end is left, by both ends.
CREATE INDEX trash_rows_relation_source_idx ON trash_rows (workspace_id, document_id)
  WHERE table_name = 'relations' AND other_document_id IS NOT NULL;
CREATE INDEX trash_rows_relation_target_idx ON trash_rows (workspace_id, other_document_id)
  WHERE table_name = 'relations' AND other_document_id IS NOT NULL;

-- As in 0019, but a file stays as long as the trash has the row of its attachment.
CREATE OR REPLACE FUNCTION loosen_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO loose_files (id, removable_at)
  SELECT d.id, now() FROM deleted d
  WHERE NOT EXISTS (
    SELECT FROM trash_rows t
    WHERE t.workspace_id = d.workspace_id AND t.table_name = 'attachments' AND t.row ->> 'id' = d.id)
  ON CONFLICT (id) DO NOTHING;
  RETURN NULL;
END
$$;

-- An attachment leaves the trash when it is restored. Otherwise nobody needs its file any more.
CREATE FUNCTION loosen_files_of_trash() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO loose_files (id, removable_at)
  SELECT d.row ->> 'id', now() FROM deleted d
  WHERE d.table_name = 'attachments' AND NOT EXISTS (
    SELECT FROM attachments a WHERE a.workspace_id = d.workspace_id AND a.id = d.row ->> 'id')
  ON CONFLICT (id) DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER loosen_files_of_trash AFTER DELETE ON trash_rows
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION loosen_files_of_trash();

-- A restoration inserts the rows of these tables in slices. A row may refer to a row of a later slice.
ALTER TABLE folders ALTER CONSTRAINT folders_workspace_id_parent_id_fkey DEFERRABLE;
ALTER TABLE concepts ALTER CONSTRAINT concepts_workspace_id_merged_into_concept_id_fkey DEFERRABLE;

-- Moves rows of an entry back to their tables, table by table, and returns whether rows are left. One call moves about
-- `most_rows` rows and `most_bytes` stored bytes at most, and at least one row. `places` gives columns of a table other
-- values than the rows have: {"documents": {"knowledge_base_id": 7}}. `large_columns` names the column of a table whose
-- value has a column of its own in trash_rows: {"document_bodies": "body"}.
--
-- The function knows no columns, so it also restores rows that were deleted before a migration added a column: the
-- column gets its default. A column that refers to a user, by a foreign key or by a name that ends in _by, becomes null
-- when the user is gone. If the column cannot be null, the row does not come back.
--
-- A row whose key exists again is an error, so that no row is lost. But a candidate may have been found again in its
-- document: then a reviewed candidate replaces a pending one, and otherwise the existing candidate stays.
CREATE FUNCTION restore_trash_rows(
  workspace text, entry text, tables text[], places jsonb, large_columns jsonb, most_rows bigint, most_bytes bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  target text;
  column_names text;
  column_values text;
  excluded_values text;
  conditions text;
  slice record;
BEGIN
  SET CONSTRAINTS folders_workspace_id_parent_id_fkey, concepts_workspace_id_merged_into_concept_id_fkey DEFERRED;
  FOREACH target IN ARRAY tables LOOP
    CONTINUE WHEN NOT EXISTS (
      SELECT FROM trash_rows WHERE workspace_id = workspace AND entry_id = entry AND table_name = target);
    IF most_rows <= 0 OR most_bytes <= 0 THEN
      RETURN true;
    END IF;
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
      string_agg(
        CASE
          WHEN a.attname = large_columns ->> target THEN
            CASE a.atttypid
              WHEN 'bytea'::regtype THEN 'taken.large_bytes'
              WHEN 'jsonb'::regtype THEN 'taken.large_json'
              ELSE 'taken.large_text'
            END
          WHEN o.is_user THEN format('(SELECT u.id FROM users u WHERE u.id = r.%I)', a.attname)
          WHEN a.attnotnull AND a.atthasdef THEN format('coalesce(r.%I, %s)', a.attname, pg_get_expr(d.adbin, d.adrelid))
          ELSE format('r.%I', a.attname)
        END, ', ' ORDER BY a.attnum),
      string_agg(format('excluded.%I', a.attname), ', ' ORDER BY a.attnum),
      coalesce(string_agg(format('EXISTS (SELECT FROM users u WHERE u.id = r.%I)', a.attname), ' AND ')
        FILTER (WHERE o.is_user AND a.attnotnull), 'true')
    INTO column_names, column_values, excluded_values, conditions
    FROM pg_attribute a
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    CROSS JOIN LATERAL (
      SELECT a.attname LIKE '%\_by' OR EXISTS (
        SELECT FROM pg_constraint c
        WHERE c.conrelid = a.attrelid AND c.confrelid = 'users'::regclass AND a.attnum = ANY (c.conkey)) AS is_user
    ) AS o
    WHERE a.attrelid = target::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
    SELECT max(n) AS last, count(*) AS rows, sum(size) AS bytes INTO slice
    FROM (
      SELECT n, size, sum(size) OVER (ORDER BY n) - size AS bytes_before
      FROM (
        SELECT n, pg_column_size(row) + coalesce(
          pg_column_size(large_text), pg_column_size(large_bytes), pg_column_size(large_json), 0) AS size
        FROM trash_rows WHERE workspace_id = workspace AND entry_id = entry AND table_name = target
        ORDER BY n LIMIT most_rows) AS first
    ) AS measured
    WHERE bytes_before < most_bytes;
    EXECUTE format($statement$
      WITH taken AS (
        DELETE FROM trash_rows WHERE workspace_id = $1 AND entry_id = $2 AND table_name = $3 AND n <= $4
        RETURNING row, large_text, large_bytes, large_json
      )
      INSERT INTO %1$I (%2$s)
      SELECT %3$s FROM taken, jsonb_populate_record(NULL::%1$I, %4$s) AS r WHERE %5$s
      %6$s
    $statement$, target, column_names, column_values,
      CASE WHEN places ? target THEN format('taken.row || %L::jsonb', places -> target) ELSE 'taken.row' END, conditions,
      CASE WHEN target = 'concept_candidates' THEN format($conflict$
        ON CONFLICT (workspace_id, fingerprint) DO UPDATE SET (%1$s) = (SELECT %2$s)
        WHERE concept_candidates.review_status = 'pending' AND excluded.review_status <> 'pending'
      $conflict$, column_names, excluded_values) END)
    USING workspace, entry, target, slice.last;
    most_rows := most_rows - slice.rows;
    most_bytes := most_bytes - slice.bytes;
    IF EXISTS (SELECT FROM trash_rows WHERE workspace_id = workspace AND entry_id = entry AND table_name = target) THEN
      RETURN true;
    END IF;
  END LOOP;
  RETURN false;
END
$$;
