-- Bodies and their history (decisions 2.5, 4.10). Only shared/body/commit.ts writes here.

-- Insert-only: body is the canonical text, one top-level block a line. A row stays while it is the current body or a
-- snapshot points at it.
CREATE TABLE document_bodies (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  body_seq bigint NOT NULL,
  version text NOT NULL,
  body text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, document_id, body_seq),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);

-- lz4 halves the time to move a large body, but not every build of PostgreSQL has it.
DO $$
BEGIN
  ALTER TABLE document_bodies ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION
  WHEN feature_not_supported THEN NULL;
END
$$;

-- A snapshot is the body as it was before a write: a pointer at a row that is kept, never a copy.
CREATE TABLE document_versions (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  body_seq bigint NOT NULL,
  size integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text REFERENCES users ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, document_id, seq),
  FOREIGN KEY (workspace_id, document_id, body_seq) REFERENCES document_bodies ON DELETE CASCADE
);
CREATE INDEX document_versions_body_seq_idx ON document_versions (workspace_id, document_id, body_seq);
