-- Tags and properties of documents, and what finds the documents that have them.

-- tag_keys has the key of each tag, in the same order: the form in which tags are compared. The service makes the keys,
-- and no key occurs twice. A property is a text, a number, true, false or a list of texts.
ALTER TABLE documents
  ADD COLUMN tags text[] NOT NULL DEFAULT '{}',
  ADD COLUMN tag_keys text[] NOT NULL DEFAULT '{}',
  ADD COLUMN properties jsonb NOT NULL DEFAULT '{}';

-- What documents are found by: one row for each tag and for each value of a property. Triggers keep the rows in step
-- with `documents`; foreign keys would cost more. A write of a body writes nothing here.
CREATE TABLE document_filters (
  workspace_id text NOT NULL,
  filter text COLLATE "C" NOT NULL,
  knowledge_base_id bigint NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace_id, filter, knowledge_base_id, document_id)
);

-- How the tags of a knowledge base are spelled: one spelling for each key, whichever document had the tag first. A row
-- says nothing while no document has the tag.
CREATE TABLE knowledge_base_tags (
  workspace_id text NOT NULL,
  knowledge_base_id bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  tag text NOT NULL,
  PRIMARY KEY (workspace_id, knowledge_base_id, key),
  FOREIGN KEY (workspace_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE
);

-- The filter that finds the documents with a tag.
CREATE FUNCTION tag_filter(key text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 't' || key;

-- The filter that finds the documents with a property of this value, or with a list that contains it. A number counts
-- as the text that PostgreSQL writes for it. The hash keeps rows short; a name contains no equals sign.
CREATE FUNCTION property_filter(name text, value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 'p' || md5(name || '=' || value);

-- The filters of a document.
CREATE FUNCTION filters_of(tag_keys text[], properties jsonb) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT tag_filter(k.key) FROM unnest(tag_keys) AS k (key)
  UNION
  SELECT property_filter(p.key, v.value) FROM jsonb_each(properties) AS p
  CROSS JOIN LATERAL jsonb_array_elements_text(
    CASE jsonb_typeof(p.value) WHEN 'array' THEN p.value ELSE jsonb_build_array(p.value) END) AS v (value)
$$;

-- Whether a document of a knowledge base has a tag.
CREATE FUNCTION has_tagged_document(workspace text, base bigint, key text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM document_filters f
    WHERE f.workspace_id = workspace AND f.filter = tag_filter(key) AND f.knowledge_base_id = base)
$$;

-- Forgets the spellings of tags that no document has, except those that another transaction holds. Returns how many it
-- has forgotten.
CREATE FUNCTION forget_unused_tags() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  unused record;
  forgotten bigint := 0;
BEGIN
  FOR unused IN
    SELECT t.workspace_id, t.knowledge_base_id, t.key FROM knowledge_base_tags t
    WHERE NOT has_tagged_document(t.workspace_id, t.knowledge_base_id, t.key) FOR UPDATE SKIP LOCKED
  LOOP
    -- Asked once more, since a transaction that held the row may have ended in between.
    DELETE FROM knowledge_base_tags t
    WHERE t.workspace_id = unused.workspace_id AND t.knowledge_base_id = unused.knowledge_base_id AND t.key = unused.key
      AND NOT has_tagged_document(t.workspace_id, t.knowledge_base_id, t.key);
    IF FOUND THEN forgotten := forgotten + 1; END IF;
  END LOOP;
  RETURN forgotten;
END
$$;

-- The spellings of those of the tags that documents of a knowledge base have, kept until the transaction ends. Others
-- share the locks.
CREATE FUNCTION kept_spellings(workspace text, base bigint, keys text[]) RETURNS text[] LANGUAGE sql AS $$
  SELECT coalesce(array_agg(kept.tag ORDER BY array_position(keys, kept.key)), '{}') FROM (
    SELECT t.key, t.tag FROM knowledge_base_tags t
    WHERE t.workspace_id = workspace AND t.knowledge_base_id = base AND t.key = ANY (keys)
      AND has_tagged_document(workspace, base, t.key)
    ORDER BY t.key FOR SHARE) AS kept
$$;

-- Spells tags as their knowledge base does, and keeps these spellings until the transaction ends. A tag that no
-- document has gets the spelling that is given here. Two documents may get a new tag at the same time: the second one
-- waits and takes the spelling of the first.
CREATE FUNCTION spelled_tags(workspace text, base bigint, keys text[], spellings text[]) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  spelled text[] := kept_spellings(workspace, base, keys);
BEGIN
  -- A spelling may be forgotten just before it is locked: then it is looked for again.
  WHILE cardinality(spelled) < cardinality(keys) LOOP
    INSERT INTO knowledge_base_tags (workspace_id, knowledge_base_id, key, tag)
    SELECT workspace, base, k.key, k.tag FROM unnest(keys, spellings) AS k (key, tag) ORDER BY k.key COLLATE "C"
    ON CONFLICT DO NOTHING;
    PERFORM FROM knowledge_base_tags t
    WHERE t.workspace_id = workspace AND t.knowledge_base_id = base AND t.key = ANY (keys)
    ORDER BY t.key FOR NO KEY UPDATE;
    UPDATE knowledge_base_tags t SET tag = k.tag FROM unnest(keys, spellings) AS k (key, tag)
    WHERE t.workspace_id = workspace AND t.knowledge_base_id = base AND t.key = k.key AND t.tag <> k.tag
      AND NOT has_tagged_document(workspace, base, t.key);
    spelled := ARRAY(
      SELECT t.tag FROM unnest(keys) WITH ORDINALITY AS k (key, place)
      JOIN knowledge_base_tags t ON t.workspace_id = workspace AND t.knowledge_base_id = base AND t.key = k.key
      ORDER BY k.place);
  END LOOP;
  RETURN spelled;
END
$$;

-- Spells the tags of a document and writes its filters, before its row is written. So the next row of the same
-- statement already finds the tags of this one.
CREATE FUNCTION keep_document_filters() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wanted text[] := ARRAY(SELECT f.filter FROM filters_of(NEW.tag_keys, NEW.properties) AS f (filter));
  present text[] := '{}';
  gone text[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    present := ARRAY(SELECT f.filter FROM filters_of(OLD.tag_keys, OLD.properties) AS f (filter));
    gone := CASE WHEN OLD.knowledge_base_id <> NEW.knowledge_base_id THEN present
      ELSE ARRAY(SELECT unnest(present) EXCEPT SELECT unnest(wanted)) END;
    DELETE FROM document_filters f
    WHERE f.workspace_id = OLD.workspace_id AND f.filter = ANY (gone) AND f.knowledge_base_id = OLD.knowledge_base_id
      AND f.document_id = OLD.id;
    IF OLD.knowledge_base_id <> NEW.knowledge_base_id THEN present := '{}'; END IF;
  END IF;
  IF NEW.tag_keys <> '{}' THEN
    NEW.tags := spelled_tags(NEW.workspace_id, NEW.knowledge_base_id, NEW.tag_keys, NEW.tags);
  END IF;
  INSERT INTO document_filters (workspace_id, filter, knowledge_base_id, document_id)
  SELECT NEW.workspace_id, added.filter, NEW.knowledge_base_id, NEW.id
  FROM (SELECT unnest(wanted) EXCEPT SELECT unnest(present)) AS added (filter);
  RETURN NEW;
END
$$;
CREATE TRIGGER keep_filters BEFORE INSERT ON documents FOR EACH ROW
WHEN (NEW.tag_keys <> '{}' OR NEW.properties <> '{}')
EXECUTE FUNCTION keep_document_filters();
CREATE TRIGGER change_filters BEFORE UPDATE OF tags, tag_keys, properties, knowledge_base_id ON documents FOR EACH ROW
WHEN ((OLD.tags, OLD.tag_keys, OLD.properties, OLD.knowledge_base_id)
      IS DISTINCT FROM (NEW.tags, NEW.tag_keys, NEW.properties, NEW.knowledge_base_id))
EXECUTE FUNCTION keep_document_filters();

CREATE FUNCTION delete_document_filters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM document_filters f USING gone, filters_of(gone.tag_keys, gone.properties) AS had (filter)
  WHERE f.workspace_id = gone.workspace_id AND f.filter = had.filter AND f.knowledge_base_id = gone.knowledge_base_id
    AND f.document_id = gone.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER delete_filters AFTER DELETE ON documents
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_document_filters();
