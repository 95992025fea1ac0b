/**
 * How one attempt at a job ended, as logs and metrics call it. `api/guide/jobs.md#obsolescence` tells callers the same
 * in the same words. Nothing but what the column "Written" names is ever committed.
 *
 * **Projections.** `judge` in workers/runtime/round.ts decides under the locks:
 *
 * | Outcome      | Cause                                             | Written    | What happens next                 |
 * |--------------|---------------------------------------------------|------------|-----------------------------------|
 * | `current`    | the loaded source is still the current source     | the result | nothing: the data are current     |
 * | `behind`     | the source changed; the result is newer than the  | the result | stale; the round sends another    |
 * |              | stored data, and this was the last round          |            | job                               |
 * | `obsolete`   | the source changed; the result is not newer than  | nothing    | stale; the round sends another    |
 * |              | the stored data, and this was the last round      |            | job                               |
 * | `gone`       | the document was deleted                          | nothing    | nothing                           |
 * | `over_limit` | the computation took too much time or memory      | nothing    | stale; one attempt behind all     |
 * |              |                                                   |            | other jobs, then the dead letters |
 *
 * `moved` is no outcome but the verdict that leads to another round. The verdict has four causes. The source changed
 * before the last round. The stored data have changed since the load. The first body of the document was not committed
 * yet at the load. Or a batch found the document locked or gone. Nothing is written, and the document is derived again
 * by itself. The third round ends with one of the outcomes above. When the stored data have changed even in the third
 * round, the job fails.
 *
 * `begun` is no outcome either. The result is the first part of what the stored data lack. This part is written, and
 * another job is sent for the next part.
 *
 * **Requested jobs.** `Attempt` in workers/runtime/requested-job.ts decides under the locks. An attempt whose job was
 * ended by somebody else has the outcome of that end:
 *
 * | Outcome      | Cause                                             | Written               | What happens next      |
 * |--------------|---------------------------------------------------|-----------------------|------------------------|
 * | `done`       | nothing has changed                               | result, `succeeded`   | nothing                |
 * | `obsolete`   | the source changed or went, or the result is      | `obsolete`, its cause | nothing                |
 * |              | unwanted by now                                   |                       |                        |
 * | `failed`     | the model failed for good; the requester lost the | `failed`, its code    | nothing                |
 * |              | writing role; the document is too large           |                       |                        |
 * | `gone`       | the job's row has outlived its retention          | nothing               | nothing                |
 * | `released`   | the process stops                                 | `pending`             | another process starts |
 * | `dead`       | no worker could finish the job                    | `failed`,             | nothing                |
 * |              |                                                   | `model_error`         |                        |
 *
 * **All jobs.** Sweeps and the steps of a reindex end as `done`. What can happen to any job:
 *
 * | Outcome      | Cause                                             | Written    | What happens next                 |
 * |--------------|---------------------------------------------------|------------|-----------------------------------|
 * | `failed`     | the work threw                                    | nothing    | attempts with pauses, then the    |
 * |              |                                                   |            | dead letters, then `staleSweep`   |
 * | `outage`     | the database could not be used                    | nothing    | another job, with all its         |
 * |              |                                                   |            | retries; a sweep fails            |
 * | `fenced`     | pg-boss has given the job to another attempt      | nothing    | the other attempt goes on         |
 */
export type JobOutcome =
  | ('current' | 'behind' | 'obsolete' | 'gone' | 'done')
  | ('failed' | 'over_limit' | 'outage' | 'fenced' | 'released' | 'dead')
