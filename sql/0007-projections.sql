-- What is known not to be fresh: a row says that this projection of this document lags behind its source. The write
-- inserts it together with its job, the worker deletes it in the transaction that catches up. Staleness is thus one
-- look-up that every reader and the sweep share, and it costs nothing while nothing is stale.

CREATE TABLE stale_projections (
  workspace_id text NOT NULL,
  projection text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  -- events.row_no of the write that made it stale; the search watermark is derived from it.
  event_row_no bigint NOT NULL,
  since timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, projection, document_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX stale_projections_since_idx ON stale_projections (since);
