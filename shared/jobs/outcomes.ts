/**
 * How one attempt at a job ended, as logs and metrics call it. `api/guide/jobs.md#obsolescence` tells callers the same
 * in the same words. Nothing but what the column "Written" names is ever committed.
 *
 * **Projections.** `judge` in workers/runtime/round.ts decides under the locks:
 *
 * | Outcome    | Cause                                                     | Written    | What happens next          |
 * |------------|-----------------------------------------------------------|------------|----------------------------|
 * | `current`  | the loaded source is still the current source             | the result | nothing                    |
 * | `behind`   | the source changed in the last round, and the result is   | the result | stale; another job follows |
 * |            | newer than the stored data; or it is only their next part |            |                            |
 * | `obsolete` | the source changed in the last round, and the result is   | nothing    | stale; another job follows |
 * |            | not newer than the stored data                            |            |                            |
 * | `gone`     | the document was deleted                                  | nothing    | nothing                    |
 *
 * The verdict `moved` is no outcome: the document is derived again by itself. The source changed before the last round,
 * or the stored data changed since the load, or the first body was not committed yet at the load, or a batch found the
 * document locked or gone. When the stored data have changed even in the third round, the job fails.
 *
 * **Requested jobs.** `settle` in workers/runtime/requested-job.ts decides under the locks. An attempt whose job was
 * ended by somebody else has the outcome of that end:
 *
 * | Outcome    | Cause                                                  | Written               | What happens next |
 * |------------|--------------------------------------------------------|-----------------------|-------------------|
 * | `done`     | nothing has changed                                    | result, `succeeded`   | nothing           |
 * | `obsolete` | the source changed or went, or the result is unwanted  | `obsolete`, its cause | nothing           |
 * | `failed`   | the model failed for good, the requester may not write | `failed`, its code    | nothing           |
 * |            | any more, or the document is too large                 |                       |                   |
 * | `gone`     | the job's row has outlived its retention               | nothing               | nothing           |
 * | `released` | the process stops                                      | `pending`             | another attempt   |
 * | `dead`     | no worker could finish the job                         | `failed`              | nothing           |
 *
 * **All jobs.** Sweeps and the steps of a reindex end as `done`. What can happen to any job, with nothing written:
 *
 * | Outcome      | Cause                                        | What happens next                               |
 * |--------------|----------------------------------------------|-------------------------------------------------|
 * | `failed`     | the work threw                               | retries, the dead letters, then `staleSweep`    |
 * | `over_limit` | a computation took too much time or memory   | the dead letters, then `staleSweep`             |
 * | `outage`     | the database could not be used               | another job with all its retries; a sweep fails |
 * | `fenced`     | pg-boss has given the job to another attempt | the other attempt goes on                       |
 */
export type JobOutcome =
  | ('current' | 'behind' | 'obsolete' | 'gone' | 'done')
  | ('failed' | 'over_limit' | 'outage' | 'fenced' | 'released' | 'dead')
