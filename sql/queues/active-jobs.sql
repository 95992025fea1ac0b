-- Supervision looks for running jobs whose worker is gone, and metrics count the running jobs of each queue. No index
-- of pg-boss leads to them under every policy, so both read the whole table, which holds failed jobs for weeks.
CREATE INDEX IF NOT EXISTS job_active_idx ON pgboss.job_common (name) WHERE state = 'active';
