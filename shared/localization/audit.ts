import Type, { type Static } from 'typebox'
import type { Caller } from '../auth/caller.ts'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { Client } from '../requests/client.ts'
import { Nullable, Time } from '../schema/identifiers.ts'
import { newId } from '../schema/ids.ts'
import type { SetRow } from './queries.ts'

/** An action on a set, on one of its translations, or on a unit or job of a translation. */
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

/** A user who acts, with the client that the user works with. The actor of a job is the user who requested the job. */
export type Actor = {
  user_id: string | null
  token_id: string | null
  client_name: string | null
  client_version: string | null
  is_agent: boolean
}

/** An audit record before it has an id and an actor; absent ids are stored as null. */
type AuditEntry = {
  action: AuditAction
  document_set_id: string
  source_document_id: string
  target_document_id?: string | null
  locale?: string | null
  unit_id?: string | null
  job_id?: string | null
  details?: Record<string, unknown>
}

/** Returns the caller in the shape in which the audit stores it. */
export function actorOf(caller: Caller, client: Client): Actor {
  return {
    user_id: caller.userId,
    token_id: caller.tokenId,
    client_name: client.name,
    client_version: client.version,
    is_agent: client.isAgent,
  }
}

/**
 * Records actions of one actor in the transaction of the actions. The document sets of the actions must exist. An audit
 * record refers to the row of its set and is deleted with it. So each insert takes a share of the lock on the row of
 * the set.
 */
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

const RecordShape = Type.Object({
  id: Type.String(),
  action: Type.String(),
  document_set_id: Type.String(),
  source_document_id: Type.String(),
  target_document_id: Nullable(Type.String()),
  locale: Nullable(Type.String()),
  unit_id: Nullable(Type.String()),
  job_id: Nullable(Type.String()),
  actor: Type.Object({
    user_id: Nullable(Type.String()),
    token_id: Nullable(Type.String()),
    client_name: Nullable(Type.String()),
    client_version: Nullable(Type.String()),
    is_agent: Type.Boolean(),
  }),
  details: Type.Record(Type.String(), Type.Unknown()),
  created_at: Time,
})

/** An audit record as the API returns it. */
export const TranslationAuditRecord = Type.Object(RecordShape.properties, {
  $id: 'TranslationAuditRecord',
  description: 'Kept as long as its document set, and no longer than the operator keeps audits',
})
export type TranslationAuditRecord = Static<typeof TranslationAuditRecord>

/**
 * Returns up to `limit + 1` audit records of a set, newest first; one record more than `limit` tells the caller that
 * more follow. `after` is the last record of the page before, with its time in Unix milliseconds; null for the first
 * page.
 */
export function auditPage(
  db: Queryable,
  page: { set: SetRow; after: { createdAt: number; id: string } | null; limit: number },
): Promise<readonly TranslationAuditRecord[]> {
  const { set, after, limit } = page
  const older =
    after === null
      ? sql.fragment`true`
      : sql.fragment`(created_at, id) < (to_timestamp(${after.createdAt}::float8 / 1000)::timestamptz(3), ${after.id})`
  return db.any(sql.type(row(RecordShape))`
    SELECT id, action, document_set_id, source_document_id, target_document_id, locale, unit_id, job_id,
      jsonb_build_object('user_id', user_id, 'token_id', token_id, 'client_name', client_name,
        'client_version', client_version, 'is_agent', is_agent) AS actor,
      details, created_at
    FROM translation_audit
    WHERE workspace_id = ${set.workspace_id} AND document_set_id = ${set.id} AND ${older}
    ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`)
}

/** Deletes at most `batch` audit records that are older than `days` days. Returns the number of deleted records. */
export async function deleteOldAudit(db: Queryable, limits: { days: number; batch: number }): Promise<number> {
  const { rowCount } = await db.query(sql.unsafe`
    DELETE FROM translation_audit WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM translation_audit
      WHERE created_at < now() - make_interval(days => ${limits.days}) LIMIT ${limits.batch}))`)
  return rowCount
}
