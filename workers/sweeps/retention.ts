import { deleteExpiredOAuth } from '../../shared/auth/oauth/expiry.ts'
import { deleteExpiredSignIns, sessionLimits } from '../../shared/auth/sessions.ts'
import { forgetUnusedTags } from '../../shared/documents/tags.ts'
import { purgeEvents } from '../../shared/events/purge.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { deleteOld, requestedJobTables } from '../../shared/jobs/requested/queries.ts'
import { deleteOldAudit } from '../../shared/localization/audit.ts'
import { deleteExpired } from '../../shared/requests/queries.ts'
import { defineSweep } from './sweep.ts'

/** The largest number of rows that a statement deletes, so that the statement holds its locks only for a short time. */
const batch = 1000

/**
 * Deletes what has outlived its retention: stored answers of requests with an Idempotency-Key, requested jobs, audit,
 * sign-ins, grants and clients of OAuth, and events. pg-boss deletes its own jobs. Forgets spellings of tags that no
 * document has any more.
 */
export const retentionSweep = defineSweep({
  queue: queues.sweepRetention,
  cron: '17 * * * *',
  async sweep({ database, jobs, config }) {
    const {
      IDEMPOTENCY_TTL_HOURS: idempotencyHours,
      AUDIT_RETENTION_DAYS: auditDays,
      JOB_RETENTION_DAYS: days,
    } = config
    const deletions = [
      () => deleteExpired(database, { idempotencyHours, auditDays, batch }),
      ...[...requestedJobTables, 'model_answers' as const].map(
        (from) => () => deleteOld(database, { from, days, batch }),
      ),
      () => deleteOldAudit(database, { days: auditDays, batch }),
      () => deleteExpiredOAuth(database, { batch }),
      () => deleteExpiredSignIns(database, { session: sessionLimits, batch }),
      () => purgeEvents(database, { days: config.SSE_RETENTION_DAYS, batch }),
    ]
    await jobs.boss.supervise()
    let total = 0
    for (const deletion of deletions) total += await exhaust(deletion)
    return total + (await forgetUnusedTags(database))
  },
})

// Repeats a deletion until it finds less than a batch. Returns the number of deleted rows.
async function exhaust(deletion: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const deleted = await deletion()
    total += deleted
    if (deleted < batch) return total
  }
}
