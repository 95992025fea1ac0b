import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable, Time } from '../schema/identifiers.ts'
import type { SetRow } from './queries.ts'

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

/** What was done to a set, a translation, a unit or a job, by whom and through which client (decisions 2.4). */
export const TranslationAuditRecord = Type.Object(RecordShape.properties, {
  $id: 'TranslationAuditRecord',
  description: 'Kept as long as its document set, and no longer than the operator keeps audits',
})
export type TranslationAuditRecord = Static<typeof TranslationAuditRecord>

/** One page of the records of a set, newest first, with one more than the limit when there are more. */
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
