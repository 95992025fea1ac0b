import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { newId } from '../schema/ids.ts'

/** What can be done to a set, its translations, units and jobs (decisions 2.4). */
export type AuditAction =
  | 'set.activated'
  | 'set.deactivated'
  | 'translation.added'
  | 'translation.updated'
  | 'translation.deleted'
  | 'translation.prepared'
  | 'unit.reviewed'
  | 'job.created'
  | 'job.succeeded'
  | 'job.failed'
  | 'job.obsolete'
  | 'job.applied'

/** Who did it, and through which client; what a job does is done by who asked for it. */
export type Actor = {
  user_id: string | null
  token_id: string | null
  client_name: string | null
  client_version: string | null
  is_agent: boolean
}

/** One audit record before it has an id; absent ids are null. */
export type AuditEntry = {
  action: AuditAction
  document_set_id: string
  source_document_id: string
  target_document_id?: string | null
  locale?: string | null
  unit_id?: string | null
  job_id?: string | null
  details?: Record<string, unknown>
}

/** Records what was done, in the transaction that does it. The sets must exist; the records go with them. */
export async function recordAudit(
  tx: Transaction,
  input: { workspaceId: string; actor: Actor; entries: readonly AuditEntry[] },
): Promise<void> {
  if (input.entries.length === 0) return
  const records = input.entries.map((entry) => ({ details: {}, ...entry, ...input.actor, id: newId('aud') }))
  await tx.query(sql.unsafe`
    INSERT INTO translation_audit
      (workspace_id, id, document_set_id, action, source_document_id, target_document_id, locale, unit_id, job_id,
       user_id, token_id, client_name, client_version, is_agent, details)
    SELECT ${input.workspaceId}, r.id, r.document_set_id, r.action, r.source_document_id, r.target_document_id, r.locale,
      r.unit_id, r.job_id, r.user_id, r.token_id, r.client_name, r.client_version, r.is_agent, r.details
    FROM jsonb_to_recordset(${JSON.stringify(records)}::jsonb) AS r
      (id text, document_set_id text, action text, source_document_id text, target_document_id text, locale text,
       unit_id text, job_id text, user_id text, token_id text, client_name text, client_version text,
       is_agent boolean, details jsonb)`)
}

/** Forgets records older than `days`; at most `batch` a call. Returns how many. */
export async function deleteOldAudit(db: Queryable, limits: { days: number; batch: number }): Promise<number> {
  const { rowCount } = await db.query(sql.unsafe`
    DELETE FROM translation_audit WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM translation_audit
      WHERE created_at < now() - make_interval(days => ${limits.days}) LIMIT ${limits.batch}))`)
  return rowCount
}
