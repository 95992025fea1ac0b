-- What a write costs beside its rows: index entries that no statement reads, and locks on rows that all writes share.
-- Nothing here rewrites a table. Building the two indexes of `events` keeps writes waiting for about two seconds per
-- million retained events; every other statement takes milliseconds.

-- An event is inserted without its id and gets the id in a second step. Only numbered events are looked up by id, so
-- the insert need not enter these indexes.
DROP INDEX events_event_id_key;
CREATE UNIQUE INDEX events_event_id_key ON events (event_id) WHERE event_id IS NOT NULL;
DROP INDEX events_workspace_id_event_id_idx;
CREATE INDEX events_workspace_id_event_id_idx ON events (workspace_id, event_id) WHERE event_id IS NOT NULL;

-- Events and audit entries are purged in the order of their ids, so no statement reads these indexes by time.
DROP INDEX events_created_at_idx;
DROP INDEX audit_log_created_at_idx;

-- A check of a foreign key locks the row that the key names, unless the transaction has locked that row already. The
-- lock writes to the write-ahead log and changes the page of the row. Each write locked the row of its workspace and
-- the row of its user. Simultaneous writes shared these locks at the further cost of MultiXacts. Triggers take the
-- place of the two keys. A deletion waits for the writers of its documents before the triggers run, so the triggers
-- miss no row of such a writer.
ALTER TABLE events DROP CONSTRAINT events_workspace_id_fkey;
ALTER TABLE document_versions DROP CONSTRAINT document_versions_created_by_fkey;

-- The events of a workspace are deleted with the workspace.
CREATE FUNCTION forget_workspace_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM events e USING deleted WHERE e.workspace_id = deleted.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER forget_workspace_events AFTER DELETE ON workspaces
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION forget_workspace_events();

-- A snapshot outlives the account of its author.
CREATE FUNCTION forget_snapshot_authors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE document_versions v SET created_by = NULL FROM deleted WHERE v.created_by = deleted.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER forget_snapshot_authors AFTER DELETE ON users
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION forget_snapshot_authors();
