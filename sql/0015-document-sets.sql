-- Document sets: one document per locale (decisions 2.4). A member is a document; its set, locale, role and state are
-- columns of its own row, so that a member is read and announced like any other document.

-- source_document_id stays when the source is deleted (decisions 4.15). fallback_locale is the source's: no endpoint
-- changes it yet.
CREATE TABLE document_sets (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  source_document_id text COLLATE "C" NOT NULL,
  source_locale text NOT NULL,
  fallback_locale text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id)
);

ALTER TABLE documents
  ADD FOREIGN KEY (workspace_id, document_set_id) REFERENCES document_sets,
  ADD CHECK (document_set_id IS NULL
    OR (locale IS NOT NULL AND variant_role IS NOT NULL AND workflow_status IS NOT NULL));
-- A set has one document per locale, and one source at most.
CREATE UNIQUE INDEX documents_variant_key ON documents (workspace_id, document_set_id, locale)
  WHERE document_set_id IS NOT NULL;
CREATE UNIQUE INDEX documents_variant_source_key ON documents (workspace_id, document_set_id)
  WHERE variant_role = 'source' AND document_set_id IS NOT NULL;

-- Who did what to a set, its translations, units and jobs (decisions 2.4). It goes with the set; what it refers to may
-- have gone before. user_id and token_id are those of the time, kept when user or token are deleted.
CREATE TABLE translation_audit (
  workspace_id text NOT NULL,
  id text COLLATE "C" NOT NULL,
  document_set_id text NOT NULL,
  action text NOT NULL,
  source_document_id text COLLATE "C" NOT NULL,
  target_document_id text COLLATE "C",
  locale text,
  unit_id text,
  job_id text,
  user_id text,
  token_id text,
  client_name text,
  client_version text,
  is_agent boolean NOT NULL,
  details jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, document_set_id) REFERENCES document_sets ON DELETE CASCADE
);
CREATE INDEX translation_audit_set_idx
  ON translation_audit (workspace_id, document_set_id, created_at DESC, id DESC);
CREATE INDEX translation_audit_created_at_idx ON translation_audit (created_at);
