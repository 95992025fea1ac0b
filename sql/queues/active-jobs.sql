-- Supervision looks for running jobs whose worker is gone, and metrics count the running jobs of each queue. pg-boss
-- has no index of running jobs under every policy. Without this index, supervision and metrics read the whole table,
-- failed jobs of weeks included.
CREATE INDEX IF NOT EXISTS job_active_idx ON pgboss.job_common (name) WHERE state = 'active';
