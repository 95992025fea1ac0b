-- Every write looks for the job of its document that still waits. pg-boss has no index for that where a queue has the
-- policy `singleton`, so that writes got slower with the number of jobs that wait for a worker: at 25,000 of them each
-- took 20 ms longer. Run after each installation of pg-boss's schema, of which this is no part.
CREATE INDEX IF NOT EXISTS job_waiting_singleton_key_idx ON pgboss.job_common (name, singleton_key)
WHERE state < 'active';
