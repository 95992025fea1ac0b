-- The event log (decisions 6). A write inserts its event without a public id; the sequencer then numbers committed
-- rows in batches (decisions C23), so no reader can skip a late commit and writers never wait for each other.

CREATE SEQUENCE event_id_seq AS bigint;

-- row_no orders the events of one document as its writes were committed: it is drawn under the document's row lock.
CREATE TABLE events (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  row_no bigint GENERATED ALWAYS AS IDENTITY,
  event_id bigint,
  name text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  document_set_id text,
  locale text,
  document jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, row_no)
);
CREATE UNIQUE INDEX events_event_id_key ON events (event_id);
CREATE INDEX events_unnumbered_idx ON events (row_no) WHERE event_id IS NULL;
CREATE INDEX events_created_at_idx ON events (created_at);
