-- Finished jobs in the order of the time at which they may be deleted, so that the deletion reads no job that is kept.
-- The time has no zone and is in UTC, because only then is the expression immutable.
CREATE INDEX IF NOT EXISTS job_deletion_idx ON pgboss.job_common
  (((completed_on AT TIME ZONE 'UTC') + deletion_seconds * interval '1 second')) WHERE completed_on IS NOT NULL;
