-- After the tokeniser has changed, every search counts the documents that wait to be indexed again. It did so from the
-- rows of search_documents, which carry the outline of their document: 200 ms at 50,000 documents. Now an index holds all
-- that is counted, in place of the index that held the epoch alone. It costs a write nothing more: an update of a row
-- enters all indexes already, since indexed_at changes with it.
CREATE INDEX search_documents_outdated_idx ON search_documents (workspace_id, epoch, document_id);
DROP INDEX search_documents_epoch_idx;

-- As in 0023, but for how outdated documents are counted. `base` and `exact_locale` are null where the search is not
-- narrowed to them; `translations` are in scope or not. `search_includes` (0024) says the same of a document: change
-- both.
CREATE OR REPLACE FUNCTION search_coverage(
  workspaces text[], base bigint, exact_locale text, translations boolean, tokeniser smallint,
  OUT document_count bigint, OUT stale_document_count bigint, OUT stale_document_ids text[],
  OUT lowest_stale_event_id bigint, OUT stale_mark bigint, OUT languages text[]
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  workspace text;
  documents_there bigint;
  stale_there record;
  lowest_epoch smallint;
  highest_epoch smallint;
  outdated_there record;
BEGIN
  document_count := 0;
  stale_document_count := 0;
  stale_document_ids := '{}';
  stale_mark := 0;
  languages := '{}';
  -- One by one, so that each statement has one plan however many there are.
  FOREACH workspace IN ARRAY workspaces LOOP
    SELECT coalesce(sum(d.count), 0) INTO documents_there FROM document_counts d
    WHERE d.workspace_id = workspace AND (base IS NULL OR d.knowledge_base_id = base)
      AND (exact_locale IS NULL OR d.locale = exact_locale)
      AND (translations OR d.variant_role IS DISTINCT FROM 'translation');
    document_count := document_count + documents_there;
    languages := languages || ARRAY(SELECT l.language FROM search_languages l WHERE l.workspace_id = workspace);

    SELECT count(*) AS number, min(e.event_id) AS lowest, coalesce(bit_xor(hashint8extended(p.event_row_no, 0)), 0) AS mark,
      (array_agg(p.document_id ORDER BY p.document_id))[1:100] AS ids
    INTO stale_there
    FROM stale_projections p
    JOIN documents d ON d.workspace_id = p.workspace_id AND d.id = p.document_id
    LEFT JOIN events e ON e.workspace_id = p.workspace_id AND e.row_no = p.event_row_no
    WHERE p.workspace_id = workspace AND p.projection = 'search'
      AND (base IS NULL OR d.knowledge_base_id = base) AND (exact_locale IS NULL OR d.locale = exact_locale)
      AND (translations OR d.variant_role IS DISTINCT FROM 'translation');
    IF stale_there.number > 0 THEN
      stale_document_count := stale_document_count + stale_there.number;
      stale_document_ids := stale_document_ids || stale_there.ids;
      lowest_stale_event_id := least(lowest_stale_event_id, stale_there.lowest);
      stale_mark := stale_mark # stale_there.mark;
    END IF;

    -- The ends of the index say at once that there are none, as there almost never are.
    SELECT min(s.epoch), max(s.epoch) INTO lowest_epoch, highest_epoch
    FROM search_documents s WHERE s.workspace_id = workspace;
    IF lowest_epoch <> tokeniser OR highest_epoch <> tokeniser THEN
      -- Sets, since PostgreSQL would choose to look up thousands of rows one by one. Where no document of the workspace is
      -- out of scope, documents are not read.
      IF documents_there = (SELECT sum(d.count) FROM document_counts d WHERE d.workspace_id = workspace) THEN
        WITH outdated AS MATERIALIZED (
          SELECT s.document_id AS id FROM search_documents s WHERE s.workspace_id = workspace AND s.epoch <> tokeniser
          EXCEPT
          SELECT p.document_id FROM stale_projections p WHERE p.workspace_id = workspace AND p.projection = 'search')
        SELECT (SELECT count(*) FROM outdated) AS number, ARRAY(SELECT o.id FROM outdated o ORDER BY o.id LIMIT 100) AS ids
        INTO outdated_there;
      ELSE
        WITH outdated AS MATERIALIZED (
          (SELECT s.document_id AS id FROM search_documents s WHERE s.workspace_id = workspace AND s.epoch <> tokeniser
           EXCEPT
           SELECT p.document_id FROM stale_projections p WHERE p.workspace_id = workspace AND p.projection = 'search')
          INTERSECT
          SELECT d.id FROM documents d
          WHERE d.workspace_id = workspace AND (base IS NULL OR d.knowledge_base_id = base)
            AND (exact_locale IS NULL OR d.locale = exact_locale)
            AND (translations OR d.variant_role IS DISTINCT FROM 'translation'))
        SELECT (SELECT count(*) FROM outdated) AS number, ARRAY(SELECT o.id FROM outdated o ORDER BY o.id LIMIT 100) AS ids
        INTO outdated_there;
      END IF;
      IF outdated_there.number > 0 THEN
        stale_document_count := stale_document_count + outdated_there.number;
        stale_document_ids := stale_document_ids || outdated_there.ids;
      END IF;
    END IF;
  END LOOP;
  languages := ARRAY(SELECT DISTINCT spoken.language FROM unnest(languages) AS spoken (language) ORDER BY 1);
  IF stale_document_count > 0 THEN
    stale_document_ids := ARRAY(
      SELECT ids.id FROM unnest(stale_document_ids) AS ids (id) ORDER BY ids.id COLLATE "C" LIMIT 100);
  END IF;
END
$$;
