-- The search index (decisions 2.8): what the search worker derives from bodies and titles.

-- One row per indexed document. source_version and title are what the index was made from, so a reader can tell that a
-- hit is fresh; outline resolves position and heading path of a hit at read, so that a renamed heading rewrites one
-- block only. body_seq orders what has been projected.
CREATE TABLE search_documents (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  source_version text NOT NULL,
  body_seq bigint NOT NULL,
  title text NOT NULL,
  language text NOT NULL,
  epoch smallint NOT NULL,
  outline jsonb NOT NULL,
  indexed_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, document_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);
-- What another tokeniser indexed: looked for in every search, and almost never there.
CREATE INDEX search_documents_epoch_idx ON search_documents (workspace_id, epoch);
-- Whether anything was indexed between two pages of an exhaustive search.
CREATE INDEX search_documents_indexed_at_idx ON search_documents (workspace_id, indexed_at DESC);

-- One row per textblock, and one for the title at ord 0. Blocks lie far apart in ord, so that an insert moves nothing.
-- hash says what the row was made from; length is the number of tokens, for BM25.
CREATE TABLE search_blocks (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  ord bigint NOT NULL,
  block_id text,
  top_block_id text,
  type text NOT NULL,
  length smallint NOT NULL,
  hash text NOT NULL,
  body text NOT NULL,
  tsv tsvector NOT NULL,
  PRIMARY KEY (workspace_id, document_id, ord),
  FOREIGN KEY (workspace_id, document_id) REFERENCES search_documents ON DELETE CASCADE
) WITH (fillfactor = 90);
CREATE INDEX search_blocks_tsv_idx ON search_blocks USING gin (tsv) WITH (gin_pending_list_limit = 1024);
ALTER TABLE search_blocks ALTER tsv SET STATISTICS 300;

-- The languages that occur in a workspace: a query word is stemmed in each of them.
CREATE TABLE search_languages (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  language text NOT NULL,
  PRIMARY KEY (workspace_id, language)
);
