-- Files of documents (decisions 2.1, 4.14). Their bytes lie in the file store under the attachment's id.

CREATE TABLE attachments (
  workspace_id text NOT NULL,
  id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  filename text NOT NULL,
  content_type text NOT NULL,
  size bigint NOT NULL CHECK (size > 0),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text REFERENCES users ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX attachments_document_id_idx ON attachments (workspace_id, document_id, id);

-- Which current bodies show which attachment, kept by every commit of a body. A body may show one that is gone, so
-- there is no reference to attachments.
CREATE TABLE attachment_references (
  workspace_id text NOT NULL,
  attachment_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace_id, attachment_id, document_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX attachment_references_document_id_idx ON attachment_references (workspace_id, document_id);

INSERT INTO attachment_references (workspace_id, attachment_id, document_id)
SELECT DISTINCT d.workspace_id, found[1], d.id
FROM documents d
JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
CROSS JOIN LATERAL regexp_matches(b.body, '"attachmentId":"(att_[0-9A-Z]{26})"', 'g') AS found;

-- Files that may lie in the store although no attachment owns them: being received, or of an attachment that was
-- deleted. A file is written here before its first byte is stored and taken out by the insert of its attachment, so
-- whatever happens in between, the sweep finds it without listing the store. No tenant is known yet when a file
-- arrives, so there is none in the key.
CREATE TABLE loose_files (
  id text PRIMARY KEY,
  removable_at timestamptz(3) NOT NULL
);
CREATE INDEX loose_files_removable_at_idx ON loose_files (removable_at);

-- Attachments go with their documents, and those with folders and knowledge bases: a trigger sees all of them.
CREATE FUNCTION loosen_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO loose_files (id, removable_at) SELECT id, now() FROM deleted ON CONFLICT (id) DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER loosen_files AFTER DELETE ON attachments
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION loosen_files();
