-- Public links that expire, ask for a password, count their views and can be listed; lists of attachments; the
-- audit log of a workspace.

-- password_hash is a salted scrypt hash, as in users. Views are counted in place, and no index has these columns.
ALTER TABLE public_shares
  ADD COLUMN expires_at timestamptz(3),
  ADD COLUMN password_hash text,
  ADD COLUMN view_count bigint NOT NULL DEFAULT 0,
  ADD COLUMN last_viewed_at timestamptz(3);
-- Links are listed newest first.
CREATE INDEX public_shares_created_at_idx ON public_shares (workspace_id, created_at DESC, id DESC);

-- Attachments are listed newest first, too, those of one document by an index that replaces the index by document and
-- id.
CREATE INDEX attachments_created_at_idx ON attachments (workspace_id, created_at DESC, id DESC);
CREATE INDEX attachments_document_created_at_idx ON attachments (workspace_id, document_id, created_at DESC, id DESC);
DROP INDEX attachments_document_id_idx;

-- Who did what in a workspace. Entries that were written before have no workspace, and are not listed. Entries are
-- listed newest first, those of one document, token, user or action by an index of their own. The indexes have no entry
-- for what was written before, so building them reads the log five times: writes wait about a second for each million
-- of its rows.
ALTER TABLE audit_log ADD COLUMN action text, ADD COLUMN workspace_id text, ADD COLUMN document_id text COLLATE "C";
CREATE INDEX audit_log_workspace_idx ON audit_log (workspace_id, created_at DESC, id DESC)
WHERE workspace_id IS NOT NULL;
CREATE INDEX audit_log_document_idx ON audit_log (workspace_id, document_id, created_at DESC, id DESC)
WHERE document_id IS NOT NULL;
CREATE INDEX audit_log_token_idx ON audit_log (workspace_id, token_id, created_at DESC, id DESC)
WHERE workspace_id IS NOT NULL;
CREATE INDEX audit_log_user_idx ON audit_log (workspace_id, user_id, created_at DESC, id DESC)
WHERE workspace_id IS NOT NULL;
CREATE INDEX audit_log_action_idx ON audit_log (workspace_id, action, created_at DESC, id DESC)
WHERE workspace_id IS NOT NULL;
