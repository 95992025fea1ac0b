-- Public links that expire, ask for a password, count their views and can be listed.

-- password_hash is a salted scrypt hash, as in users. Views are counted in place, and no index has these columns.
ALTER TABLE public_shares
  ADD COLUMN expires_at timestamptz(3),
  ADD COLUMN password_hash text,
  ADD COLUMN view_count bigint NOT NULL DEFAULT 0,
  ADD COLUMN last_viewed_at timestamptz(3);
-- Links are listed newest first.
CREATE INDEX public_shares_created_at_idx ON public_shares (workspace_id, created_at DESC, id DESC);
