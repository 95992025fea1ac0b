import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { retentionSweep } from '../../workers/sweeps/retention.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

t.test('what has outlived its retention is forgotten, and nothing else', async (t) => {
  const service = await startTestService(t, { AUDIT_RETENTION_DAYS: '30', IDEMPOTENCY_TTL_HOURS: '2' })
  await fill(service)
  t.match(await counts(service), { idempotency_keys: 1501, audit_log: 1501, rate_limit_windows: 1501 })
  await sweep(service)
  t.strictSame(await remaining(service), [
    'audit kept',
    'event kept',
    'key kept',
    'translation audit kept',
    'window kept',
  ])
  await sweep(service)
  t.strictSame(await remaining(service), [
    'audit kept',
    'event kept',
    'key kept',
    'translation audit kept',
    'window kept',
  ])

  async function sweep({ database }: TestService): Promise<void> {
    const { runtime, stop } = await startWorkers(t, service, [retentionSweep])
    await runtime.jobs.boss.send(queues.sweepRetention.name, {})
    await until(async () => {
      const open = await database.any(sql.unsafe`
        SELECT FROM pgboss.job WHERE name = ${queues.sweepRetention.name} AND state <> 'completed'`)
      return open.length === 0
    })
    await stop()
  }
})

t.test('sweeps run by the clock, once however many processes offer them', async (t) => {
  const service = await startTestService(t)
  for (let copy = 0; copy < 2; copy += 1) await startWorkers(t, service, [retentionSweep])
  const schedules = await service.database.any(sql.type(row(Type.Object({ name: Type.String(), cron: Type.String() })))`
    SELECT name, cron FROM pgboss.schedule`)
  t.strictSame(schedules, [{ name: 'sweep.retention', cron: '17 * * * *' }])
})

/** Inserts 1500 rows of each kind past their retention, and one row within it. */
async function fill({ database }: TestService): Promise<void> {
  await database.query(sql.unsafe`
    INSERT INTO idempotency_keys (token_id, method, path, key, fingerprint, status, completed_at)
    SELECT 'tok', 'POST', '/x', 'key ' || n, ''::bytea, 201, now() - interval '2 hours 1 minute' FROM generate_series(1, 1500) n
    UNION ALL SELECT 'tok', 'POST', '/x', 'key kept', ''::bytea, 201, now() - interval '1 hour 59 minutes'`)
  await database.query(sql.unsafe`
    INSERT INTO audit_log (request_id, token_id, user_id, method, path, is_agent, created_at)
    SELECT 'audit ' || n, 'tok', 'usr', 'POST', '/x', false, now() - interval '30 days 1 minute'
    FROM generate_series(1, 1500) n
    UNION ALL SELECT 'audit kept', 'tok', 'usr', 'POST', '/x', false, now() - interval '29 days 23 hours'`)
  await database.query(sql.unsafe`
    INSERT INTO rate_limit_windows (key, points, expire)
    SELECT 'window ' || n, 1, (extract(epoch FROM now()) * 1000)::bigint - 3700000 FROM generate_series(1, 1500) n
    UNION ALL SELECT 'window kept', 1, (extract(epoch FROM now()) * 1000)::bigint + 1000`)
  await database.query(sql.unsafe`
    WITH workspace AS (INSERT INTO workspaces (id, name) VALUES ('ws', 'ws')),
    document_set AS (
      INSERT INTO document_sets (workspace_id, id, source_document_id, source_locale, fallback_locale)
      VALUES ('ws', 'docset', 'doc', 'en', 'en'))
    INSERT INTO translation_audit
      (workspace_id, id, document_set_id, action, source_document_id, is_agent, details, created_at)
    SELECT 'ws', 'translation audit ' || n, 'docset', 'unit.reviewed', 'doc', false, '{}'::jsonb,
      now() - interval '30 days 1 minute' FROM generate_series(1, 1500) n
    UNION ALL SELECT 'ws', 'translation audit kept', 'docset', 'unit.reviewed', 'doc', false, '{}'::jsonb,
      now() - interval '29 days 23 hours'`)
  await database.query(sql.unsafe`
    INSERT INTO events (workspace_id, event_id, name, document_id, document, created_at)
    SELECT 'ws', nextval('event_id_seq'), 'document.created', document_id, '{}', now() - age
    FROM (SELECT 'event ' || n, interval '7 days 1 minute' FROM generate_series(1, 1500) n
          UNION ALL SELECT 'event kept', interval '6 days 23 hours') AS e (document_id, age)`)
}

const CountsRow = row(
  Type.Object({ idempotency_keys: Type.Number(), audit_log: Type.Number(), rate_limit_windows: Type.Number() }),
)

function counts({ database }: TestService) {
  return database.one(sql.type(CountsRow)`
    SELECT (SELECT count(*) FROM idempotency_keys) AS idempotency_keys, (SELECT count(*) FROM audit_log) AS audit_log,
      (SELECT count(*) FROM rate_limit_windows) AS rate_limit_windows`)
}

function remaining({ database }: TestService): Promise<readonly string[]> {
  return database.anyFirst(sql.type(row(Type.Object({ name: Type.String() })))`
    SELECT key AS name FROM idempotency_keys UNION ALL SELECT request_id FROM audit_log
    UNION ALL SELECT document_id FROM events
    UNION ALL SELECT key FROM rate_limit_windows UNION ALL SELECT id FROM translation_audit ORDER BY name`)
}
