-- Announces every job that a worker may claim now or later, so that no worker has to poll. The payload has three words:
-- the queue, in how many milliseconds the job is due, and `large` or `small`. Jobs of large documents have priorities
-- of -10 and below (workers/runtime/job-queries.ts). pg-boss itself announces neither delayed jobs nor retries, nor the
-- jobs that it moves to a dead-letter queue.
CREATE OR REPLACE FUNCTION pgboss.announce_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Rounded up to 50 ms, since PostgreSQL sends equal announcements of a transaction once.
  PERFORM pg_notify('svc_jobs',
    NEW.name || ' ' || greatest(0, ceil(extract(epoch FROM NEW.start_after - clock_timestamp()) * 20) * 50)::bigint
    || CASE WHEN NEW.priority <= -10 THEN ' large' ELSE ' small' END);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER job_announced AFTER INSERT OR UPDATE ON pgboss.job_common
FOR EACH ROW WHEN (NEW.state < 'active' AND NOT NEW.blocked) EXECUTE FUNCTION pgboss.announce_job();
