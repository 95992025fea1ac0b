import Type from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'

/** What is counted per workspace: objects, under the name of their table, or the bytes of all attachments together. */
export type Quota = 'knowledge_bases' | 'documents' | 'folders' | 'attachment_bytes'

/** The quota of one workspace. */
export type QuotaScope = { workspaceId: string; quota: Quota }

const UsageRow = row(
  Type.Object({
    knowledge_bases: Type.Number(),
    documents: Type.Number(),
    folders: Type.Number(),
    attachment_bytes: Type.Number(),
  }),
)

/** How many of each the workspace has. */
export function usageOf(db: Queryable, workspaceId: string) {
  return db.one(sql.type(UsageRow)`
    SELECT ${count({ workspaceId, quota: 'knowledge_bases' })} AS knowledge_bases,
      ${count({ workspaceId, quota: 'documents' })} AS documents,
      ${count({ workspaceId, quota: 'folders' })} AS folders,
      ${count({ workspaceId, quota: 'attachment_bytes' })} AS attachment_bytes`)
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

// Documents and bytes are counted already, and there can be too many rows to count them in every write.
const count = ({ workspaceId, quota }: QuotaScope) => {
  if (quota === 'documents') {
    return sql.fragment`(SELECT coalesce(sum(count), 0)::int8 FROM document_counts WHERE workspace_id = ${workspaceId})`
  }
  if (quota === 'attachment_bytes') {
    return sql.fragment`(SELECT coalesce(sum(bytes), 0)::int8 FROM attachment_bytes WHERE workspace_id = ${workspaceId})`
  }
  return sql.fragment`(SELECT count(*) FROM ${sql.identifier([quota])} WHERE workspace_id = ${workspaceId})`
}

const lockKey = (scope: QuotaScope) => sql.fragment`
  hashtextextended(${`quota:${scope.quota}:${scope.workspaceId}`}, 0)`
