import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import type { TestService } from '../support/service.ts'
import { until } from '../support/site.ts'

const Open = row(Type.Object({ open: Type.Number() }))

/** Waits until nothing is stale, every event has its number and no requested job is open. */
export function untilDerived({ database }: Pick<TestService, 'database'>): Promise<void> {
  return until(async () => {
    const open = await database.oneFirst(sql.type(Open)`
      SELECT (SELECT count(*) FROM stale_projections) + (SELECT count(*) FROM events WHERE event_id IS NULL)
        + (SELECT count(*) FROM summary_jobs WHERE finished_at IS NULL)
        + (SELECT count(*) FROM translation_jobs WHERE finished_at IS NULL) AS open`)
    return open === 0
  })
}
