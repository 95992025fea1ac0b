import { queues } from '../../shared/queues.ts'
import { deleteExpired } from '../../shared/requests/queries.ts'
import { defineSweep } from './define.ts'

/** Forgets what has outlived its retention, in batches that never hold locks for long (decisions B, retention sweeps). */
export const retentionSweep = defineSweep({
  queue: queues.sweepRetention,
  cron: '17 * * * *',
  async sweep({ database, config }) {
    const limits = {
      idempotencyHours: config.IDEMPOTENCY_TTL_HOURS,
      auditDays: config.AUDIT_RETENTION_DAYS,
      batch: 1000,
    }
    let total = 0
    for (;;) {
      const deleted = await deleteExpired(database, limits)
      total += deleted
      if (deleted < limits.batch) return total
    }
  },
})
