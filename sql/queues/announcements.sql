-- Announces every job that a worker may claim now or later, so that no worker has to poll. The payload has three words:
-- the queue, in how many milliseconds the job is due, and `large` or `small`. Jobs of large documents have priorities
-- of -10 and below (workers/runtime/job-queries.ts). pg-boss itself announces neither delayed jobs nor retries, nor the
-- jobs that it moves to a dead-letter queue.
CREATE OR REPLACE FUNCTION pgboss.announcement(name text, start_after timestamptz, priority int) RETURNS text
LANGUAGE sql STABLE AS $$
  -- The time is rounded up to 50 ms, so that many announcements of a transaction are equal. PostgreSQL sends equal
  -- announcements once.
  SELECT name || ' ' || greatest(0, ceil(extract(epoch FROM start_after - statement_timestamp()) * 20) * 50)::bigint
    || CASE WHEN priority <= -10 THEN ' large' ELSE ' small' END
$$;

CREATE OR REPLACE FUNCTION pgboss.announce_job() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- An assignment costs a third of what PERFORM costs.
  nothing text;
BEGIN
  nothing := pg_notify('svc_jobs', pgboss.announcement(NEW.name, NEW.start_after, NEW.priority));
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER job_announced AFTER INSERT OR UPDATE ON pgboss.job_common
FOR EACH ROW WHEN (NEW.state < 'active' AND NOT NEW.blocked) EXECUTE FUNCTION pgboss.announce_job();
