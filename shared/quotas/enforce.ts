import type { Config } from '../config.ts'
import type { Transaction } from '../database.ts'
import { Refusal } from '../errors.ts'
import { lockQuota, type QuotaScope, shareQuota, usedOf } from './queries.ts'

/** The settings that limit a workspace (decisions 8). */
export type QuotaLimits = Pick<Config, 'QUOTA_KNOWLEDGE_BASES' | 'QUOTA_DOCUMENTS' | 'QUOTA_FOLDERS'>

/**
 * Makes room for `adding` more objects of the workspace, or refuses with 409 `quota_exceeded`. Exact under any
 * concurrency, and writers wait for each other only near the limit: a writer far from it shares the quota's lock until
 * it commits; one near the limit takes the lock alone and so counts everything that was added before it.
 *
 * To be called once per quota and transaction, right before the insert: quotas are the last check (decisions 2.0).
 */
export async function enforceQuota(
  context: { tx: Transaction; config: QuotaLimits },
  request: QuotaScope & { adding: number },
): Promise<void> {
  const { tx } = context
  const { adding, ...scope } = request
  const limit = limitOf(context.config, scope)
  if (await shareQuota(tx, { ...scope, nearLimit: limit - adding * writersAtOnce })) return
  await lockQuota(tx, scope)
  const used = await usedOf(tx, scope)
  if (used + adding > limit) throw new Refusal('quota_exceeded', { details: { quota: scope.quota, limit, used } })
}

// More than the transactions that can be open in one workspace at a time: those that share the lock do not see each
// other, so there must be room for all of them.
const writersAtOnce = 256

function limitOf(config: QuotaLimits, { quota }: QuotaScope): number {
  const limits = {
    knowledge_bases: config.QUOTA_KNOWLEDGE_BASES,
    documents: config.QUOTA_DOCUMENTS,
    folders: config.QUOTA_FOLDERS,
  }
  return limits[quota]
}
