-- Whether a document is in the scope of a search: `base` and `exact_locale` are null where it is not narrowed to them,
-- `translations` are in scope or not. The planner replaces the call by what stands in it, so that indexes are used.
-- `search_coverage` (sql/0023) says the same of the counts of documents: change both.
CREATE FUNCTION search_includes(d documents, base bigint, exact_locale text, translations boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT (base IS NULL OR d.knowledge_base_id = base) AND (exact_locale IS NULL OR d.locale = exact_locale)
    AND (translations OR d.variant_role IS DISTINCT FROM 'translation')
$$;

CREATE FUNCTION jsonb_texts(list jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY(SELECT jsonb_array_elements_text(list))
$$;

-- Where a hit stands is read from the outline of its document: as an array, the place of a block is found in it without
-- handing ten thousand ids to the reader. Workers of the version before go on writing `outline`.
ALTER TABLE search_documents
  ADD COLUMN top_block_ids text[] NOT NULL GENERATED ALWAYS AS (jsonb_texts(outline -> 'ids')) STORED,
  ADD COLUMN headings jsonb NOT NULL GENERATED ALWAYS AS (coalesce(outline -> 'headings', '[]')) STORED;
