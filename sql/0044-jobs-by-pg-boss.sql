-- The job of pg-boss that will derive a stale projection of a document again; null when no job is on its way. A write
-- sends a job only for a row without a job.
ALTER TABLE stale_projections ADD COLUMN job_id uuid;

-- What earlier versions added to the schema of pg-boss. On a new database there is nothing of it.
DROP TRIGGER IF EXISTS job_announced ON pgboss.job_common;
DROP FUNCTION IF EXISTS pgboss.announce_job();
DROP FUNCTION IF EXISTS pgboss.announcement(text, timestamptz, int);
DROP FUNCTION IF EXISTS pgboss.mark_stale(text, text[], text[], text[], bigint[], int, boolean, boolean);
DROP FUNCTION IF EXISTS pgboss.enqueue_documents(text[], text[], text[], int[], boolean, boolean);
DROP FUNCTION IF EXISTS pgboss.complete_attempts(text, uuid[], int[], text, text[], text[], boolean[]);
DROP INDEX IF EXISTS pgboss.job_active_idx;
DROP INDEX IF EXISTS pgboss.job_due_idx;
DROP INDEX IF EXISTS pgboss.job_deletion_idx;
DROP INDEX IF EXISTS pgboss.job_waiting_key_idx;
DROP INDEX IF EXISTS pgboss.job_waiting_singleton_key_idx;
