import Type from 'typebox'
import type { Config } from '../config/config.ts'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Refusal } from '../errors/errors.ts'

/**
 * Source characters that jobs of this UTC day reserve. A job that ended without any output gives its characters back by
 * having ended so.
 */
export function translationCharactersToday(db: Queryable, workspaceId: string): Promise<number> {
  return db.oneFirst(sql.type(row(Type.Object({ used: Type.Number() })))`
    SELECT coalesce(sum(reserved_characters), 0)::float8 AS used FROM translation_jobs
    WHERE workspace_id = ${workspaceId}
      AND created_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
      AND NOT (status IN ('failed', 'obsolete') AND output_characters = 0)`)
}

/**
 * Makes room for a job of so many source characters, or refuses with 429 `translation_quota_exceeded`. Jobs of a
 * workspace are created one after the other from here on, so the limit is exact. The last check before the insert.
 */
export async function enforceTranslationQuota(
  context: { tx: Transaction; config: Pick<Config, 'TRANSLATION_DAILY_CHARACTERS'> },
  request: { workspaceId: string; characters: number },
): Promise<void> {
  const { tx } = context
  const { workspaceId, characters } = request
  const limit = context.config.TRANSLATION_DAILY_CHARACTERS
  await tx.query(sql.unsafe`
    SELECT pg_advisory_xact_lock(hashtextextended(${`quota:translation:${workspaceId}`}, 0))`)
  const used = await translationCharactersToday(tx, workspaceId)
  if (used + characters <= limit) return
  const resetsAt = nextUtcDay(Date.now())
  throw new Refusal('translation_quota_exceeded', {
    details: { limit, used, resets_at: resetsAt },
    headers: { 'Retry-After': String(Math.max(1, Math.ceil((resetsAt - Date.now()) / 1000))) },
  })
}

const dayMs = 86_400_000

/** When the daily quotas of a moment begin anew, in Unix milliseconds. */
export function nextUtcDay(now: number): number {
  return (Math.floor(now / dayMs) + 1) * dayMs
}
