-- Who may call: users, the workspaces they are members of, and their API tokens (decisions 1, 5).
-- These tables are about accounts, not about one tenant's data; everything a workspace owns carries workspace_id
-- as the first column of its keys instead.

CREATE TABLE users (
  id text PRIMARY KEY,
  email text NOT NULL,
  name text NOT NULL,
  password_hash text,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));

CREATE TABLE workspaces (
  id text PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE memberships (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX memberships_user_id_idx ON memberships (user_id, created_at, workspace_id);

-- secret_hash is an HMAC-SHA-256 keyed with TOKEN_PEPPER: a copy of this table lets nobody in.
CREATE TABLE tokens (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  name text,
  secret_hash bytea NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);
CREATE INDEX tokens_user_id_idx ON tokens (user_id, created_at);
