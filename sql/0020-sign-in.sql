-- How people and devices get in: browser sessions, codes of the device flow, identities at an OpenID provider
-- (decisions 4.1, 5). Like users and tokens these belong to accounts, not to a workspace.

-- id_hash is an HMAC-SHA-256 of the cookie's value keyed with SESSION_SECRET: a copy of this table lets nobody in.
CREATE TABLE sessions (
  id_hash bytea PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_seen_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX sessions_user_id_idx ON sessions (user_id);
CREATE INDEX sessions_created_at_idx ON sessions (created_at);

-- Both codes are kept as HMAC-SHA-256 keyed with TOKEN_PEPPER. user_id is who approved or denied; granted_scopes what
-- was approved. interval_seconds grows with every poll that comes too soon. address bounds how many codes one caller
-- keeps pending.
CREATE TABLE device_codes (
  device_code_hash bytea PRIMARY KEY,
  user_code_hash bytea NOT NULL UNIQUE,
  client_name text,
  requested_scopes text[] NOT NULL,
  address text NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'denied', 'exchanged')),
  user_id text REFERENCES users ON DELETE CASCADE,
  granted_scopes text[],
  interval_seconds integer NOT NULL,
  last_polled_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  CHECK (status NOT IN ('approved', 'exchanged') OR (user_id IS NOT NULL AND granted_scopes IS NOT NULL))
);
CREATE INDEX device_codes_address_idx ON device_codes (address, expires_at) WHERE status = 'pending';
CREATE INDEX device_codes_expires_at_idx ON device_codes (expires_at);
CREATE INDEX device_codes_user_id_idx ON device_codes (user_id);

-- Who a user is at an OpenID provider. One identity per provider: an address that was given to somebody else there
-- must not open the account of whoever had it before.
CREATE TABLE user_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject),
  UNIQUE (issuer, user_id)
);
CREATE INDEX user_identities_user_id_idx ON user_identities (user_id);
