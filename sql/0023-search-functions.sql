-- What every search asks alike, in functions: PostgreSQL keeps their plans, while the statement around them is planned
-- for each query, since its plan depends on the words. Parsing and planning all of it took three times as long as the
-- search for a rare word. STABLE functions see the snapshot of the statement that calls them, which the proof of
-- freshness needs (decisions 2.8). Volatile ones would not.

-- What the index covers of the documents of a scope: how many there are, how many are stale, the first 100 of these, the
-- least event among them, and a mark that changes with every one of them; and the languages of the workspaces, in which the
-- words of a query must have been stemmed. Documents that another tokeniser indexed count as stale. `base` and `exact_locale` are null where the search is not narrowed to them; `translations` are in scope or not.
CREATE FUNCTION search_coverage(
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
      SELECT count(*) AS number, (array_agg(s.document_id ORDER BY s.document_id))[1:100] AS ids
      INTO outdated_there
      FROM search_documents s
      JOIN documents d ON d.workspace_id = s.workspace_id AND d.id = s.document_id
      WHERE s.workspace_id = workspace AND s.epoch <> tokeniser
        AND (base IS NULL OR d.knowledge_base_id = base) AND (exact_locale IS NULL OR d.locale = exact_locale)
        AND (translations OR d.variant_role IS DISTINCT FROM 'translation')
        AND NOT EXISTS (
          SELECT FROM stale_projections p
          WHERE p.workspace_id = workspace AND p.projection = 'search' AND p.document_id = s.document_id);
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

-- Where a document is: its knowledge base, the folders from the root down, itself.
CREATE FUNCTION document_path(workspace text, base bigint, folder bigint, document text, title text) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
  folders_above jsonb := '[]';
  path jsonb;
BEGIN
  IF folder IS NOT NULL THEN
    WITH RECURSIVE above AS (
      SELECT f.id, f.name, f.parent_id, 1 AS height FROM folders f WHERE f.workspace_id = workspace AND f.id = folder
      UNION ALL
      SELECT f.id, f.name, f.parent_id, above.height + 1
      FROM above JOIN folders f ON f.workspace_id = workspace AND f.id = above.parent_id
    )
    SELECT jsonb_agg(jsonb_build_object('id', above.id, 'name', above.name, 'type', 'folder') ORDER BY above.height DESC)
    INTO folders_above FROM above;
  END IF;
  SELECT jsonb_build_array(jsonb_build_object('id', k.id, 'name', k.name, 'type', 'knowledge_base'))
    || folders_above || jsonb_build_array(jsonb_build_object('id', document, 'name', title, 'type', 'document'))
  INTO path FROM knowledge_bases k WHERE k.workspace_id = workspace AND k.id = base;
  RETURN path;
END
$$;
