-- Relations between documents and blocks (decisions 2.9): written by hand, or found as links in bodies.

-- Which body the inline relations of a document were extracted from. Their source_version is kept here once, so that an
-- edit elsewhere in the document rewrites none of them.
CREATE TABLE relation_extractions (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  source_version text NOT NULL,
  body_seq bigint NOT NULL,
  extracted_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, document_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);

-- A relation lies in the workspace of its source; its target may be anywhere, or nowhere. Manual ones outlive both ends,
-- inline ones go with the document that contains the link. source_version is null for inline ones.
CREATE TABLE relations (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  origin text NOT NULL CHECK (origin IN ('inline', 'manual')),
  predicate text NOT NULL,
  source_document_id text COLLATE "C" NOT NULL,
  source_block_id text NOT NULL,
  target_uri text NOT NULL,
  target_document_id text COLLATE "C" NOT NULL,
  target_block_id text,
  anchor_text text NOT NULL,
  source_version text CHECK ((source_version IS NULL) = (origin = 'inline')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text REFERENCES users ON DELETE SET NULL,
  inline_source_id text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN origin = 'inline' THEN source_document_id END) STORED,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, inline_source_id) REFERENCES documents (workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX relations_manual_key
  ON relations (workspace_id, source_document_id, source_block_id, predicate, target_uri) WHERE origin = 'manual';
CREATE UNIQUE INDEX relations_inline_key
  ON relations (workspace_id, inline_source_id, source_block_id, target_uri) WHERE inline_source_id IS NOT NULL;
CREATE INDEX relations_source_idx ON relations (workspace_id, source_document_id, predicate, created_at, id);
CREATE INDEX relations_target_idx ON relations (workspace_id, target_document_id, predicate, created_at, id);

-- Documents written before this migration are extracted by the sweep.
INSERT INTO stale_projections (workspace_id, projection, document_id, event_row_no)
SELECT workspace_id, 'relations', id, 0 FROM documents;
