-- Finds the next due job of a queue, and jobs that have waited for longer than their retention. pg-boss's own index for
-- fetching is in the order of priority and creation, and would be read to its end.
CREATE INDEX IF NOT EXISTS job_due_idx ON pgboss.job_common (name, start_after) WHERE state < 'active' AND NOT blocked;
