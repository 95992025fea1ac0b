import Type, { type Static } from 'typebox'
import { encodeTime } from 'ulid'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { mergedPage } from '../database/workspaces.ts'
import { Nullable, Time } from '../schema/identifiers.ts'
import { ulidPattern } from '../schema/ids.ts'

/** An entry of the audit log as the API returns it: api/guide/authentication.md#audit. */
export const Audit = Type.Object(
  {
    id: Type.String({ pattern: `^aud_${ulidPattern}$` }),
    action: Type.String({ description: 'the `operationId` of the write in the OpenAPI description' }),
    user_id: Type.String(),
    token_id: Type.String({ description: 'empty for a write on a page of the service, in a browser' }),
    client: Type.Object(
      { name: Nullable(Type.String()), version: Nullable(Type.String()) },
      {
        description: 'the calling program as its User-Agent describes it',
      },
    ),
    document_id: Type.Union([Type.String(), Type.Null()], {
      description: 'the document of the write, which may be deleted; null for a write that concerns no single document',
    }),
    created_at: Time,
    details: Type.Object({
      method: Type.String(),
      path: Type.String({ description: 'of the call, without its query' }),
      request_id: Type.String(),
      is_agent: Type.Boolean({ description: 'whether the User-Agent calls the program an agent' }),
    }),
  },
  { $id: 'Audit' },
)
export type Audit = Static<typeof Audit>

const AuditShape = Type.Object({
  id: Type.Number(),
  action: Type.String(),
  user_id: Type.String(),
  token_id: Type.String(),
  client_name: Nullable(Type.String()),
  client_version: Nullable(Type.String()),
  is_agent: Type.Boolean(),
  document_id: Nullable(Type.String()),
  method: Type.String(),
  path: Type.String(),
  request_id: Type.String(),
  created_at: Type.Number(),
})
const AuditRow = row(AuditShape)

/** A row of `audit_log`. */
export type AuditRow = Static<typeof AuditShape>

/** The filters of the log; `after` and `before` are Unix milliseconds, `position` the last entry of the page before. */
export type AuditFilter = {
  workspaceIds: readonly string[]
  userId?: string | undefined
  tokenId?: string | undefined
  documentId?: string | undefined
  action?: string | undefined
  after?: number | undefined
  before?: number | undefined
  position: readonly (string | number)[] | null
  limit: number
}

/** Up to `limit + 1` entries of workspaces after a position, newest first. */
export function auditPage(db: Queryable, filter: AuditFilter): Promise<readonly AuditRow[]> {
  const { workspaceIds, limit } = filter
  return db.any(sql.type(AuditRow)`
    ${mergedPage({
      workspaceIds,
      pageOf: (workspaceId) => sql.fragment`
        SELECT a.id, a.action, a.user_id, a.token_id, a.client_name, a.client_version, a.is_agent, a.document_id,
          a.method, a.path, a.request_id, a.created_at
        FROM audit_log a
        WHERE ${sql.join([sql.fragment`a.workspace_id = ${workspaceId}`, ...conditions(filter)], sql.fragment` AND `)}
        ORDER BY a.created_at DESC, a.id DESC LIMIT ${limit + 1}`,
      order: sql.fragment`page.created_at DESC, page.id DESC`,
      limit: limit + 1,
    })}`)
}

function conditions({ userId, tokenId, documentId, action, after, before, position }: AuditFilter) {
  const [createdAt, id] = position ?? []
  return [
    ...(userId === undefined ? [] : [sql.fragment`a.user_id = ${userId}`]),
    ...(tokenId === undefined ? [] : [sql.fragment`a.token_id = ${tokenId}`]),
    ...(documentId === undefined ? [] : [sql.fragment`a.document_id = ${documentId}`]),
    ...(action === undefined ? [] : [sql.fragment`a.action = ${action}`]),
    ...(after === undefined ? [] : [sql.fragment`a.created_at > ${instant(after)}`]),
    ...(before === undefined ? [] : [sql.fragment`a.created_at < ${instant(before)}`]),
    ...(createdAt === undefined
      ? []
      : [sql.fragment`(a.created_at, a.id) < (${instant(Number(createdAt))}, ${id ?? 0}::int8)`]),
  ]
}

function instant(milliseconds: number) {
  return sql.fragment`to_timestamp(${milliseconds}::float8 / 1000)::timestamptz(3)`
}

/** An entry as the API returns it. Its id is made of its time and its number, and so sorts like the entries. */
export function presentAudit(entry: AuditRow): Audit {
  const { id, client_name, client_version, is_agent, method, path, request_id, ...shown } = entry
  return {
    id: `aud_${encodeTime(entry.created_at, 10)}${encodeTime(id, 16)}`,
    action: shown.action,
    user_id: shown.user_id,
    token_id: shown.token_id,
    client: { name: client_name, version: client_version },
    document_id: shown.document_id,
    created_at: shown.created_at,
    details: { method, path, request_id, is_agent },
  }
}

/** An accepted write, as the audit log records it. */
export type AuditedWrite = {
  action: string
  requestId: string
  tokenId: string
  userId: string
  method: string
  path: string
  clientName: string | null
  clientVersion: string | null
  isAgent: boolean
  /** The documents of the write; each gets an entry of its own. Without a document there is one entry. */
  documentIds: readonly string[]
  /** The workspace of the write, or the knowledge base or folder in it, where the write has no document. */
  place: { workspaceId: string | null; knowledgeBaseId: number | null; folderId: number | null }
}

/**
 * Adds the entries of a write to the audit log. The directories say in which workspace a document, knowledge base or
 * folder is, or was before the write deleted it. The entries have the time of this statement, the last of the write, so
 * writes that wait for each other are listed in the order in which they happened.
 */
export async function insertAuditEntries(tx: Transaction, write: AuditedWrite): Promise<void> {
  const { place } = write
  const documentIds = write.documentIds.length === 0 ? [null] : [...write.documentIds]
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO audit_log (request_id, token_id, user_id, method, path, client_name, client_version, is_agent, action,
      document_id, created_at, workspace_id)
    SELECT ${write.requestId}::text, ${write.tokenId}::text, ${write.userId}::text, ${write.method}::text,
      ${write.path}::text, ${write.clientName}::text, ${write.clientVersion}::text, ${write.isAgent}::boolean,
      ${write.action}::text, concerned.id, clock_timestamp(), coalesce(
        (SELECT d.workspace_id FROM document_directory d WHERE d.id = concerned.id),
        ${place.workspaceId}::text,
        (SELECT k.workspace_id FROM knowledge_base_directory k WHERE k.id = ${place.knowledgeBaseId}::int8),
        (SELECT f.workspace_id FROM folder_directory f WHERE f.id = ${place.folderId}::int8))
    FROM unnest(${sql.array(documentIds, 'text')}) AS concerned (id)`),
  )
}
