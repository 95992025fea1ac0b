-- How jobs ended, added up over all worker processes; `/metrics` shows it. buckets[n] counts the jobs that took at most
-- the n-th bound of shared/job-metrics.ts.

CREATE TABLE job_outcomes (
  queue text NOT NULL,
  outcome text NOT NULL,
  jobs bigint NOT NULL,
  seconds double precision NOT NULL,
  buckets bigint[] NOT NULL,
  PRIMARY KEY (queue, outcome)
);
