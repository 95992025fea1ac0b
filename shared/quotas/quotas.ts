import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { lockQuota, type QuotaScope, shareQuota, usedOf } from './queries.ts'

/** The settings that limit the objects of a workspace. */
export type QuotaLimits = Pick<Config, 'QUOTA_KNOWLEDGE_BASES' | 'QUOTA_DOCUMENTS' | 'QUOTA_FOLDERS'>

/** A quota of a workspace with the setting that limits it, and how much is to be added at once. */
export type QuotaRequest = QuotaScope & {
  limit: number
  adding: number
  /** The most that any other writer adds at once, if that may be more than `adding`. */
  largest?: number
}

/** Makes room for `adding` more objects of the workspace as `makeRoom` does, under the limit of the settings. */
export async function enforceQuota(
  context: { tx: Transaction; config: QuotaLimits },
  request: Omit<QuotaRequest, 'limit' | 'largest'> & { quota: keyof typeof limitSettings },
): Promise<void> {
  await makeRoom(context.tx, { ...request, limit: context.config[limitSettings[request.quota]] })
}

const limitSettings = {
  knowledge_bases: 'QUOTA_KNOWLEDGE_BASES',
  documents: 'QUOTA_DOCUMENTS',
  folders: 'QUOTA_FOLDERS',
} as const

/**
 * Makes room for `adding` more in the workspace, or refuses with 409 `quota_exceeded`. Exact under any
 * concurrency, and writers wait for each other only near the limit: a writer far from it shares the quota's lock until
 * it commits; one near the limit takes the lock alone and so counts everything that was added before it.
 *
 * To be called once per quota and transaction, right before the insert: quotas are the last check (decisions 2.0).
 */
export async function makeRoom(tx: Transaction, request: QuotaRequest): Promise<void> {
  const { adding, limit, largest = adding, ...scope } = request
  if (await shareQuota(tx, { ...scope, nearLimit: limit - largest * writersAtOnce })) return
  await lockQuota(tx, scope)
  const used = await usedOf(tx, scope)
  if (used + adding > limit) throw new Refusal('quota_exceeded', { details: { quota: scope.quota, limit, used } })
}

// More than the transactions that can be open in one workspace at a time: those that share the lock do not see each
// other, so there must be room for all of them.
const writersAtOnce = 256
