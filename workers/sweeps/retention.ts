import { deleteExpiredSignIns, sessionLimits } from '../../shared/auth/sessions.ts'
import { purgeEvents } from '../../shared/events/purge.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { deleteEndedJobs, deleteOldAnswers } from '../../shared/jobs/requested/queries.ts'
import { requestedJobTables } from '../../shared/jobs/requested/tables.ts'
import { deleteOldAudit } from '../../shared/localization/audit.ts'
import { deleteExpired } from '../../shared/requests/queries.ts'
import { deleteFinishedJobs, deleteForgottenJobs } from '../runtime/job-queries.ts'
import { defineSweep } from './sweep.ts'

/** Forgets what has outlived its retention, in batches that never hold locks for long (decisions B, retention sweeps). */
export const retentionSweep = defineSweep({
  queue: queues.sweepRetention,
  cron: '17 * * * *',
  async sweep({ database, config }) {
    const {
      IDEMPOTENCY_TTL_HOURS: idempotencyHours,
      AUDIT_RETENTION_DAYS: auditDays,
      JOB_RETENTION_DAYS: days,
    } = config
    const deletions = [
      () => deleteExpired(database, { idempotencyHours, auditDays, batch }),
      ...requestedJobTables.map((table) => () => deleteEndedJobs(database, { table, days, batch })),
      () => deleteOldAudit(database, { days: auditDays, batch }),
      () => deleteOldAnswers(database, { days, batch }),
      () => deleteExpiredSignIns(database, { session: sessionLimits, batch }),
      () => deleteFinishedJobs(database, { batch }),
      () => deleteForgottenJobs(database, { batch }),
      () => purgeEvents(database, { days: config.SSE_RETENTION_DAYS, batch }),
    ]
    let total = 0
    for (const deletion of deletions) total += await exhaust(deletion)
    return total
  },
})

const batch = 1000

async function exhaust(deletion: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const deleted = await deletion()
    total += deleted
    if (deleted < batch) return total
  }
}
