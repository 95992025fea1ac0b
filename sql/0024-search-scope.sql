-- Whether a document is in the scope of a search: `base` and `exact_locale` are null where it is not narrowed to them,
-- `translations` are in scope or not. The planner replaces the call by what stands in it, so that indexes are used.
CREATE FUNCTION search_includes(d documents, base bigint, exact_locale text, translations boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT (base IS NULL OR d.knowledge_base_id = base) AND (exact_locale IS NULL OR d.locale = exact_locale)
    AND (translations OR d.variant_role IS DISTINCT FROM 'translation')
$$;

-- Where a hit stands is read from the outline of its document: as an array the place of a block is found in it without
-- handing ten thousand ids to the reader.
ALTER TABLE search_documents ADD COLUMN top_block_ids text[], ADD COLUMN headings jsonb;
UPDATE search_documents
SET top_block_ids = ARRAY(SELECT jsonb_array_elements_text(outline -> 'ids')), headings = outline -> 'headings';
ALTER TABLE search_documents
  ALTER COLUMN top_block_ids SET NOT NULL, ALTER COLUMN headings SET NOT NULL, DROP COLUMN outline;
