import Type, { type Static } from 'typebox'
import { Role } from '../auth/schema.ts'
import { sessionLimits } from '../auth/sessions.ts'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'

/** A user who has a document open, by a token or by a browser session. */
export type EditorKey = {
  userId: string
  workspaceId: string
  documentId: string
  /** The id of the token, or null where a session counts. */
  tokenId: string | null
  /** The hash of the session in hexadecimal digits, or null where a token counts. */
  sessionHash: string | null
}

const StandingShape = Type.Object({
  /** Whether the token is neither revoked nor expired, or the session has not ended. */
  admitted: Type.Boolean(),
  /** Whether the scopes of the token allow reading documents; a session has no scopes and allows everything. */
  may_read: Type.Boolean(),
  may_write: Type.Boolean(),
  /** The role of the user in the workspace; null without a membership, or when the document is no longer there. */
  role: Nullable(Role),
})
const StandingRow = row(StandingShape)

/** The present rights of an editor. */
export type EditorStanding = Static<typeof StandingShape>

/** The present rights of each of the editors, in their order, by one statement. */
export function editorStandings(db: Queryable, editors: readonly EditorKey[]): Promise<readonly EditorStanding[]> {
  const column = (read: (editor: EditorKey) => string | null) => sql.array(editors.map(read), 'text')
  return db.any(
    prepared(sql.type(StandingRow)`
    SELECT t.id IS NOT NULL OR s.id_hash IS NOT NULL AS admitted, m.role,
      coalesce('documents:read' = ANY(t.scopes), true) AS may_read,
      coalesce('documents:write' = ANY(t.scopes), true) AS may_write
    FROM unnest(
      ${column(({ userId }) => userId)}, ${column(({ workspaceId }) => workspaceId)},
      ${column(({ documentId }) => documentId)}, ${column(({ tokenId }) => tokenId)},
      ${column(({ sessionHash }) => sessionHash)}
    ) WITH ORDINALITY AS e (user_id, workspace_id, document_id, token_id, session_hash, position)
    LEFT JOIN tokens t ON t.id = e.token_id AND t.user_id = e.user_id AND t.revoked_at IS NULL
      AND (t.expires_at IS NULL OR t.expires_at > now())
    LEFT JOIN sessions s ON s.id_hash = decode(e.session_hash, 'hex') AND s.user_id = e.user_id
      AND s.created_at > now() - make_interval(days => ${sessionLimits.days})
      AND s.last_seen_at > now() - make_interval(hours => ${sessionLimits.idleHours})
    LEFT JOIN documents d ON d.workspace_id = e.workspace_id AND d.id = e.document_id
    LEFT JOIN memberships m ON m.workspace_id = d.workspace_id AND m.user_id = e.user_id
    ORDER BY e.position`),
  )
}
