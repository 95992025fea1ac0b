import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'

const StandingShape = Type.Object({
  token_id: Type.String(),
  revoked_at: Nullable(Type.Number()),
  expires_at: Nullable(Type.Number()),
  workspace_ids: Type.Array(Type.String()),
})

/** Whether a token still counts, and what its user can see now; times in Unix milliseconds. */
export type TokenStanding = Static<typeof StandingShape>

/** The standing of each of the tokens that still exists. */
export function tokenStandings(db: Queryable, tokenIds: readonly string[]): Promise<readonly TokenStanding[]> {
  return db.any(
    prepared(sql.type(row(StandingShape))`
    SELECT t.id AS token_id, t.revoked_at, t.expires_at,
      ARRAY(SELECT m.workspace_id FROM memberships m WHERE m.user_id = t.user_id ORDER BY 1) AS workspace_ids
    FROM tokens t WHERE t.id = ANY(${sql.array([...tokenIds], 'text')})`),
  )
}
