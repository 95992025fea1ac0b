-- What the event stream needs beside the log (decisions 6).

-- A client that resumes reads the rest of its workspaces' events, in the order of their ids.
CREATE INDEX events_workspace_id_event_id_idx ON events (workspace_id, event_id);

-- The one row says up to which id events were purged. Readers start above it, whatever rows are left below; the newest
-- id is never lower than it, so that neither a cursor nor a search watermark goes back when the log runs empty.
CREATE TABLE event_floor (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  event_id bigint NOT NULL
);
INSERT INTO event_floor (event_id) VALUES (0);

-- Open streams, counted by token over all processes. A process renews its rows with each heartbeat; those of a process
-- that died expire. No foreign key: one deleted token must not fail the renewal of all.
CREATE TABLE event_stream_leases (
  token_id text NOT NULL,
  stream_id text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (token_id, stream_id)
);
CREATE INDEX event_stream_leases_expires_at_idx ON event_stream_leases (expires_at);
