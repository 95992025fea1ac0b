-- OAuth 2.1: the programs that registered, what people approved, and what lives between a request and a token. Like
-- tokens and device codes these belong to accounts, not to a workspace.

-- A program that registered itself (RFC 7591). approved_at is the last time that a person approved the program; a
-- program that nobody has approved is forgotten soon. Programs whose id is the address of a metadata document have no
-- row, because the document is read from that address.
CREATE TABLE oauth_clients (
  id text PRIMARY KEY,
  metadata json NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  approved_at timestamptz(3)
);
CREATE INDEX oauth_clients_created_at_idx ON oauth_clients (created_at, id) WHERE approved_at IS NULL;
CREATE INDEX oauth_clients_approved_at_idx ON oauth_clients (approved_at) WHERE approved_at IS NOT NULL;

-- What a person has allowed a program to do. All codes, refresh tokens and access tokens that follow from one approval
-- belong to its grant, and end with it. client_name and redirect_host are what the person saw when approving. resource
-- is the address for which the access tokens count (RFC 8707). last_used_at is when the last access token was issued.
-- expires_at moves with every new refresh token.
CREATE TABLE oauth_grants (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  client_id text NOT NULL,
  client_name text NOT NULL,
  redirect_host text NOT NULL,
  scopes text[] NOT NULL,
  resource text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  expires_at timestamptz(3) NOT NULL,
  revoked_at timestamptz(3)
);
CREATE INDEX oauth_grants_user_id_idx ON oauth_grants (user_id, created_at);
CREATE INDEX oauth_grants_client_id_idx ON oauth_grants (client_id);
CREATE INDEX oauth_grants_expires_at_idx ON oauth_grants (expires_at);

-- A request that waits for the decision of its person, an authorization code or a refresh token. id_hash is an
-- HMAC-SHA-256 keyed with TOKEN_PEPPER: a copy of this table lets nobody in. A code or refresh token that was used
-- keeps its row until it expires, because a second use must be noticed. payload is json and not jsonb, because it keeps
-- what a client sent, and jsonb cannot hold every text of JSON.
CREATE TABLE oauth_artifacts (
  id_hash bytea PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('Interaction', 'AuthorizationCode', 'RefreshToken')),
  grant_id text REFERENCES oauth_grants ON DELETE CASCADE,
  payload json NOT NULL,
  used_at timestamptz(3),
  expires_at timestamptz(3) NOT NULL,
  CHECK ((kind = 'Interaction') = (grant_id IS NULL))
);
CREATE INDEX oauth_artifacts_grant_id_idx ON oauth_artifacts (grant_id);
CREATE INDEX oauth_artifacts_expires_at_idx ON oauth_artifacts (expires_at);

-- An access token is a token with a grant. Tokens without a grant have no resource: they count everywhere.
ALTER TABLE tokens
  ADD COLUMN grant_id text REFERENCES oauth_grants ON DELETE CASCADE,
  ADD COLUMN resource text,
  ADD CHECK ((grant_id IS NULL) = (resource IS NULL));
CREATE INDEX tokens_grant_id_idx ON tokens (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX tokens_expires_at_idx ON tokens (expires_at) WHERE grant_id IS NOT NULL;
