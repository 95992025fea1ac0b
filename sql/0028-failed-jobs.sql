-- Requested jobs that failed are counted at each scrape of /metrics, beside many that succeeded.
CREATE INDEX summary_jobs_failed_idx ON summary_jobs (id) WHERE status = 'failed';
CREATE INDEX translation_jobs_failed_idx ON translation_jobs (id) WHERE status = 'failed';
