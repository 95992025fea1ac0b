-- How many bytes the attachments of a workspace have: their limit is looked at by every upload, and adding up a million
-- files would take longer than the upload. As with document_counts, a change adds to a row that no other transaction
-- holds, so that uploads and deletions never wait for each other; what the workspace has is the sum of its rows.
CREATE TABLE attachment_bytes (
  workspace_id text NOT NULL,
  n bigint GENERATED ALWAYS AS IDENTITY,
  bytes bigint NOT NULL,
  PRIMARY KEY (workspace_id, n)
) WITH (fillfactor = 50);

INSERT INTO attachment_bytes (workspace_id, bytes) SELECT workspace_id, sum(size) FROM attachments GROUP BY 1;

CREATE FUNCTION add_to_attachment_bytes(workspace text, difference bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  free record;
BEGIN
  SELECT b.n, b.bytes INTO free FROM attachment_bytes b
  WHERE b.workspace_id = workspace LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND AND free.bytes + difference = 0 THEN
    DELETE FROM attachment_bytes b WHERE b.workspace_id = workspace AND b.n = free.n;
  ELSIF FOUND THEN
    UPDATE attachment_bytes b SET bytes = b.bytes + difference WHERE b.workspace_id = workspace AND b.n = free.n;
  ELSE
    INSERT INTO attachment_bytes (workspace_id, bytes) VALUES (workspace, difference);
  END IF;
END
$$;

-- Attachments also go with their documents, by foreign key: a trigger sees all of them.
CREATE FUNCTION count_attachment_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_to_attachment_bytes(workspace_id, CASE TG_OP WHEN 'INSERT' THEN sum(size) ELSE -sum(size) END::bigint)
  FROM changed GROUP BY workspace_id;
  RETURN NULL;
END
$$;

CREATE TRIGGER count_inserted_attachments AFTER INSERT ON attachments
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_attachment_bytes();

CREATE TRIGGER count_deleted_attachments AFTER DELETE ON attachments
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_attachment_bytes();
