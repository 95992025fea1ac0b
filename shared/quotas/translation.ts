import Type from 'typebox'
import type { Config } from '../config/config.ts'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Refusal } from '../errors/errors.ts'

const dayMs = 86_400_000

/**
 * The source characters that the translation jobs of this UTC day reserve. A job that failed or became obsolete without
 * any output reserves no characters.
 */
export function translationCharactersToday(db: Queryable, workspaceId: string): Promise<number> {
  return db.oneFirst(sql.type(row(Type.Object({ used: Type.Number() })))`
    SELECT coalesce(sum(reserved_characters), 0)::float8 AS used FROM translation_jobs
    WHERE workspace_id = ${workspaceId}
      AND created_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
      AND NOT (status IN ('failed', 'obsolete') AND output_characters = 0)`)
}

/**
 * Makes room for a job of `characters` source characters, or refuses with 429 `translation_quota_exceeded`. Call it
 * right before the insert: the lock that it takes lets a workspace create one job at a time, so that the limit is
 * exact.
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

/** The start of the next UTC day after `now`, when daily quotas begin anew; both in Unix milliseconds. */
export function nextUtcDay(now: number): number {
  return (Math.floor(now / dayMs) + 1) * dayMs
}
