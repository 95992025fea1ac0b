-- Every write looks for a waiting job of its document. pg-boss has no index for this look under the policy `singleton`:
-- with 25,000 waiting jobs, each write took 20 ms longer.
CREATE INDEX IF NOT EXISTS job_waiting_singleton_key_idx ON pgboss.job_common (name, singleton_key)
WHERE state < 'active';
