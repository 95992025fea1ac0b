-- What every request leaves behind: the audit log, remembered answers, rate-limit windows (decisions 2.0, 8).

-- One row for every accepted write, inserted in the transaction of that write.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  request_id text NOT NULL,
  token_id text NOT NULL,
  user_id text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  client_name text,
  client_version text,
  is_agent boolean NOT NULL
);
CREATE INDEX audit_log_created_at_idx ON audit_log (created_at);

-- The first answer to an Idempotency-Key. workspace_id is the workspace whose loss turns a replay into 404.
CREATE TABLE idempotency_keys (
  token_id text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  status smallint NOT NULL,
  data text,
  etag text,
  location text,
  workspace_id text,
  completed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (token_id, method, path, key)
);
CREATE INDEX idempotency_keys_completed_at_idx ON idempotency_keys (completed_at);

-- The table of rate-limiter-flexible; logged, because windows must survive a restart (decisions D48).
-- expire: end of the window in Unix milliseconds.
CREATE TABLE rate_limit_windows (
  key varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);
CREATE INDEX rate_limit_windows_expire_idx ON rate_limit_windows (expire);
