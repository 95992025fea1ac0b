-- What changed in a document from body to body (decisions 2.7): manifests, written with each body, and the chain of
-- batches that the changes worker makes of them.

-- How the manifest of a body, the list of its top-level blocks, differs from the one before: only what differs is
-- stored, so a row is as large as the edit, not as the document. step is null for the first body. A row goes once it is
-- part of the chain. Only shared/body writes here.
CREATE TABLE document_manifests (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  body_seq bigint NOT NULL,
  version text NOT NULL,
  step jsonb,
  changed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, document_id, body_seq),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);

-- The chain of a document: one batch for each body from base_seq, a client's earliest starting point, to projected_seq.
-- A chain that had to begin anew has another number, so that cursors of the one before are told from its own.
CREATE TABLE change_chains (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  chain bigint NOT NULL,
  base_seq bigint NOT NULL,
  projected_seq bigint NOT NULL,
  PRIMARY KEY (workspace_id, document_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);

-- What one write of the body changed. The batch at base_seq stands for its version alone.
CREATE TABLE change_batches (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  body_seq bigint NOT NULL,
  source_version text NOT NULL,
  changed_at timestamptz(3) NOT NULL,
  changes jsonb NOT NULL,
  PRIMARY KEY (workspace_id, document_id, body_seq),
  FOREIGN KEY (workspace_id, document_id) REFERENCES change_chains ON DELETE CASCADE
);

-- Documents written before this migration get their chain from the sweep.
INSERT INTO stale_projections (workspace_id, projection, document_id, event_row_no)
SELECT workspace_id, 'changes', id, 0 FROM documents;
