-- The functions for jobs of projections. A write marks its documents as stale and enqueues their jobs by one statement.
-- A worker completes its attempts and removes their marks by one statement, too. pg-boss's own statements enqueue and
-- complete jobs of one queue at a time. test/workers/pg-boss.test.ts and test/workers/enqueue.test.ts hold the rows and
-- their behaviour against those of pg-boss.
--
-- The functions plan their statements once per connection, often while no job waits and all plans look equally cheap.
-- The settings of the functions leave the planner only the plans that stay cheap when many jobs wait. For the same
-- reason the functions look for one row at a time, by all columns of an index.

-- Finds the waiting jobs of a key. Under the policy `singleton`, pg-boss has no index for this search. With 25,000
-- waiting jobs, each write took 20 ms longer without the index. The planner would confuse an index by queue and key
-- with the primary key. The second condition keeps the planner from using the index for searches without a key.
DROP INDEX IF EXISTS pgboss.job_waiting_singleton_key_idx;
CREATE INDEX IF NOT EXISTS job_waiting_key_idx ON pgboss.job_common (singleton_key)
WHERE state < 'active' AND singleton_key IS NOT NULL;

-- Enqueues a job for each element of the arrays: its queue, its workspace, its document and its priority. The jobs are
-- those that pg-boss's `insert` makes.
--
-- `alone` says that all jobs are of one document, whose row the caller has locked. A waiting job of the document then
-- takes the place of a new job. The row of the waiting job stays locked until the commit, and SKIP LOCKED passes over
-- locked rows. So no worker claims the job before it can see the write. After a quiet moment the waiting job becomes
-- due at once, as with pg-boss's `upsert`. In a burst the waiting job keeps its time, and a new job is held back.
CREATE OR REPLACE FUNCTION pgboss.enqueue_documents(
  queues text[], workspaces text[], documents text[], priorities int[], alone boolean, quiet boolean
) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
  waiting record;
  merged text[] := '{}';
BEGIN
  IF alone THEN
    FOR waiting IN
      SELECT name, id, start_after, priority FROM pgboss.job_common
      WHERE singleton_key = documents[1] AND state < 'active' AND queues @> ARRAY[name]
      ORDER BY created_on DESC FOR UPDATE
    LOOP
      -- The newest waiting job of each queue is enough.
      CONTINUE WHEN waiting.name = ANY (merged);
      merged := merged || waiting.name;
      IF quiet THEN
        UPDATE pgboss.job_common SET
          priority = priorities[array_position(queues, waiting.name)],
          start_after = now(), keep_until = now() + (keep_until - start_after)
        WHERE name = waiting.name AND id = waiting.id;
      ELSE
        -- A worker passes over the locked row when the job is due. The notification, which is sent at the commit, tells
        -- it of the job again.
        PERFORM pg_notify('svc_jobs', pgboss.announcement(waiting.name, waiting.start_after, waiting.priority));
      END IF;
    END LOOP;
    IF merged @> queues THEN
      RETURN;
    END IF;
  END IF;
  INSERT INTO pgboss.job_common (name, data, priority, start_after, created_on, singleton_key, expire_seconds,
    deletion_seconds, keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter,
    heartbeat_seconds)
  SELECT q.name, jsonb_build_object('workspace_id', job.workspace, 'document_id', job.document), job.priority,
    due.start_after, now(), job.document, q.expire_seconds, q.deletion_seconds,
    due.start_after + q.retention_seconds * interval '1s', q.retry_limit, q.retry_delay, q.retry_backoff,
    q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds
  FROM unnest(queues, workspaces, documents, priorities) AS job (queue, workspace, document, priority)
  JOIN pgboss.queue q ON q.name = job.queue
  CROSS JOIN (
    SELECT now() + CASE WHEN alone AND NOT quiet THEN interval '0.5 s' ELSE interval '0' END AS start_after
  ) AS due
  WHERE NOT merged @> ARRAY[job.queue];
END $$;

-- Marks documents of one workspace as stale and enqueues their jobs, in the transaction of a write. Each element of the
-- arrays is one mark: a projection and its queue, a document, and the event of the write. `alone` says that the write
-- has one document. From `crowd` stale documents of a projection on, further jobs of the workspace let the jobs of
-- other workspaces go first.
CREATE OR REPLACE FUNCTION pgboss.mark_stale(
  workspace text, projections text[], queues text[], documents text[], event_row_nos bigint[], crowd int, alone boolean,
  quiet boolean
) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
  priorities int[];
BEGIN
  -- Counting stops at a crowd.
  SELECT array_agg(CASE WHEN few.waiting + few.marked > crowd THEN -1 ELSE 0 END ORDER BY mark.place) INTO priorities
  FROM unnest(projections) WITH ORDINALITY AS mark (projection, place)
  JOIN (
    SELECT p.projection, count(*) AS marked, (
      SELECT count(*) FROM (
        SELECT FROM stale_projections s
        WHERE s.workspace_id = workspace AND s.projection = p.projection LIMIT crowd) AS s) AS waiting
    FROM unnest(projections) AS p (projection) GROUP BY p.projection
  ) AS few ON few.projection = mark.projection;
  INSERT INTO stale_projections (workspace_id, projection, document_id, event_row_no)
  SELECT workspace, mark.* FROM unnest(projections, documents, event_row_nos) AS mark
  ON CONFLICT (workspace_id, projection, document_id) DO UPDATE SET event_row_no = excluded.event_row_no;
  PERFORM pgboss.enqueue_documents(
    queues, array_fill(workspace, ARRAY[cardinality(queues)]), documents, priorities, alone, quiet);
END $$;

-- Completes attempts at jobs of a queue and returns the ids of the jobs. An attempt that pg-boss has given to another
-- worker is left out. pg-boss's `deleteJob` leaves out such an attempt, too. Each completed job whose element of
-- `currents` is true takes the mark of its document along: the projection of the document is current.
CREATE OR REPLACE FUNCTION pgboss.complete_attempts(
  queue text, ids uuid[], retry_counts int[], derived text DEFAULT NULL, workspaces text[] DEFAULT '{}',
  documents text[] DEFAULT '{}', currents boolean[] DEFAULT '{}'
) RETURNS uuid[] LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
  completed uuid[] := '{}';
BEGIN
  FOR i IN 1 .. cardinality(ids) LOOP
    DELETE FROM pgboss.job_common
    WHERE name = queue AND id = ids[i] AND retry_count = retry_counts[i] AND state = 'active';
    CONTINUE WHEN NOT FOUND;
    completed := completed || ids[i];
    IF currents[i] THEN
      DELETE FROM stale_projections
      WHERE workspace_id = workspaces[i] AND projection = derived AND document_id = documents[i];
    END IF;
  END LOOP;
  RETURN completed;
END $$;
