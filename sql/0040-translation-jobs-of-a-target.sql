-- The latest jobs of a translation, which the page about its translations lists. Until now a job was found by its id
-- alone. Ended jobs are deleted after JOB_RETENTION_DAYS, so the table is small, and building the index takes a moment.
CREATE INDEX translation_jobs_target_idx ON translation_jobs (workspace_id, target_document_id, created_at DESC, id DESC);
