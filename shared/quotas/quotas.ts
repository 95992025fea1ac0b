import Type from 'typebox'
import type { Config } from '../config/config.ts'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Refusal } from '../errors/errors.ts'
import type { WorkspaceQuota } from './schema.ts'
import { nextUtcDay, translationCharactersToday } from './translation.ts'

/** A quantity that is limited in each workspace: rows of the table of that name, or the bytes of all attachments. */
type Quota = 'knowledge_bases' | 'documents' | 'folders' | 'attachment_bytes'

/** The quota of one workspace. */
type QuotaScope = { workspaceId: string; quota: Quota }

/** The settings that limit the objects of a workspace. */
export type QuotaLimits = Pick<Config, 'QUOTA_KNOWLEDGE_BASES' | 'QUOTA_DOCUMENTS' | 'QUOTA_FOLDERS'>

/** A quota of a workspace, its limit, and how much is added at once. */
type QuotaRequest = QuotaScope & {
  limit: number
  adding: number
  /** The most that any other writer adds at once, if that may be more than `adding`. */
  largest?: number
  /** Whether this transaction has stored the objects already. By default they are stored afterwards. */
  stored?: boolean
}

const limitSettings = {
  knowledge_bases: 'QUOTA_KNOWLEDGE_BASES',
  documents: 'QUOTA_DOCUMENTS',
  folders: 'QUOTA_FOLDERS',
} as const

// A number of writers that never work in one workspace at a time. Writers that share the lock of a quota do not see
// each other's rows. So they share it only while the additions of this many writers fit below the limit.
const writersAtOnce = 256

const UsageRow = row(
  Type.Object({
    knowledge_bases: Type.Number(),
    documents: Type.Number(),
    folders: Type.Number(),
    attachment_bytes: Type.Number(),
  }),
)

const SharedRow = row(Type.Object({ shared: Type.Boolean() }))
const UsedRow = row(Type.Object({ used: Type.Number() }))

/**
 * Makes room for `adding` more objects of the workspace, or refuses with 409 `quota_exceeded`. The settings give the
 * limit. Call it once per quota and transaction, right before the insert, because quotas are the last check of a
 * request.
 */
export async function enforceQuota(
  context: { tx: Transaction; config: QuotaLimits },
  request: Omit<QuotaRequest, 'limit' | 'largest'> & { quota: keyof typeof limitSettings },
): Promise<void> {
  await makeRoom(context.tx, { ...request, limit: context.config[limitSettings[request.quota]] })
}

/**
 * Makes room for `adding` more objects or bytes in the workspace, or refuses with 409 `quota_exceeded`. The limit is
 * exact, however many writers there are. A writer far from the limit shares the lock of the quota until it commits. A
 * writer near the limit takes the lock alone, so that it counts everything that was added before.
 *
 * Call it once per quota and transaction, right before the insert, because quotas are the last check of a request.
 */
export async function makeRoom(tx: Transaction, request: QuotaRequest): Promise<void> {
  const { adding, limit, largest = adding, stored = false, ...scope } = request
  if (await shareLock(tx, { ...scope, nearLimit: limit - largest * writersAtOnce })) return
  await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(${lockKey(scope)})`)
  refuseOver(request, (await usedOf(tx, scope)) - (stored ? adding : 0))
}

/**
 * Refuses with 409 `quota_exceeded` when there is no room by now, without a lock. So a transaction does not begin much
 * work in vain. `makeRoom` still has to be called at its end.
 */
export async function expectRoom(
  tx: Transaction,
  request: QuotaScope & Pick<QuotaRequest, 'limit' | 'adding'>,
): Promise<void> {
  const { limit, adding, ...scope } = request
  refuseOver(request, await usedOf(tx, scope))
}

function refuseOver({ quota, limit, adding }: Pick<QuotaRequest, 'quota' | 'limit' | 'adding'>, used: number): void {
  if (used + adding > limit) throw new Refusal('quota_exceeded', { details: { quota, limit, used } })
}

/** The limits and the usage of one workspace, as the API returns them. */
export async function workspaceQuota(
  context: { db: Queryable; config: Config },
  workspaceId: string,
): Promise<WorkspaceQuota> {
  const { db, config } = context
  const usage = await usageOf(db, workspaceId)
  return {
    workspace_id: workspaceId,
    limits: {
      knowledge_bases: config.QUOTA_KNOWLEDGE_BASES,
      documents: config.QUOTA_DOCUMENTS,
      folders: config.QUOTA_FOLDERS,
      attachment_bytes: config.QUOTA_ATTACHMENT_BYTES,
      document_characters: config.QUOTA_DOCUMENT_CHARACTERS,
      translation_characters_per_day: config.TRANSLATION_DAILY_CHARACTERS,
    },
    usage: { ...usage, translation_characters_today: await translationCharactersToday(db, workspaceId) },
    translation_resets_at: nextUtcDay(Date.now()),
  }
}

// Takes the shared lock, unless `nearLimit` is reached or another writer has the lock alone; false when not taken.
function shareLock(tx: Transaction, scope: QuotaScope & { nearLimit: number }): Promise<boolean> {
  return tx.oneFirst(
    prepared(sql.type(SharedRow)`
    SELECT CASE WHEN ${count(scope)} < ${scope.nearLimit} THEN pg_try_advisory_xact_lock_shared(${lockKey(scope)})
      ELSE false END AS shared`),
  )
}

function usedOf(tx: Transaction, scope: QuotaScope): Promise<number> {
  return tx.oneFirst(sql.type(UsedRow)`SELECT ${count(scope)} AS used`)
}

function usageOf(db: Queryable, workspaceId: string) {
  return db.one(sql.type(UsageRow)`
    SELECT ${count({ workspaceId, quota: 'knowledge_bases' })} AS knowledge_bases,
      ${count({ workspaceId, quota: 'documents' })} AS documents,
      ${count({ workspaceId, quota: 'folders' })} AS folders,
      ${count({ workspaceId, quota: 'attachment_bytes' })} AS attachment_bytes`)
}

// Triggers keep the counts of documents and bytes, since a workspace can have too many rows to count in every write.
function count({ workspaceId, quota }: QuotaScope) {
  if (quota === 'documents') {
    return sql.fragment`(SELECT coalesce(sum(count), 0)::int8 FROM document_counts WHERE workspace_id = ${workspaceId})`
  }
  if (quota === 'attachment_bytes') {
    return sql.fragment`(SELECT coalesce(sum(bytes), 0)::int8 FROM attachment_bytes WHERE workspace_id = ${workspaceId})`
  }
  return sql.fragment`(SELECT count(*) FROM ${sql.identifier([quota])} WHERE workspace_id = ${workspaceId})`
}

function lockKey(scope: QuotaScope) {
  return sql.fragment`hashtextextended(${`quota:${scope.quota}:${scope.workspaceId}`}, 0)`
}
