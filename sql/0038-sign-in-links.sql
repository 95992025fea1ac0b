-- Links that sign a person in once. code_hash is an HMAC-SHA-256 of the code in the link, keyed with SESSION_SECRET: a
-- copy of this table lets nobody in. The row goes when the link is used.
CREATE TABLE sign_in_links (
  code_hash bytea PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX sign_in_links_user_id_idx ON sign_in_links (user_id);
CREATE INDEX sign_in_links_expires_at_idx ON sign_in_links (expires_at);
