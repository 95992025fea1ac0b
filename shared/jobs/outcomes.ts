/**
 * How one attempt at a job ended, as logs and metrics call it. `api/guide/jobs.md#obsolescence` says the same to callers.
 *
 * Jobs of projections, as `judge` of workers/runtime/round.ts decides under the locks:
 *
 * | Outcome | Cause | What is written | What happens next |
 * |---|---|---|---|
 * | `current` | the source is still the loaded source | the result; the document is no longer stale | nothing |
 * | `behind` | the source changed in the last round; the result is newer than the stored data | the result; it stays stale | the job of that write, queued already, derives again |
 * | `obsolete` | the source changed in the last round; the result is no newer than the stored data | nothing; it stays stale | the job of that write, queued already, derives again |
 * | `gone` | the document was deleted | nothing | nothing |
 * | `over_limit` | the computation took too much time or memory | nothing; it stays stale | one more attempt behind all other jobs, then the dead-letter queue |
 *
 * `moved` is no outcome but the verdict before: the loaded source is not the current source any more, the stored data
 * were written by somebody else since the load, or a batch found the document locked or gone. Nothing is written, and the
 * document is derived again by itself, in at most three rounds. When the stored data move in every round, the job fails.
 *
 * Requested jobs, as `Attempt` of workers/runtime/requested-job.ts settles them under the locks:
 *
 * | Outcome | Cause | What is written | What happens next |
 * |---|---|---|---|
 * | `done` | the result was written, or was written before by another attempt | the result; `succeeded` | nothing |
 * | `obsolete` | the source changed or was deleted, or the result is unwanted by now | `obsolete` and its reason | nothing |
 * | `failed` | the model failed for good, the requester lost the writing role, the document is too large | `failed` and its code | nothing |
 * | `gone` | the row of the job has outlived its retention | nothing | nothing |
 * | `released` | the process stops | the row is `pending` again | a new job of pg-boss starts at once elsewhere |
 * | `dead` | no worker could finish the job, so it lay in the dead-letter queue | `failed`, `model_error` | nothing |
 *
 * All jobs; a sweep and a step of a reindex end as `done`:
 *
 * | Outcome | Cause | What is written | What happens next |
 * |---|---|---|---|
 * | `failed` | the work threw | nothing | pg-boss tries again with pauses, then moves the job to the dead-letter queue; the sweep of stale projections enqueues it again, ever more seldom |
 * | `outage` | the database could not be used | nothing | the next attempt within a minute, at the cost of no retry |
 * | `fenced` | pg-boss has given the job to another attempt | nothing: the transaction rolls back | the other attempt goes on |
 */
export type JobOutcome =
  | ('current' | 'behind' | 'obsolete' | 'gone' | 'done')
  | ('failed' | 'over_limit' | 'outage' | 'fenced' | 'released' | 'dead')
