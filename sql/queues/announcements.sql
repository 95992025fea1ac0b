-- Tells workers of every job that they may take, now or later, so that nobody has to look for jobs again and again. The
-- payload is the queue, in how many milliseconds the job is due, counted from the moment of the statement, and whether
-- the job is of a large document: those have priorities of -10 and below (workers/runtime/job-queries.ts). pg-boss itself
-- announces neither delayed jobs nor retries, nor what it moves to a dead-letter queue.
CREATE OR REPLACE FUNCTION pgboss.announce_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Rounded up to 50 ms: equal announcements of one transaction are sent once.
  PERFORM pg_notify('svc_jobs',
    NEW.name || ' ' || greatest(0, ceil(extract(epoch FROM NEW.start_after - clock_timestamp()) * 20) * 50)::bigint
    || CASE WHEN NEW.priority <= -10 THEN ' large' ELSE ' small' END);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER job_announced AFTER INSERT OR UPDATE ON pgboss.job_common
FOR EACH ROW WHEN (NEW.state < 'active' AND NOT NEW.blocked) EXECUTE FUNCTION pgboss.announce_job();
