import Type from 'typebox'
import { type Queryable, sql, type Transaction } from '../database.ts'
import { row } from '../row.ts'

/** What is counted per workspace; each quota bears the name of the table that it limits. */
export type Quota = 'knowledge_bases' | 'documents' | 'folders'

/** The quota of one workspace. */
export type QuotaScope = { workspaceId: string; quota: Quota }

const UsageRow = row(Type.Object({ knowledge_bases: Type.Number(), documents: Type.Number(), folders: Type.Number() }))

/** How many of each the workspace has. */
export function usageOf(db: Queryable, workspaceId: string) {
  return db.one(sql.type(UsageRow)`
    SELECT ${count({ workspaceId, quota: 'knowledge_bases' })} AS knowledge_bases,
      ${count({ workspaceId, quota: 'documents' })} AS documents,
      ${count({ workspaceId, quota: 'folders' })} AS folders`)
}

/** How many the workspace has as far as this transaction can see. */
export function usedOf(tx: Transaction, scope: QuotaScope): Promise<number> {
  return tx.oneFirst(sql.type(row(Type.Object({ used: Type.Number() })))`SELECT ${count(scope)} AS used`)
}

/**
 * Takes the shared lock of the quota unless at least `nearLimit` are used or somebody holds the exclusive one; false
 * when it was not taken.
 */
export function shareQuota(tx: Transaction, scope: QuotaScope & { nearLimit: number }): Promise<boolean> {
  return tx.oneFirst(sql.type(row(Type.Object({ shared: Type.Boolean() })))`
    SELECT CASE WHEN ${count(scope)} < ${scope.nearLimit} THEN pg_try_advisory_xact_lock_shared(${lockKey(scope)})
      ELSE false END AS shared`)
}

/** Takes the exclusive lock of the quota, once everybody who shares it has ended. */
export async function lockQuota(tx: Transaction, scope: QuotaScope): Promise<void> {
  await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(${lockKey(scope)})`)
}

// Documents are counted already, and there can be too many to count them in every write.
const count = (scope: QuotaScope) =>
  scope.quota === 'documents'
    ? sql.fragment`(SELECT coalesce(sum(count), 0)::int8 FROM document_counts WHERE workspace_id = ${scope.workspaceId})`
    : sql.fragment`
      (SELECT count(*) FROM ${sql.identifier([scope.quota])} WHERE workspace_id = ${scope.workspaceId})`

const lockKey = (scope: QuotaScope) => sql.fragment`
  hashtextextended(${`quota:${scope.quota}:${scope.workspaceId}`}, 0)`
