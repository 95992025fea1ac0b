-- When the next job of a queue is due, and which jobs have waited for longer than their retention. The index by which
-- pg-boss fetches is in the order of priorities and creation, and would be read to its end.
CREATE INDEX IF NOT EXISTS job_due_idx ON pgboss.job_common (name, start_after) WHERE state < 'active' AND NOT blocked;
