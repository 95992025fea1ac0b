-- Worker processes serve the outcomes of jobs as metrics of their own.
DROP TABLE IF EXISTS job_outcomes;
