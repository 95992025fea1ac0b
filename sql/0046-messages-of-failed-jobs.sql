-- Why a job has failed, in more words than its code has; null when there are none.
ALTER TABLE summary_jobs ADD COLUMN IF NOT EXISTS error_message text;
ALTER TABLE translation_jobs ADD COLUMN IF NOT EXISTS error_message text;
