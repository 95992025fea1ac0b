-- The requests of programs that wait for their persons, oldest first. When there are too many, the oldest are forgotten.
CREATE INDEX oauth_artifacts_waiting_idx ON oauth_artifacts (expires_at, id_hash) WHERE kind = 'Interaction';
