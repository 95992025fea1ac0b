-- The Yjs documents of bodies that have been opened for live editing (shared/body/live/README.md). The body is the
-- truth and the Y document follows it. It is never discarded: browsers that were away still hold it.

-- state with the log after folded_n is the Y document. It stands at body_seq: every change of the body up to there is
-- in it, and what it has beyond that was typed. The document's row lock guards both tables.
CREATE TABLE document_y_states (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  state bytea NOT NULL,
  body_seq bigint NOT NULL,
  -- The newest row of the log, and the newest that is part of state.
  n bigint NOT NULL DEFAULT 0,
  folded_n bigint NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, document_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE,
  -- What changed since can only be told from that body, so pruning must not take it.
  FOREIGN KEY (workspace_id, document_id, body_seq) REFERENCES document_bodies
);

-- Append-only: Yjs updates (encoding v1) in the order they were stored; rows go when they are folded into the state.
CREATE TABLE document_y_updates (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  n bigint NOT NULL,
  update bytea NOT NULL,
  PRIMARY KEY (workspace_id, document_id, n),
  FOREIGN KEY (workspace_id, document_id) REFERENCES document_y_states ON DELETE CASCADE
);

-- As for bodies in 0005.
DO $$
BEGIN
  ALTER TABLE document_y_states ALTER COLUMN state SET COMPRESSION lz4;
EXCEPTION
  WHEN feature_not_supported THEN NULL;
END
$$;
