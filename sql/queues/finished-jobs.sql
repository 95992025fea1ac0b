-- When finished jobs may be deleted, in the order of that time: what is kept is never read to find what is not.
-- The time is without a zone, in UTC, because only then is the expression immutable.
CREATE INDEX IF NOT EXISTS job_deletion_idx ON pgboss.job_common
  (((completed_on AT TIME ZONE 'UTC') + deletion_seconds * interval '1 second')) WHERE completed_on IS NOT NULL;
